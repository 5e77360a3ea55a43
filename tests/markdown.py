"""Markdown for tests: the cells of a table."""

import re


def cells(table):
    """The cells of all Markdown tables in a text, as GitHub takes them apart: a bar ends a cell unless a backslash stands before."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip().replace(r"\|", "|") for cell in line] for line in lines]
