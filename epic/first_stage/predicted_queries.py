"""Predicted queries as they are published, passage by passage; nothing is unpacked.

    folder or .zip       docTTTTTquery: `predicted_queries_topk_sample{SSS}.txt{CCC}-1004000`, sample by chunk, one query a line
    folders of shards    the same, generated here (epic.first_stage.generate): a chunk is a shard
    .jsonl, .jsonl.gz    the same on Hugging Face: {"id": ..., "predicted_queries": [...]}
    .txt, .tar.gz        doc2query: one line a passage, its queries already joined

All of them are in passage order. Ids are checked if there are any; otherwise the number of lines must be right.
"""

import re
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from epic.core.archives import opened_zip, reading, refuse_bomb, unpacked
from epic.core.files import LONGEST_LINE, InputError, lines_of, numbered_lines
from epic.core.strict_json import parse_json
from epic.corpus.text_files import as_id
from epic.first_stage.sample_files import MEMBER

SHARD = re.compile(r"[0-9]+-of-[0-9]+")
JOINED = re.compile(r"(^|/)pred[^/]*\.txt\Z")


class Prediction(NamedTuple):
    """The queries to append to a passage; the id is None if the file has none."""

    doc_id: str | None
    queries: str


class Shards(tuple):
    """The folders of the shards that were generated; those of another number of shards may lie beside them."""

    def __str__(self) -> str:
        return str(self[0].parent)


Source = Path | Shards


def source_of(files) -> Source | None:
    """Return the file that was published, the folder that holds several, or the shards that were generated; or None."""
    if isinstance(files, str):
        return Path(files)
    found = [Path(file) for file in files]
    if found and all(SHARD.fullmatch(path.name) and path.is_dir() for path in found):
        return Shards(found)
    return found[0].parent if found else None


def predictions(source, samples: int | None) -> Iterator[Prediction]:
    """Yield a prediction for each passage, with its first `samples` queries; None if they are joined already."""
    if isinstance(source, Shards):
        yield from _sampled(source, samples)
        return
    source = Path(source)
    joined = source.name.endswith((".txt", ".tar.gz", ".tgz"))
    if joined != (samples is None):
        says = "has one line a passage, so samples must be null" if joined else "has samples, so samples must be their number"
        raise InputError(f"{source}: {says}; correct predicted_queries in the experiment")
    read = _joined(source) if joined else _records(source, samples) if ".jsonl" in source.name else _sampled(source, samples)
    with reading(source):
        yield from read


def predicted_at(source, samples: int | None, positions: dict[str, int]) -> dict[str, str]:
    """Return the queries that were predicted for some passages; positions: passage id -> where it stands in the collection.

    They are read from what was published, up to the last passage: the collection with all of them appended takes more room than
    anything else that retrieval needs, and need not be kept.
    """
    found: dict[str, str] = {}
    wanted = {position: doc_id for doc_id, position in positions.items()}
    for place, prediction in enumerate(islice(predictions(source, samples), max(wanted) + 1 if wanted else 0)):
        if doc_id := wanted.get(place):
            found[doc_id] = prediction.queries.strip()
    if absent := [doc_id for doc_id in positions if doc_id not in found]:
        raise InputError(f"{source}: it ends before the queries that were predicted for passage {absent[0]}")
    return found


def _joined(source: Path) -> Iterator[Prediction]:
    if source.suffix == ".txt":
        yield from (Prediction(None, line.strip()) for _, line in numbered_lines(source))
        return
    with unpacked(source) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
        for member in archive:
            refuse_bomb(source, member.offset_data + member.size)
            if JOINED.search(member.name) and member.isfile():  # a link or a device has no lines of its own
                lines = lines_of(archive.extractfile(member), f"{source}: {member.name}")
                yield from (Prediction(None, line.strip()) for _, line in lines)
                return
    raise InputError(f"{source}: holds no file named like pred-test_topk10.txt")


def _records(source: Path, samples: int) -> Iterator[Prediction]:
    for number, line in numbered_lines(source):
        try:
            record = parse_json(line)
            doc_id, queries = as_id(record["id"]), record["predicted_queries"]
            if doc_id is None or not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
                raise TypeError("an id without blanks and a list of texts")
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{source} line {number}: expected id and predicted_queries, found {line[:60]!r}") from error
        if len(queries) < samples:
            raise InputError(f"{source} line {number}: {len(queries)} predicted queries of the {samples} asked for")
        yield Prediction(doc_id, " ".join(query.strip() for query in queries[:samples]))


def _sampled(source: Source, samples: int) -> Iterator[Prediction]:
    with ExitStack() as stack:
        names, open_member = members(source, stack)
        chunks: dict[int, dict[int, str]] = {}
        for name in names:
            if match := MEMBER.search(name):
                sample, chunk = int(match[1]), int(match[2])
                if sample in chunks.setdefault(chunk, {}):
                    raise InputError(f"{source}: sample {sample:03d} of chunk {chunk:03d} is there twice; which is meant?")
                chunks[chunk][sample] = name
        if not chunks:
            raise InputError(f"{source}: no files named predicted_queries_topk_sample000.txt000-1004000 and so on")
        for chunk, by_sample in sorted(chunks.items()):
            absent = [sample for sample in range(samples) if sample not in by_sample]
            if absent:
                raise InputError(f"{source}: chunk {chunk:03d} lacks sample {absent[0]:03d} of the {samples} asked for")
            yield from _aligned(source, chunk, [(by_sample[s], open_member(by_sample[s])) for s in range(samples)])


def _aligned(source, chunk: int, members_of_chunk) -> Iterator[Prediction]:
    """Zip the samples of one chunk; an error names the first that is shorter or longer than the others.

    Lines are checked together, not one by one: forty samples of MS MARCO have 350 million of them.
    """
    lines, streams = 0, [TextIOWrapper(stream, encoding="utf-8", newline="\n") for _, stream in members_of_chunk]
    while True:
        try:
            row = [stream.readline(LONGEST_LINE) for stream in streams]
        except UnicodeDecodeError as error:
            raise InputError(f"{source}: chunk {chunk:03d} is not UTF-8 after line {lines} ({error}); fetch it anew") from error
        ended = [not line for line in row]
        if all(ended):
            break
        if any(ended):
            name = members_of_chunk[ended.index(True)][0]
            raise InputError(f"{source}: {name} ends after line {lines}, other samples of chunk {chunk:03d} go on")
        lines += 1
        text = " ".join(line.strip() for line in row)
        if "\0" in text or len(text) >= LONGEST_LINE:
            raise InputError(f"{source}: line {lines} of chunk {chunk:03d} has zero bytes or no end; it is no text, or damaged")
        yield Prediction(None, text)
    for stream in streams:
        stream.close()


def members(source: Source, stack: ExitStack):
    """Return the names of the files in a folder, in shards or a zip, and a function that opens one as bytes."""
    if isinstance(source, Shards):
        return [str(path) for shard in source for path in sorted(shard.iterdir())], lambda name: open(name, "rb")
    if source.is_dir():
        return sorted(path.name for path in source.iterdir() if path.is_file()), lambda name: open(source / name, "rb")
    if not zipfile.is_zipfile(source):
        raise InputError(f"{source}: neither a folder nor a zip; is the download complete? Move it away and fetch it anew")
    archive = stack.enter_context(opened_zip(source))
    return archive.namelist(), archive.open
