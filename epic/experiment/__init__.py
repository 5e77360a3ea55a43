"""Experiments: read, expanded, checked and looked up. Nothing here runs a stage."""
