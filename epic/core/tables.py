"""Tables in files: tab-separated text with a header, written whole and read strictly.

Ids stay as they are written: `007` is no number, `NA` no missing value. Numbers keep every digit.
"""

import io
import warnings
from collections import defaultdict
from csv import QUOTE_NONE
from pathlib import Path
from typing import TYPE_CHECKING

from epic.core.files import InputError, replacing

if TYPE_CHECKING:
    import pandas as pd


def write_table(frame: "pd.DataFrame", path) -> None:
    """Write a frame, its index first, whole or not at all."""
    with replacing(path) as draft:
        frame.to_csv(draft, sep="\t", quoting=QUOTE_NONE, lineterminator="\n")


def read_table(path, about: str, keys: list[str], number: str | None, dtype: str) -> "pd.DataFrame":
    """Read what `write_table` wrote: `keys` are the first columns and become the index, all others are numbers of one type.

    about: the contents of such tables, and number: a column that each has, None if only some column. A damaged or empty table
    is refused.
    """
    import numpy as np
    import pandas as pd  # importing it takes half a second: only jobs that read a table pay for it

    data = Path(path).read_bytes()
    exact = {"sep": "\t", "quoting": QUOTE_NONE, "na_filter": False, "skip_blank_lines": False, "index_col": False}
    types = defaultdict(lambda: dtype, dict.fromkeys(keys, "str"))
    try:
        if not data.endswith(b"\n"):
            raise ValueError("the last line is cut off")
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # of lines that are longer than the header
            frame = pd.read_csv(io.BytesIO(data), dtype=types, **exact)
        if list(frame.columns) != data.split(b"\n", 1)[0].decode().split("\t"):
            raise ValueError("a column has no name, or that of another")  # pandas would make one up
        numbers = list(frame.columns[len(keys) :])
        if list(frame.columns[: len(keys)]) != keys or not numbers or number not in (None, *numbers) or frame.empty:
            raise ValueError(f"it has no rows or no columns {', '.join([*keys, number or 'of numbers'])}")
        frame = frame.set_index(keys)
        if not frame.index.is_unique or not np.isfinite(frame.to_numpy()).all():
            raise ValueError("a row stands twice, or a value is not finite")
        if not all(
            name.isprintable() and name.strip() and " " not in name for level in keys for name in frame.index.unique(level)
        ):
            raise ValueError("a name is empty, or has blanks or control characters")
    except (ValueError, TypeError, OverflowError, pd.errors.ParserWarning) as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(f"{path}: not a table of {about} ({reason}); make it again") from error
    return frame
