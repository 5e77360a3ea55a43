"""Passages as DeepCT publishes them: each word repeated according to its weight, as JSON lines in a folder or a zip.

The stage `reweigh` writes the same, a folder for each shard.

The files lack passages in which no word has a weight. That is legitimate, so such passages are counted, not refused.
"""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from epic.core.archives import reading
from epic.core.files import InputError, lines_of
from epic.core.strict_json import parse_json
from epic.corpus.documents import Documents
from epic.corpus.text_files import as_id
from epic.first_stage.predicted_queries import members

MEMBER = re.compile(r"(?:^|/)(docs[0-9]+)\.jsonl?\Z")
AT_A_TIME, LETTERS_AT_A_TIME = 10_000, 1 << 26


def sources_of(files) -> list[Path]:
    """Return what holds the texts: a published file, the folder that holds several, or the folders of all shards."""
    paths = [Path(files)] if isinstance(files, str) else list(map(Path, files))
    return paths if isinstance(files, str) or all(path.is_dir() for path in paths) else [paths[0].parent]


def weighted_texts(documents: Documents, *sources) -> Iterator[tuple[str, str]]:
    """Yield (id, text) as they are, source by source; refuse an id that is given twice, or is not in the collection."""
    seen: set[str] = set()
    for some in _batches(line for source in sources for line in _lines(Path(source))):
        for where, doc_id, _ in some:
            if doc_id in seen:
                raise InputError(f"{where}: passage {doc_id} is given twice")
            seen.add(doc_id)
        if unknown := set(documents.unknown(doc_id for _, doc_id, _ in some)):
            where, doc_id = next((where, doc_id) for where, doc_id, _ in some if doc_id in unknown)
            raise InputError(f"{where}: passage {doc_id} is not in {documents.dataset}; the files belong to another collection")
        yield from ((doc_id, text) for _, doc_id, text in some)


def _batches(lines: Iterator[tuple[str, str, str]]) -> Iterator[list[tuple[str, str, str]]]:
    """Yield some lines at a time, fewer where they are long: all of them are held in memory."""
    some, letters = [], 0
    for line in lines:
        some.append(line)
        letters += len(line[2])
        if len(some) == AT_A_TIME or letters > LETTERS_AT_A_TIME:
            yield some
            some, letters = [], 0
    if some:
        yield some


def _lines(source: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (file and line, id, text) of all files in the order of their names."""
    with ExitStack() as stack:
        names, open_member = members(source, stack)
        found = sorted(name for name in names if MEMBER.search(name))
        if not found:
            raise InputError(f"{source}: no files named docs00.json and so on")
        if len({MEMBER.search(name)[1] for name in found}) < len(found):
            raise InputError(f"{source}: a file is there twice, in two folders; which is meant?")
        for name in found:
            with reading(source, f"{name} "), open_member(name) as stream:
                for number, line in lines_of(stream, f"{source}: {name}"):
                    yield f"{source}: {name} line {number}", *_fields(source, name, number, line)


def _fields(source, name: str, number: int, line: str) -> tuple[str, str]:
    try:
        record = parse_json(line)
        doc_id, text = as_id(record["id"]), record["contents"]
        if doc_id is None or not isinstance(text, str):
            raise TypeError("an id without blanks and a text")
        return doc_id, text
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{source}: {name} line {number}: expected id and contents, found {line[:60]!r}") from error
