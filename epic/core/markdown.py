"""Tables in Markdown."""

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MISSING = "-"


def markdown_table(frame: "pd.DataFrame", right: Collection[str] = ()) -> str:
    """Lay out a frame of texts as a Markdown table without its index; columns named in `right` stand to the right."""
    align = ["right" if name in right else "left" for name in frame.columns]
    shown = frame.astype(object).map(_cell).rename(columns=_cell)
    # Texts that look like numbers stay as they are: 0.300 is not 0.3.
    return shown.to_markdown(index=False, tablefmt="pipe", disable_numparse=True, colalign=align)


def as_text(column: "pd.Series", form: str) -> "pd.Series":
    """Format the numbers of a column, with a dash where there is none."""
    return column.astype(object).map(lambda value: MISSING if _is_missing(value) else format(value, form))


def _cell(value) -> str:
    """Keep a text in its cell: a bar or the end of a line would begin another one."""
    return MISSING if _is_missing(value) else " ".join(str(value).splitlines()).replace("|", r"\|")


def _is_missing(value) -> bool:
    return value is None or value != value  # NaN, which pandas writes for None in a column of numbers
