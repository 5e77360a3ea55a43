"""Outputs that are whole or absent, and the digests that identify inputs."""

import codecs
import glob
import gzip
import hashlib
import json
import os
import platform
import shutil
import zlib
from contextlib import contextmanager
from pathlib import Path

from epic.core.strict_json import parse_json

ROOT = Path(__file__).resolve().parents[2]  # the repository
DRAFT = ".part"  # ending of names while something is written
BLOCK = 1 << 18  # bytes of text read at a time
LONGEST_LINE = 1 << 24  # bytes; a file without line ends must not fill the memory


class InputError(ValueError):
    """An error in the input that the user can mend; the message names the file, the line and the remedy."""


@contextmanager
def replacing(path):
    """Yield a temporary name beside `path`; move it into place only when the block ends well.

    The name carries host and process, so that a job orphaned by a crash and its successor never write to one file.
    The leftovers of dead processes are removed. The bytes are on the disk before the name is: a power cut leaves no empty file.
    """
    path, draft = Path(path), _draft_of(Path(path))
    try:
        yield draft
        sync(draft)
        if draft.is_dir():
            remove(path)  # os.replace refuses a folder that is not empty
        os.replace(draft, path)
        _flush(path.parent)
    finally:
        remove(draft)


@contextmanager
def scratch(path):
    """Yield an empty folder beside `path`; it is removed afterwards, or when the next one for `path` is asked for."""
    draft = _draft_of(Path(path))
    draft.mkdir()
    try:
        yield draft
    finally:
        remove(draft)


def _draft_of(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    mine = f".{path.name}.{platform.node()}-"
    for leftover in path.parent.glob(f"{glob.escape(mine)}*{DRAFT}"):
        if not Path("/proc", leftover.name.removeprefix(mine).removesuffix(DRAFT)).exists():
            remove(leftover)
    draft = path.with_name(f"{mine}{os.getpid()}{DRAFT}")
    remove(draft)
    return draft


def remove(path: Path) -> None:
    """Remove a file or a folder; do nothing if there is neither."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path) -> None:
    """Wait until a file, or a folder with all that is in it, is on the disk."""
    path = Path(path)
    for inside in path.rglob("*") if path.is_dir() else ():
        if not inside.is_symlink():
            _flush(inside)
    _flush(path)


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(path, text: str) -> None:
    """Write `text` to `path`, whole or not at all."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_json(path, value) -> None:
    """Write `value` as readable JSON; keys keep their order, NaN is refused."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path):
    """Read a JSON file, or raise an InputError that names it."""
    try:
        return parse_json(Path(path).read_text(encoding="utf-8"), zeros=True)  # of passages that somebody else read
    except ValueError as error:
        raise InputError(f"{path}: not valid JSON ({error}); it was damaged: make it again, or copy it anew") from error


def size_of(path) -> int:
    """Return the bytes of a file or of all files in a folder; 0 if there is neither."""
    path = Path(path)
    files = [path] if path.is_file() else path.rglob("*") if path.is_dir() else []
    return sum(file.stat().st_size for file in files if file.is_file())


def sha256_of(path) -> str:
    """Return the sha256 of a file."""
    return digest_of(path, "sha256")


def digest_of(path, kind: str) -> str:
    """Return a digest of a file, read in pieces."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()


def numbered_lines(path):
    """Yield (line number, line without its newline) of a UTF-8 text file, .gz or not; refuse bad bytes, with their line."""
    with gzip.open(path) if str(path).endswith(".gz") else open(path, "rb") as stream:
        yield from lines_of(stream, path)


def lines_of(stream, name):
    """Yield the same of a binary stream; `name` is for errors. Whole blocks are checked and decoded, not line by line."""
    number, rest, first = 0, b"", True
    try:
        while block := stream.read(BLOCK):
            block, first = block.removeprefix(codecs.BOM_UTF8) if first else block, False
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                for line in _decoded(whole, name, number):
                    number += 1
                    yield number, line
            if len(rest) >= LONGEST_LINE:
                raise InputError(f"{name} line {number + 1}: more than {LONGEST_LINE - 1} bytes; it is no text, or it is damaged")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name} after line {number}: damaged gzip ({error}); compress, copy or fetch the file anew") from error
    if rest:
        yield number + 1, _decoded(rest, name, number)[0]


def _decoded(data: bytes, name, before: int) -> list[str]:
    """Return some lines as texts without line ends; an error names the line, counted from `before`."""
    zero = data.find(b"\0")
    if zero >= 0:
        line = before + data.count(b"\n", 0, zero) + 1
        raise InputError(f"{name} line {line}: a zero byte; it is no text in UTF-8, or it is damaged")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = before + data.count(b"\n", 0, error.start) + 1
        reason = f"byte {data[error.start]:#04x}: {error.reason}"
        raise InputError(f"{name} line {line}: not UTF-8 ({reason}); convert the file to UTF-8") from error
    lines = text.split("\n")
    return [line.rstrip("\r") for line in lines] if "\r" in text else lines
