"""Retrieval by Lucene: the texts that are indexed, the index, and the runs."""
