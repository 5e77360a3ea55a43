"""Document ids of a store: the numbers from `start` on, or a table of any ids that is mapped, not loaded.

ids.bytes    ids in UTF-8, in the order of the rows, all of one width, padded with zero bytes
order.i64    the rows in the order of their ids, for binary search
"""

from pathlib import Path

import numpy as np

from epic.core.files import InputError
from epic.core.kernels import compiled

FILES = ("ids.bytes", "order.i64")


class Numbered:
    """Ids that are `start`, `start` + 1, ...: they are not stored."""

    def __init__(self, start: int, count: int):
        self.start, self.count = start, count

    def of(self, rows: slice) -> list[str]:
        """Return ids of some rows."""
        return [str(self.start + row) for row in range(self.count)[rows]]

    def rows(self, doc_ids: list[str]) -> np.ndarray:
        """Return the rows of the ids, -1 for an unknown one."""
        rows = np.full(len(doc_ids), -1, dtype=np.int64)  # (k,)
        text = "\n".join(doc_ids)
        if text.count("\n") == len(doc_ids) - 1:
            _numbers(np.frombuffer(text.encode("utf-8"), dtype=np.uint8), self.start, self.count, rows)
        else:  # no id at all, or one with a line break in it, which is no number
            rows[:] = [self.rows([doc_id])[0] if "\n" not in doc_id else -1 for doc_id in doc_ids]
        return rows


@compiled
def _numbers(text, start, count, rows):  # pragma: no cover - compiled
    """Find the rows of decimal numbers, one a line; a text of another form ("007", "-1", "x") is not the id of a row."""
    line, number, digits, good = 0, 0, 0, True
    for place in range(len(text) + 1):
        if place == len(text) or text[place] == 10:
            if good and digits and start <= number < start + count:
                rows[line] = number - start
            line, number, digits, good = line + 1, 0, 0, True
        else:
            digit = np.int64(text[place]) - 48
            good = good and 0 <= digit <= 9 and digits < 18 and not (digits == 1 and number == 0)
            number, digits = number * 10 + digit, digits + 1


class Named:
    """Ids of any kind."""

    def __init__(self, folder, count: int, width: int):
        self._folder = Path(folder)
        self._ids = np.memmap(Path(folder) / "ids.bytes", dtype=f"S{width}", mode="r", shape=(count,))  # (n,)
        self._order = np.memmap(Path(folder) / "order.i64", dtype=np.int64, mode="r", shape=(count,))  # (n,)

    def of(self, rows: slice) -> list[str]:
        """Return ids of some rows."""
        try:
            return [doc_id.decode("utf-8") for doc_id in self._ids[rows].tolist()]
        except UnicodeDecodeError as error:
            raise self._changed("ids.bytes") from error

    def rows(self, doc_ids: list[str]) -> np.ndarray:
        """Return the rows of the ids, -1 for an unknown one."""
        encoded = [doc_id.encode("utf-8") for doc_id in doc_ids]
        keys = np.array(encoded, dtype=self._ids.dtype)  # (k,), cut where longer than any id there is
        try:
            places = np.searchsorted(self._ids, keys, sorter=self._order)  # (k,)
        except (ValueError, IndexError) as error:
            raise self._changed("order.i64") from error
        rows = np.array(self._order[np.minimum(places, len(self._order) - 1)])  # (k,)
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self._ids):
            raise self._changed("order.i64")
        rows[np.array(self._ids[rows].tolist(), dtype=object) != np.array(encoded, dtype=object)] = -1
        return rows

    def _changed(self, name: str) -> InputError:
        return InputError(f"{self._folder / name}: the content has changed; make it again")


class IdWriter:
    """A writer of ids in the order of rows, which keeps none in memory; `close` writes the table if one is needed."""

    def __init__(self, folder, start: int):
        self.folder, self.start, self.count, self.width = Path(folder), start, 0, 0
        self._lines = None  # a file, once an id is not the number of its row

    def add(self, doc_ids: list[str]) -> None:
        numbers = Numbered(self.start, self.count + len(doc_ids))
        if self._lines is None and doc_ids != numbers.of(slice(self.count, self.count + len(doc_ids))):
            self._lines = open(self.folder / "ids.txt", "wb+")  # noqa: SIM115 - closed by close()
            self._write(numbers.of(slice(0, self.count)))
        if self._lines is not None:
            self._write(doc_ids)
        self.count += len(doc_ids)

    def _write(self, doc_ids: list[str]) -> None:
        for doc_id in doc_ids:
            encoded = doc_id.encode("utf-8")
            if not encoded or b"\n" in encoded or b"\0" in encoded:
                raise InputError(f"the document id {doc_id!r} is empty or holds a line break or a zero byte; it cannot be stored")
            self._lines.write(encoded + b"\n")
            self.width = max(self.width, len(encoded))

    def close(self) -> int | None:
        """Return the width of the table, or None if the ids are numbers; refuse an id given twice."""
        if self._lines is None:
            return None
        self._lines.seek(0)
        table = np.memmap(self.folder / "ids.bytes", dtype=f"S{self.width}", mode="w+", shape=(self.count,))  # (n,)
        for row, line in enumerate(self._lines):
            table[row] = line[:-1]
        self._lines.close()
        (self.folder / "ids.txt").unlink()
        order = np.argsort(table, kind="stable")  # (n,)
        for start in range(0, len(order) - 1, 1 << 20):  # a piece at a time: only the order is held in memory
            here = table[order[start : start + (1 << 20) + 1]]
            if (twice := np.flatnonzero(here[1:] == here[:-1])).size:
                raise InputError(f"the document id {here[twice[0]].decode('utf-8')} is given twice; a store holds each once")
        table.flush()
        order.astype(np.int64).tofile(self.folder / "order.i64")
        return self.width
