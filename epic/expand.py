"""Expanded documents: each passage followed by the queries that a model predicted for it.

docTTTTTquery publishes its predictions as files `predicted_queries_topk_sample{SSS}.txt{CCC}-1004000`, sample by
chunk, one query a line in passage order, in a folder or a zip. A passage is never matched to a prediction by
anything but its position, so the number of lines must equal the number of passages.
"""

import json
import logging
import re
import zipfile
from contextlib import ExitStack
from io import TextIOWrapper
from pathlib import Path

from epic.documents import Documents
from epic.files import InputError, whole, write_json
from epic.log import progress

log = logging.getLogger(__name__)
MEMBER = re.compile(r"predicted_queries_topk_sample(\d{3})\.txt(\d{3})-1004000$")
DOCS_PER_FILE = 500_000


def source_of(files) -> Path | None:
    """The folder that holds the sample files, or the zip itself; None where there are no files."""
    files = [Path(file) for file in ([files] if isinstance(files, str) else files)]
    if not files:
        return None
    return files[0] if files[0].suffix == ".zip" else files[0].parent


def expand(documents: Documents, source, samples: int, out) -> None:
    """Write the documents as Anserini's JSON lines, with `samples` predicted queries each; source None adds nothing."""
    predictions = predicted_queries(source, samples) if source else None
    total, with_text = 0, 0
    with whole(out) as draft:
        draft.mkdir()
        for start in range(0, len(documents), DOCS_PER_FILE):
            span = range(start, min(start + DOCS_PER_FILE, len(documents)))
            with open(draft / f"docs-{start // DOCS_PER_FILE:03d}.jsonl", "w", encoding="utf-8") as stream:
                for doc_id, text in progress(documents.span(span), total=len(span), desc="expand"):
                    if predictions:
                        text = f"{text} {_next(predictions, source, total, len(documents))}"
                    total += 1
                    with_text += bool(text.strip())
                    stream.write(json.dumps({"id": doc_id, "contents": text}, ensure_ascii=False) + "\n")
        if predictions and next(predictions, None) is not None:
            surplus = total + 1 + sum(1 for _ in predictions)
            raise _unaligned(source, surplus, len(documents))
        if total != len(documents):
            raise InputError(f"{documents.dataset} gave {total} of its {len(documents)} documents; build its store anew")
        write_json(draft / "count.json", {"documents": total, "with_text": with_text})
    log.info("%d documents, %d with text", total, with_text)


def predictions_of(collection, texts: dict[str, str]) -> dict[str, str]:
    """What was appended to some documents when the collection was expanded; texts: document id -> its own text."""
    starts = tuple(json.dumps({"id": doc_id}, ensure_ascii=False)[:-1] + "," for doc_id in texts)
    found = {}
    for path in sorted(Path(collection).glob("docs-*.jsonl")):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                if line.startswith(starts):
                    document = json.loads(line)
                    found[document["id"]] = document["contents"].removeprefix(texts[document["id"]]).strip()
        if len(found) == len(texts):
            break
    return found


def _next(predictions, source, position: int, documents: int) -> str:
    found = next(predictions, None)
    if found is None:
        raise _unaligned(source, position, documents)
    return found


def _unaligned(source, lines: int, documents: int) -> InputError:
    return InputError(
        f"{source}: predicted queries for {lines} passages, but the collection has {documents}; "
        "they are matched by position, so the files must belong to this very collection"
    )


def predicted_queries(source, samples: int):
    """Yield, passage by passage, the predicted queries of the first `samples` samples joined by blanks."""
    with ExitStack() as stack:
        names, open_member = _members(source, stack)
        chunks = {}
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


def _aligned(source, chunk: int, streams):
    """Zip the samples of one chunk; the first that is shorter or longer than the others is named."""
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
        yield " ".join(line.strip() for line in row)
    for _, stream in streams:
        stream.close()


def _members(source, stack):
    """Member names of a folder or a zip, and a function that opens one as text."""
    source = Path(source)
    if source.is_dir():
        return [path.name for path in source.iterdir()], lambda name: open(source / name, encoding="utf-8", newline="\n")
    if not zipfile.is_zipfile(source):
        raise InputError(f"{source}: neither a folder nor a zip of predicted queries; is the download complete?")
    archive = stack.enter_context(zipfile.ZipFile(source))
    return archive.namelist(), lambda name: TextIOWrapper(archive.open(name), encoding="utf-8", newline="\n")
