"""Training: triples in, a checkpoint out."""
