"""Lucene indexes, built by Anserini and counted afterwards."""

import logging
import re
from pathlib import Path

from epic.core.files import read_json, replacing, size_of
from epic.first_stage.anserini import anserini, complaint
from epic.first_stage.lucene_files import COUNT, refuse_damage

log = logging.getLogger(__name__)


def index(collection, threads: int, memory_mb: int, out) -> None:
    """Index a folder of JSON lines; the index must hold as many documents as have text."""
    expected = read_json(Path(collection) / COUNT)["with_text"]
    with replacing(out) as draft:
        said = anserini(
            "index.IndexCollection",
            *("-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator"),
            *("-input", collection, "-index", draft, "-threads", threads, "-optimize"),
            memory_mb=memory_mb,
            work=size_of(collection),
        )
        log.info("%s", said)
        if complained := complaint(said):
            raise RuntimeError(f"{collection}: Anserini failed: {complained}; see the log")
        refuse_damage(draft)
        found = document_count(draft, memory_mb)
        if found != expected:
            raise RuntimeError(
                f"{collection}: {expected} documents were sent to Anserini, {found} are in the index; "
                "Anserini skips a file at its first malformed line without an error: see the log"
            )


def document_count(index, memory_mb: int = 512) -> int:
    """Return the number of documents in an index, as Lucene counts them."""
    said = anserini("index.IndexReaderUtils", "-index", index, "-stats", memory_mb=memory_mb)
    found = re.search(r"^documents:\s+(\d+)", said, re.MULTILINE)
    return int(found[1]) if found else 0
