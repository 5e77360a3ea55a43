"""The words that a ranker knows: counted in the collection, or published, with their idf and pre-trained vectors.

Counting holds every word of the collection with its number of passages in memory.
"""

import logging
import math
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from epic.core.files import InputError
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.corpus.vocabulary import Word, write
from epic.corpus.word_lists import read_idf, read_ids, refuse_strangers
from epic.corpus.word_vectors import read_vectors
from epic.corpus.words import tokeniser_named

log = logging.getLogger(__name__)


class Sources(NamedTuple):
    """The published files of a vocabulary; None for what is found in the collection, or not at all."""

    vocabulary: Path | None = None  # word TAB id
    idf: Path | None = None  # word TAB idf
    vectors: Path | None = None  # GloVe's text, or a zip of it

    @classmethod
    def of(cls, *inputs) -> "Sources":
        """Take the inputs of a job: a path each, or an empty list; refuse a folder of files."""
        for files in inputs:
            if files and not isinstance(files, str):
                raise InputError(f"{Path(files[0]).parent}: a folder; name the file of words or vectors itself")
        return cls(*(Path(file) if file else None for file in inputs))


def make_vocabulary(documents: Documents, settings: dict, sources: Sources, out) -> None:
    """Write the vocabulary of a model; settings: `words` (tokeniser, at_least, most) and `dimensions` of its vectors."""
    words, passages = settings["words"], len(documents)
    found = None if sources.vocabulary and sources.idf else count(documents, words["tokeniser"])
    names = read_ids(sources.vocabulary) if sources.vocabulary else frequent(found, words["at_least"], words["most"])
    known, beyond = _published(sources.idf, names, found) if sources.idf else (_counted(names, found, passages), [])
    log.info("%d words, and %d that only have an idf; %d passages", len(known), len(beyond), passages)
    vectors = read_vectors(sources.vectors, names, settings["dimensions"]) if sources.vectors else None
    write(out, words["tokeniser"], known, passages, beyond, vectors)


def _counted(names: list[str], found: Counter[str], passages: int) -> list[Word]:
    return [Word(name, found[name], idf_of(found[name], passages)) for name in names]


def _published(path: Path, names: list[str], found: Counter[str] | None) -> tuple[list[Word], list[Word]]:
    """Return the words of the vocabulary with their published idf, and the other words of the list."""
    idf, known = read_idf(path), set(names)
    refuse_strangers(path, idf, names)
    listed = [*names, *(name for name in idf if name not in known)]
    words = [Word(name, found and found[name], idf.get(name)) for name in listed]
    return words[: len(names)], words[len(names) :]


def count(documents: Documents, tokeniser: str) -> Counter[str]:
    """Count, for each word, the passages that have it."""
    split, found = tokeniser_named(tokeniser), Counter()
    texts = documents.span(range(len(documents)))
    for _, text in progress(texts, total=len(documents), desc="words", unit=" passages"):
        found.update(set(split(text)))
    return found


def frequent(found: Counter[str], at_least: int, most: int | None) -> list[str]:
    """List the words that enough passages have, those of most passages first and equals by name; at most `most` of them."""
    kept = sorted((word for word, passages in found.items() if passages >= at_least), key=lambda word: (-found[word], word))
    if not kept:
        raise InputError(
            f"no word is in {at_least} or more passages, of {len(found)} words in all; lower words.at_least in the experiment"
        )
    return kept[:most]


def idf_of(passages: int, of: int) -> float | None:
    """Return ln(N/df) / ln(N): 1 for a word of one passage, 0 for one of all; None for a word of none."""
    if not passages:
        return None
    return math.log(of / passages) / math.log(of) if of > 1 else 0.0
