"""The benchmark of `make bench`, and what it compares with."""
