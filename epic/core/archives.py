"""Archives that were downloaded: read without unpacking, and no further than a true archive goes.

A small archive can unpack to gigabytes. Texts shrink to a tenth and weights hardly at all, so one that claims to hold many
times its own size is refused before it is read.
"""

import gzip
import zipfile
from contextlib import contextmanager
from pathlib import Path

from epic.core.files import InputError

MOST = 100  # times its own size that an archive may hold
ALWAYS = 64 << 20  # bytes that any archive may hold


@contextmanager
def reading(path, what: str = ""):
    """Turn whatever a library says of a damaged or exotic file into an InputError; there are a dozen kinds of errors."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise InputError(
            f"{path}: {what}cannot be read ({said}); is the download complete? Move it away and fetch it anew"
        ) from error


def is_gzip(path) -> bool:
    """Tell whether a file begins as gzip does."""
    with open(path, "rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def limit_of(path) -> int:
    """Return the number of bytes that an archive may hold."""
    return max(ALWAYS, MOST * Path(path).stat().st_size)


def refuse_bomb(path, size: int) -> None:
    """Refuse an archive that holds, or says that it holds, more bytes than any of its size."""
    if size > limit_of(path):
        raise InputError(f"{path}: unpacks to {size} bytes or more, from {Path(path).stat().st_size}; no true archive does")


@contextmanager
def opened_zip(path):
    """Open a zip; refuse one that is encrypted, holds a member twice, or claims to hold far more than its size."""
    with reading(path):
        archive = zipfile.ZipFile(path)
    with archive:
        names = set()
        for member in archive.infolist():
            if member.flag_bits & 1:
                raise InputError(f"{path}: {member.filename!r:.80} is encrypted; fetch the archive that was published")
            if member.filename in names:
                raise InputError(f"{path}: {member.filename!r:.80} is there twice; fetch the archive that was published")
            names.add(member.filename)
        refuse_bomb(path, sum(member.file_size for member in archive.infolist()))
        yield archive


@contextmanager
def unpacked(path):
    """Open a file, decompressed if it is gzip, that can be read only as far as a true archive of its size goes."""
    with gzip.open(path) if is_gzip(path) else open(path, "rb") as stream:
        yield _Bounded(stream, path)


class _Bounded:
    """A binary stream with an end: reading or seeking beyond it is refused."""

    def __init__(self, stream, path):
        self._stream, self._path, self._most = stream, path, limit_of(path)

    def read(self, size: int = -1) -> bytes:
        """Read; never more than is left to the limit, and a byte that shows that there is more."""
        left = self._most - self._stream.tell() + 1
        data = self._stream.read(left if size < 0 else min(size, left))
        refuse_bomb(self._path, self._stream.tell())
        return data

    def seek(self, place: int, whence: int = 0) -> int:
        """Seek to a place before the limit."""
        if whence == 0:
            refuse_bomb(self._path, place)
        return self._stream.seek(place, whence)

    def tell(self) -> int:
        """Return the place."""
        return self._stream.tell()
