"""The words that a ranker knows: counted in the collection, or published, with their idf and pre-trained vectors.

Counting holds every word of the collection with its number of passages in memory.
"""

import logging
import math
from collections import Counter

from epic.core.files import InputError
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.corpus.vocabulary import Word, write
from epic.corpus.word_lists import read_idf, read_ids, refuse_strangers
from epic.corpus.word_vectors import read_vectors
from epic.corpus.words import tokeniser_named

log = logging.getLogger(__name__)


def make_vocabulary(documents: Documents, settings: dict, vocabulary, idf, vectors, out) -> None:
    """Write the vocabulary of a model; vocabulary, idf, vectors: files, or None where the collection itself is counted.

    settings: `words` (tokeniser, at_least, most) and `dimensions` of a model's settings.
    """
    words, passages = settings["words"], len(documents)
    found = None if vocabulary and idf else count(documents, words["tokeniser"])
    names = read_ids(vocabulary) if vocabulary else frequent(found, words["at_least"], words["most"])
    published = read_idf(idf) if idf else None
    if published is None:
        known, beyond = [Word(name, found[name], idf_of(found[name], passages)) for name in names], []
    else:
        refuse_strangers(idf, published, names)
        known = [Word(name, found and found[name], published.pop(name, None)) for name in names]
        beyond = [Word(name, found and found[name], value) for name, value in published.items()]
    log.info("%d words, and %d that only have an idf; %d passages", len(known), len(beyond), passages)
    pretrained = read_vectors(vectors, names, settings["dimensions"]) if vectors else None
    write(out, words["tokeniser"], known, passages, beyond, pretrained)


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
