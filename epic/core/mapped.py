"""Files of fixed-width rows, mapped into memory and read in any order.

A mapped file that is not in the page cache is read page by page, each when it is first touched, and the system guesses
which pages follow. Both are wrong for rows scattered over the file. So guessing is turned off, and the rows of a query are
announced together before they are touched. A platform that cannot do so reads as it always did.
"""

import mmap
import os
from pathlib import Path

import numpy as np

LOOK_AT = 6  # rows; each look is a system call


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

    def holds(self, row: int) -> bool:
        """Tell whether a byte of a row can be read without waiting for the disk; no, if the system cannot tell."""
        return self._map is None or bool(_readable_at_once(self._file.fileno(), row * self.row_bytes))


def announce(rows: np.ndarray, *files: Mapped) -> None:
    """Ask for the same rows of some files, unless they are in memory: the first file is looked at, in a few of the rows.

    Rows are always asked for if the system cannot tell (some network file systems). This takes some microseconds a row, but
    a row that must be read takes a thousand times as long there.
    """
    if len(rows) and not all(map(files[0].holds, rows[:: -(-len(rows) // LOOK_AT)].tolist())):
        for file in files:
            file.announce(rows)


def evict(*paths) -> bool:
    """Drop files, and all files of folders, from the page cache; tell whether that worked, by the largest file of each.

    Files that are mapped at that moment stay, here or in another process, and so does all of a file system in memory.
    """
    if not hasattr(os, "posix_fadvise"):
        return False
    return bool(paths) and all([_evicted(path) for path in map(Path, paths)])  # a list, so that every path is dropped


def _evicted(path: Path) -> bool:
    inside = [file for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file() and file.stat().st_size]
    files = sorted(inside, key=lambda file: file.stat().st_size)
    for file in files:
        with open(file, "rb") as stream:
            os.fsync(stream.fileno())  # pages that are not on disk yet would not be dropped
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            if file == files[-1]:
                gone = _readable_at_once(stream.fileno(), file.stat().st_size // 2) is False
                os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # looking may have fetched it
    return bool(files) and gone


def _readable_at_once(descriptor: int, offset: int) -> bool | None:
    """Tell whether a byte can be read without waiting for the disk; None if the system cannot tell."""
    try:
        return bool(os.preadv(descriptor, [bytearray(1)], offset, os.RWF_NOWAIT))
    except BlockingIOError:
        return False
    except (OSError, AttributeError):
        return None
