"""Files of fixed-width rows, mapped into memory and read in any order.

A mapped file that is not in the page cache is read page by page, each when it is first touched, with a guess of what
follows: for rows scattered over the file both are wrong. So guessing is turned off, and the rows of a query are announced
together before they are touched; where the platform cannot do so, reading is as it always was.
"""

import mmap
import os

import numpy as np

LOOK_AT = 6  # rows; each look is a call of the system


class Mapped:
    """A file as a read-only array (n, width)."""

    def __init__(self, path, dtype, shape: tuple[int, int]):
        self.row_bytes = shape[1] * np.dtype(dtype).itemsize
        if 0 in shape:  # an empty file cannot be mapped
            self.array, self._map = np.empty(shape, dtype), None
            return
        self._file = open(path, "rb")  # noqa: SIM115 - closed with the object
        self._map = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self.array = np.frombuffer(self._map, dtype).reshape(shape)  # (n, width)
        if hasattr(mmap, "MADV_RANDOM"):
            self._map.madvise(mmap.MADV_RANDOM)

    def announce(self, rows: np.ndarray) -> None:
        """Ask for rows that are about to be read, all at once."""
        if self._map is None or not hasattr(mmap, "MADV_WILLNEED"):
            return
        starts = rows * self.row_bytes  # (k,)
        pages = starts // mmap.PAGESIZE * mmap.PAGESIZE  # (k,), where their first page begins
        for page, length in zip(pages.tolist(), (starts - pages + self.row_bytes).tolist(), strict=True):
            self._map.madvise(mmap.MADV_WILLNEED, page, length)

    def in_memory(self, rows: np.ndarray) -> bool:
        """Whether a byte of each row can be read without waiting for the disk; no, where that cannot be found out."""
        if self._map is None or not hasattr(os, "RWF_NOWAIT"):
            return self._map is None
        byte = [bytearray(1)]
        try:
            return all(os.preadv(self._file.fileno(), byte, start, os.RWF_NOWAIT) for start in (rows * self.row_bytes).tolist())
        except OSError:  # it would have to wait, or the file system cannot tell
            return False


def announce(rows: np.ndarray, *files: Mapped) -> None:
    """Ask for the same rows of some files, unless they are in memory: a few of them, looked at in the first file, tell.

    Where that cannot be found out (some network file systems) they are always asked for: some microseconds a row, but a
    row that must be read takes a thousand times as long there.
    """
    if len(rows) and not files[0].in_memory(rows[:: -(-len(rows) // LOOK_AT)]):
        for file in files:
            file.announce(rows)
