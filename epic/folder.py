"""Folders of one's own as datasets: which files they hold, and what is wrong with a line."""

from pathlib import Path
from typing import NamedTuple

from epic import ROOT
from epic.files import InputError, numbered_lines

MADE = "made:"  # a folder that a stage of the experiment makes


class Folder(NamedTuple):
    """The files of a `path:` dataset."""

    docs: Path
    queries: Path
    qrels: Path


def folder_of(dataset: str) -> Folder | None:
    """The files of a `path:` dataset; None for an ir_datasets id."""
    if not dataset.startswith("path:"):
        return None
    name, _, split = dataset.removeprefix("path:").partition("#")
    folder = resolve(name)
    middle = f".{split}" if split else ""
    return Folder(folder / "docs.tsv", folder / f"queries{middle}.tsv", folder / f"qrels{middle}.txt")


def resolve(name: str) -> Path:
    """A path as given where it is absolute, else below the working directory or, failing that, this repository."""
    candidates = [Path.cwd() / name, ROOT / name]
    for candidate in candidates:
        if candidate.exists():
            return candidate.resolve()
    raise InputError(f"path:{name}: not found; looked for {', '.join(str(path) for path in candidates)}")


def check_tsv(path: Path) -> int:
    """Count the lines of an `id TAB text` file, or name the first that is malformed or repeats an id."""
    seen = set()
    for number, line in numbered_lines(path):
        fields = line.split("\t")
        if len(fields) != 2 or not fields[0] or fields[0].split() != [fields[0]]:
            raise InputError(
                f"{path} line {number}: expected id TAB text, the id without blanks; found {len(fields)} field(s): {line[:60]!r}"
            )
        if fields[0] in seen:
            raise InputError(f"{path} line {number}: the id {fields[0]} is given twice; ids must be unique")
        seen.add(fields[0])
    if not seen:
        raise InputError(f"{path}: the file is empty; expected lines of id TAB text")
    return len(seen)


def check_qrels(path: Path) -> None:
    """Name the first malformed line of a TREC qrels file."""
    for number, line in numbered_lines(path):
        fields = line.split()
        if len(fields) != 4 or not fields[3].lstrip("-").isdigit():
            raise InputError(
                f"{path} line {number}: expected query id, 0, document id, relevance (a whole number); found {line[:60]!r}"
            )
