"""Markdown for tests: the cells of a table, and what a reader of a page sees."""

import html
import re
from html.parser import HTMLParser

ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")  # a backslash before punctuation


def cells(table):
    """The cells of all Markdown tables in a text, as GitHub takes them apart: a bar ends a cell unless a backslash stands before."""
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("|")]
    return [[html.unescape(ESCAPED.sub(r"\1", cell.strip())) for cell in line] for line in lines]


class Page(HTMLParser):
    """A Markdown page as a browser shows it: the tags of its HTML, and the texts of its cells and of all else."""

    def __init__(self, markdown):
        from markdown_it import MarkdownIt

        super().__init__()
        self.tags, self.cells, self.text, self._in_cell = [], [], "", False
        self.html = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown)
        self.feed(self.html)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")
            self._in_cell = True

    def handle_endtag(self, tag):
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        self.text += data
        if self._in_cell:
            self.cells[-1] += data
