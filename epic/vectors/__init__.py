"""Vectors of passages: encoded, pruned, stored, and scored."""
