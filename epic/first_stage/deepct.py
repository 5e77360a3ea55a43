"""Passages as DeepCT publishes them: each word repeated according to its weight, as JSON lines in a folder or a zip.

The files lack passages in which no word has a weight. That is legitimate, so such passages are counted, not refused.
"""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from epic.core.files import InputError
from epic.corpus.documents import Documents
from epic.first_stage.predicted_queries import BROKEN, members

MEMBER = re.compile(r"(^|/)docs\d+\.jsonl?$")
AT_A_TIME = 10_000


def weighted_texts(documents: Documents, source) -> Iterator[tuple[str, str]]:
    """Yield (id, text) as published; refuse an id that is given twice, or is not in the collection."""
    seen: set[str] = set()
    lines = _lines(Path(source))
    while some := list(islice(lines, AT_A_TIME)):
        for where, doc_id, _ in some:
            if doc_id in seen:
                raise InputError(f"{where}: passage {doc_id} is given twice")
            seen.add(doc_id)
        if unknown := set(documents.unknown(doc_id for _, doc_id, _ in some)):
            where, doc_id = next((where, doc_id) for where, doc_id, _ in some if doc_id in unknown)
            raise InputError(f"{where}: passage {doc_id} is not in {documents.dataset}; the files belong to another collection")
        yield from ((doc_id, text) for _, doc_id, text in some)


def _lines(source: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (file and line, id, text) of all files in the order of their names."""
    with ExitStack() as stack:
        names, open_member = members(source, stack)
        found = sorted(name for name in names if MEMBER.search(name))
        if not found:
            raise InputError(f"{source}: no files named docs00.json and so on")
        for name in found:
            with open_member(name) as stream:
                try:
                    for number, line in enumerate(stream, start=1):
                        yield f"{source}: {name} line {number}", *_fields(source, name, number, line)
                except BROKEN as error:
                    raise InputError(f"{source}: {name} cannot be read ({error}); move it away and fetch it anew") from error


def _fields(source, name: str, number: int, line: str) -> tuple[str, str]:
    try:
        record = json.loads(line)
        return str(record["id"]), record["contents"]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{source}: {name} line {number}: expected id and contents, found {line[:60]!r}") from error
