"""Predicted queries as they are published, passage by passage; nothing is unpacked.

    folder or .zip       docTTTTTquery: `predicted_queries_topk_sample{SSS}.txt{CCC}-1004000`, sample by chunk, one query a line
    .jsonl, .jsonl.gz    the same on Hugging Face: {"id": ..., "predicted_queries": [...]}
    .txt, .tar.gz        doc2query: one line a passage, its queries already joined

All of them are in passage order. Ids are checked if there are any; otherwise the number of lines must be right.
"""

import gzip
import json
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines

MEMBER = re.compile(r"(?:^|/)predicted_queries_topk_sample(\d{3})\.txt(\d{3})-1004000$")
JOINED = re.compile(r"(^|/)pred[^/]*\.txt$")
BROKEN = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, UnicodeDecodeError)


class Prediction(NamedTuple):
    """The queries to append to a passage; the id is None if the file has none."""

    doc_id: str | None
    queries: str


def predictions(source, samples: int | None) -> Iterator[Prediction]:
    """Yield a prediction for each passage, with its first `samples` queries; None if they are joined already."""
    source = Path(source)
    joined = source.name.endswith((".txt", ".tar.gz", ".tgz"))
    if joined != (samples is None):
        says = "has one line a passage, so samples must be null" if joined else "has samples, so samples must be their number"
        raise InputError(f"{source}: {says}; correct predicted_queries in the experiment")
    read = _joined(source) if joined else _records(source, samples) if ".jsonl" in source.name else _sampled(source, samples)
    try:
        yield from read
    except BROKEN as error:
        raise InputError(
            f"{source}: cannot be read ({error}); is the download complete? Move it away and fetch it anew"
        ) from error


def _joined(source: Path) -> Iterator[Prediction]:
    if source.suffix == ".txt":
        with open(source, encoding="utf-8", newline="\n") as stream:
            yield from (Prediction(None, line.strip()) for line in stream)
        return
    with tarfile.open(source, "r:gz") as archive:
        for member in archive:
            if JOINED.search(member.name):
                stream = TextIOWrapper(archive.extractfile(member), encoding="utf-8", newline="\n")
                yield from (Prediction(None, line.strip()) for line in stream)
                return
    raise InputError(f"{source}: holds no file named like pred-test_topk10.txt")


def _records(source: Path, samples: int) -> Iterator[Prediction]:
    for number, line in numbered_lines(source):
        try:
            record = json.loads(line)
            doc_id, queries = str(record["id"]), record["predicted_queries"][:samples]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{source} line {number}: expected id and predicted_queries, found {line[:60]!r}") from error
        if len(queries) < samples:
            raise InputError(f"{source} line {number}: {len(queries)} predicted queries of the {samples} asked for")
        yield Prediction(doc_id, " ".join(query.strip() for query in queries))


def _sampled(source: Path, samples: int) -> Iterator[Prediction]:
    with ExitStack() as stack:
        names, open_member = members(source, stack)
        chunks: dict[int, dict[int, str]] = {}
        for name in names:
            if match := MEMBER.search(name):
                chunks.setdefault(int(match[2]), {})[int(match[1])] = name
        if not chunks:
            raise InputError(f"{source}: no files named predicted_queries_topk_sample000.txt000-1004000 and so on")
        for chunk, by_sample in sorted(chunks.items()):
            absent = [sample for sample in range(samples) if sample not in by_sample]
            if absent:
                raise InputError(f"{source}: chunk {chunk:03d} lacks sample {absent[0]:03d} of the {samples} asked for")
            yield from _aligned(source, chunk, [(by_sample[s], open_member(by_sample[s])) for s in range(samples)])


def _aligned(source, chunk: int, streams) -> Iterator[Prediction]:
    """Zip the samples of one chunk; an error names the first that is shorter or longer than the others."""
    lines = 0
    while True:
        row = [stream.readline() for _, stream in streams]
        ended = [not line for line in row]
        if all(ended):
            break
        if any(ended):
            name = streams[ended.index(True)][0]
            raise InputError(f"{source}: {name} ends after line {lines}, other samples of chunk {chunk:03d} go on")
        lines += 1
        yield Prediction(None, " ".join(line.strip() for line in row))
    for _, stream in streams:
        stream.close()


def members(source: Path, stack: ExitStack):
    """Return the names of the files in a folder or a zip, and a function that opens one as text."""
    if source.is_dir():
        return [path.name for path in source.iterdir()], lambda name: open(source / name, encoding="utf-8", newline="\n")
    if not zipfile.is_zipfile(source):
        raise InputError(f"{source}: neither a folder nor a zip; is the download complete? Move it away and fetch it anew")
    archive = stack.enter_context(zipfile.ZipFile(source))
    return archive.namelist(), lambda name: TextIOWrapper(archive.open(name), encoding="utf-8", newline="\n")
