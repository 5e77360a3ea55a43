"""Milliseconds a query, measured one query at a time."""
