"""EPIC: encoder, equations, and the vectors of queries."""
