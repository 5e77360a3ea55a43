"""Folders of one's own as datasets: which files they hold. Any may also be compressed, with .gz at the end.

docs.tsv      or docs.jsonl        id and text of the documents
queries.tsv   or queries.jsonl     id and text of the queries; queries.SPLIT.tsv for path:FOLDER#SPLIT
qrels.txt                          judgments in TREC's four columns; qrels.SPLIT.txt
docpairs.tsv                       optional: query id, id of a relevant document, id of another; docpairs.SPLIT.tsv
"""

from pathlib import Path
from typing import NamedTuple

from epic import ROOT
from epic.files import InputError, numbered_lines

ENDINGS = {"docs": ("tsv", "jsonl"), "queries": ("tsv", "jsonl"), "qrels": ("txt",), "docpairs": ("tsv",)}

MADE = "made:"  # a folder that a stage of the experiment makes


class Folder(NamedTuple):
    """The files of a `path:` dataset; one that does not exist has the name it would have."""

    docs: Path
    queries: Path
    qrels: Path
    docpairs: Path


def folder_of(dataset: str) -> Folder | None:
    """The files of a `path:` dataset; None for an ir_datasets id."""
    if not dataset.startswith("path:"):
        return None
    name, _, split = dataset.removeprefix("path:").partition("#")
    # What lies in results/ is made by a rule: it may not exist yet, and Snakemake knows it by its relative path.
    folder = Path(name) if Path(name).parts[:1] == ("results",) else resolve(name)
    return Folder(*(_only(folder, kind, split if kind != "docs" else "") for kind in Folder._fields))


def _only(folder: Path, kind: str, split: str) -> Path:
    """The one file of a kind; two, of which one would be ignored, are refused."""
    stem = f"{kind}.{split}" if split else kind
    candidates = [folder / f"{stem}.{ending}{packed}" for ending in ENDINGS[kind] for packed in ("", ".gz")]
    found = [candidate for candidate in candidates if candidate.exists()]
    if len(found) > 1:
        raise InputError(f"{folder} has {' and '.join(path.name for path in found)}; keep one of them")
    return found[0] if found else candidates[0]


def line_of(path: Path, value: str, *columns: int) -> str:
    """The first line of a file of judgments or triples with a value in one of some columns, named for an error message."""
    numbers = (number for number, line in numbered_lines(path) if value in [line.split()[column] for column in columns])
    return f"{path} line {next(numbers)}"


def resolve(name: str) -> Path:
    """A path as given where it is absolute, else below the working directory or, failing that, this repository."""
    candidates = [Path.cwd() / name, ROOT / name]
    for candidate in candidates:
        if candidate.exists():
            return candidate.resolve()
    raise InputError(f"path:{name}: not found; looked for {', '.join(str(path) for path in candidates)}")
