"""Texts and tables in Markdown. Whatever a text says, it stays a text: no markup, no HTML, no other cell."""

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from epic.core.visible import one_line

if TYPE_CHECKING:
    import pandas as pd

MISSING = "-"
# In this order: an ampersand that would begin an entity, a tag, what is markup anywhere, an underscore at the edge of a word,
# a bullet, a rule or a quotation, a number of a list.
_ESCAPES = [
    (re.compile(r"&(?=[A-Za-z#])"), "&amp;"),
    (re.compile(r"<(?! |$)"), "&lt;"),
    (re.compile(r"([\\`*\[\]~$#])"), r"\\\1"),
    (re.compile(r"(?<![^\W_])_|_(?![^\W_])"), r"\\_"),
    (re.compile(r"^(?=[-+] |---|>)"), r"\\"),
    (re.compile(r"^(\d{1,9})(?=[.)]( |$))"), r"\1\\"),
]


def plain(text: str) -> str:
    """Escape a text, on one line: a reader of the page sees its characters and nothing else."""
    found = one_line(text)
    for pattern, escaped in _ESCAPES:
        found = pattern.sub(escaped, found)
    return found


def code(text: str) -> str:
    """Mark a text as code; escape one that would not fit between backticks, or not into a cell."""
    found = one_line(text)
    return plain(text) if not found or set(found) & set("`|\\") else f"`{found}`"


def cell(marked: str) -> str:
    """Keep Markdown in its cell: a bar would begin another one."""
    return marked.replace("|", r"\|")


def markdown_table(frame: "pd.DataFrame", right: Collection[str] = (), marked: Collection[str] = ()) -> str:
    """Lay out a frame of texts as a Markdown table without its index.

    Columns named in `right` stand to the right; cells of those in `marked` are Markdown already, all others are escaped.
    """
    align = ["right" if name in right else "left" for name in frame.columns]
    cells = frame.astype(object)
    shown = cells.apply(lambda column: column.map(cell if column.name in marked else _escaped)).rename(columns=_escaped)
    # Texts that look like numbers stay as they are: 0.300 is not 0.3.
    return shown.to_markdown(index=False, tablefmt="pipe", disable_numparse=True, colalign=align)


def as_text(column: "pd.Series", form: str) -> "pd.Series":
    """Format the numbers of a column, with a dash where there is none."""
    return column.astype(object).map(lambda value: MISSING if _is_missing(value) else format(value, form))


def _escaped(value) -> str:
    return MISSING if _is_missing(value) else cell(plain(str(value)))


def _is_missing(value) -> bool:
    return value is None or value != value  # NaN, which pandas writes for None in a column of numbers
