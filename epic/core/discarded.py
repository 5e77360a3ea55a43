"""Folders whose vectors were removed after use: the small files stay, with their seal, and a mark says how to get the rest again.

Whoever asks for the vectors is refused with that command. Nothing is damaged: the seal is one of what stayed.
"""

import os
from pathlib import Path

from epic.core import seals
from epic.core.files import InputError, read_json, write_json

MARK = "discarded.json"  # of a folder: bytes of each file that was removed, and the command that makes them again
VECTORS = (".u16", ".f16", ".u64")  # endings of what is removed: arrays of rows, and the checksums of rows


def discard(folder, again: str) -> int:
    """Remove the vectors in a folder and return their bytes; again: the command that makes them again.

    In this order, so that a job killed in between leaves nothing that looks damaged: the mark, the seal of what stays, the files.
    """
    folder = Path(folder)
    files = sorted(path for path in folder.rglob("*") if path.suffix in VECTORS)
    sizes = _removed(folder) | {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    write_json(folder / MARK, {"again": again, "files": sizes})
    seals.seal_without(folder, sizes, MARK)
    for path in files:
        os.unlink(path)
    return sum(sizes.values())


def was_discarded(folder) -> bool:
    """Tell whether the vectors of a folder were removed after use."""
    return (Path(folder) / MARK).exists()


def refuse_discarded(folder) -> None:
    """Refuse a folder whose vectors were removed after use."""
    if was_discarded(folder):
        raise InputError(f"{folder}: its vectors were removed after use; make them again: {again_of(folder)}")


def again_of(folder) -> str:
    """Return the command that makes removed vectors again."""
    return str(_mark(folder)["again"])


def size_in(folder, name: str) -> int:
    """Return the bytes of a file in a folder, also if it was removed after use."""
    return _removed(Path(folder)).get(name) or (Path(folder) / name).stat().st_size


def _removed(folder: Path) -> dict[str, int]:
    return _mark(folder)["files"] if was_discarded(folder) else {}


def _mark(folder) -> dict:
    path = Path(folder) / MARK
    found = read_json(path)
    sizes = found.get("files") if isinstance(found, dict) else None
    if not isinstance(sizes, dict) or "again" not in found or not all(type(size) is int for size in sizes.values()):
        raise InputError(f"{path}: expected what was removed, and the command that makes it again; {seals.again(folder)}")
    return found
