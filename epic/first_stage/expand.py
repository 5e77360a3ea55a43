"""The texts that a first stage indexes, as Anserini's JSON lines: passages as they are, with predicted queries, or reweighted."""

import json
import logging
import re
from collections.abc import Iterator
from itertools import islice

from epic.core.files import InputError, replacing, write_json
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.first_stage.deepct import weighted_texts
from epic.first_stage.lucene_files import COUNT
from epic.first_stage.predicted_queries import predictions

log = logging.getLogger(__name__)
DOCS_PER_FILE = 500_000
COUNTED = 1_000_000  # surplus predictions, more or less: a damaged or hostile file may have no end
BLANK = re.compile(r"[\s\0-\x20]*\Z")  # nothing but blanks, as Unicode or as Java has them; Anserini skips only the latter


def expand(documents: Documents, predicted, samples: int | None, weighted, out) -> None:
    """Write the texts to index: the passages, passages followed by predicted queries, or weighted texts instead.

    weighted: the files or folders that hold these, perhaps none.
    """
    if weighted:
        texts = weighted_texts(documents, *weighted)
    elif predicted:
        texts = with_predictions(documents, predicted, samples)
    else:
        texts = documents.span(range(len(documents)))
    total, with_text = 0, 0
    with replacing(out) as draft:
        draft.mkdir()
        texts = iter(progress(texts, total=len(documents), desc="expand"))
        for place in range(0, max(1, len(documents)), DOCS_PER_FILE):  # Anserini indexes as many files at once as it has threads
            with open(draft / f"docs-{place // DOCS_PER_FILE:03d}.jsonl", "w", encoding="utf-8") as stream:
                for doc_id, text in islice(texts, DOCS_PER_FILE):
                    total += 1
                    text = "" if BLANK.match(text) else text
                    with_text += bool(text)
                    stream.write(json.dumps({"id": doc_id, "contents": text}, ensure_ascii=False) + "\n")
        next(texts, None)  # asked once more, a source that holds too many texts refuses, and says why
        if total != len(documents) and not weighted:
            raise InputError(f"{documents.dataset} gave {total} of its {len(documents)} documents; build its store anew")
        absent = len(documents) - total
        write_json(draft / COUNT, {"documents": total, "with_text": with_text, "absent": absent})
    log.info("%d documents, %d with text, %d of the collection absent", total, with_text, absent)


def with_predictions(documents: Documents, source, samples: int | None) -> Iterator[tuple[str, str]]:
    """Yield (id, text and predicted queries); they are matched by position, so there must be as many as passages."""
    found, taken = predictions(source, samples), 0
    for doc_id, text in documents.span(range(len(documents))):
        prediction = next(found, None)
        if prediction is None:
            raise _unaligned(source, taken, len(documents))
        if prediction.doc_id not in (None, doc_id):
            raise InputError(
                f"{source} line {taken + 1}: passage {prediction.doc_id} stands where {doc_id} is expected; "
                "predictions must be in the order of the collection"
            )
        taken += 1
        yield doc_id, f"{text} {prediction.queries}"
    if surplus := sum(1 for _ in islice(found, len(documents) + COUNTED)):
        raise _unaligned(source, taken + surplus, len(documents))


def _unaligned(source, lines: int, documents: int) -> InputError:
    return InputError(
        f"{source}: predicted queries for {lines} passages, but the collection has {documents}; "
        "they are matched by position, so the files must belong to this very collection"
    )
