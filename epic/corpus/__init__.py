"""Collections, queries, judgments, runs and triples, from wherever they are published."""
