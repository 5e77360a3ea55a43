"""The user's own folders as datasets: the files they hold. Any may also be compressed, with .gz at the end.

docs.tsv      or docs.jsonl        id and text of the documents
queries.tsv   or queries.jsonl     id and text of the queries; queries.SPLIT.tsv for path:FOLDER#SPLIT
qrels.txt                          judgments in TREC's four columns; qrels.SPLIT.txt
docpairs.tsv                       optional: query id, id of a relevant document, id of another; docpairs.SPLIT.tsv
"""

import os
from pathlib import Path
from typing import NamedTuple

from epic.core.files import ROOT, InputError, numbered_lines
from epic.core.places import from_here

ENDINGS = {"docs": ("tsv", "jsonl"), "queries": ("tsv", "jsonl"), "qrels": ("txt",), "docpairs": ("tsv",)}

MADE = "made:"  # a folder that a stage of the experiment makes


class Folder(NamedTuple):
    """The files of a `path:` dataset; a file that does not exist has the name it would have."""

    docs: Path
    queries: Path
    qrels: Path
    docpairs: Path


def folder_of(dataset: str) -> Folder | None:
    """Return the files of a `path:` dataset; None for an ir_datasets id."""
    if not dataset.startswith("path:"):
        return None
    name, _, split = dataset.removeprefix("path:").partition("#")
    # A rule makes the files in results/: they may not exist yet, and Snakemake knows them by relative paths.
    folder = Path(name) if Path(name).parts[:1] == ("results",) else resolve(name)
    return Folder(*(_only(folder, kind, split if kind != "docs" else "") for kind in Folder._fields))


def _only(folder: Path, kind: str, split: str) -> Path:
    """Return the only file of a kind; refuse two, of which one would be ignored."""
    stem = f"{kind}.{split}" if split else kind
    candidates = [folder / f"{stem}.{ending}{packed}" for ending in ENDINGS[kind] for packed in ("", ".gz")]
    found = [candidate for candidate in candidates if candidate.exists()]
    if len(found) > 1:
        raise InputError(f"{folder} has {' and '.join(path.name for path in found)}; keep one of them")
    return found[0] if found else candidates[0]


def line_of(path: Path, value: str, *columns: int) -> str:
    """Name, for an error message, the first line of a file of judgments or triples that has a value in one of some columns."""
    numbers = (number for number, line in numbered_lines(path) if value in [line.split()[column] for column in columns])
    return f"{path} line {next(numbers)}"


def resolve(name: str) -> Path:
    """Find a path: as given if it is absolute or from ~, else from the working directory or, failing that, this repository.

    What lies below the working directory, or was named from it, is a relative path: it is the same after both have moved.
    """
    path = Path(os.path.expanduser(name))
    candidates = [folder / path for folder in (Path.cwd(), ROOT)]
    for candidate in candidates:
        if candidate.exists():
            return path if ".." in path.parts and candidate == candidates[0] else from_here(candidate)
    raise InputError(f"path:{name}: not found; looked for {', '.join(str(path) for path in candidates)}")


def dataset_of(name: str, experiment: str) -> str:
    """Return a dataset by a name that needs no experiment: made:STAGE is the folder that a stage of the experiment makes."""
    return f"path:results/{experiment}/{name.removeprefix(MADE)}" if name.startswith(MADE) else name


def files_of(dataset: str, *kinds: str) -> list[str]:
    """List files of a `path:` dataset; none for an ir_datasets id."""
    folder = folder_of(dataset)
    return [str(getattr(folder, kind)) for kind in kinds] if folder else []


def file_of(source: str, fetched, meant: str = "") -> str:
    """Return the file that path:FILE or download:FILE means; `fetched` says where a download lies, `meant` what it is."""
    kind, _, name = source.partition(":")
    if kind == "download":
        return fetched(name)
    try:
        return str(resolve(name))
    except InputError as error:
        raise InputError(f"{error}; {meant}") if meant else error from None
