"""Labels of DeepCT's regression: term recall, the share of a passage's relevant queries that contain a word of it.

Words are compared by their stems, and stop words have no recall. Text becomes words as in DeepCT's own script: `'s` goes, and
so does every other character than ASCII letters and digits.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from epic.core.files import InputError, numbered_lines, replacing
from epic.core.log import progress
from epic.corpus.documents import Documents
from epic.corpus.query_counts import read_judgments
from epic.corpus.text_files import read_queries
from epic.first_stage.anserini import stems
from epic.first_stage.deepct_labels import Labels, line_of

log = logging.getLogger(__name__)
NO_WORD = re.compile(r"[^a-zA-Z0-9]")
PASSAGES_AT_A_TIME = 2_000


def write_recall(files, relevance: int, documents: Documents, out) -> None:
    """Write the labels of all passages that are relevant to a query, in the order of their positions in the collection.

    files: the queries, qrels and counts of a query set, and a list of stop words, perhaps none; relevance: the lowest grade.
    """
    asked, stop = read_queries(files.queries), stop_words(files.stop_words) if files.stop_words else frozenset()
    relevant = relevant_queries(read_judgments(files.qrels, files.counts), asked, relevance)
    if not relevant:
        raise InputError(f"{files.qrels}: no passage is judged relevant (grade {relevance} or more), so nothing can be learnt")
    order = [doc_id for _, doc_id in sorted(zip(documents.positions(relevant), relevant, strict=True))]
    labelled, stem = 0, Stems()
    with replacing(out) as draft, open(draft, "w", encoding="utf-8") as stream:
        for doc_ids in _some(progress(order, desc="recall", unit="passage"), PASSAGES_AT_A_TIME):
            for doc_id, text in zip(doc_ids, documents.texts(doc_ids), strict=True):
                found = term_recall(text, relevant[doc_id], stop, stem)
                labelled += bool(found)
                stream.write(line_of(Labels(doc_id, len(relevant[doc_id]), found)))
    log.info("%d passages of %d queries, %d of them with a word of a query", len(order), len(asked), labelled)


def stop_words(path) -> frozenset[str]:
    """Read a list of words, one a line; a file that is no such list is refused."""
    words = [(number, line.strip()) for number, line in numbered_lines(path)]
    for number, word in words:
        if len(word.split()) > 1:
            raise InputError(f"{path} line {number}: expected one word a line, found {word[:60]!r}")
    return frozenset(word.lower() for _, word in words if word)


def relevant_queries(qrels: dict[str, dict[str, int]], queries: dict[str, str], relevance: int) -> dict[str, list[str]]:
    """Return the texts of the queries that each passage is relevant to."""
    found: dict[str, list[str]] = {}
    for query_id, judged in qrels.items():
        for doc_id, grade in judged.items():
            if grade >= relevance:
                found.setdefault(doc_id, []).append(queries[query_id])
    return found


def term_recall(
    passage: str, queries: list[str], stop: frozenset[str], stem: Callable[[Iterable[str]], list[str]]
) -> dict[str, float]:
    """Return the share of the queries that contain each word of a passage, sorted by word; words of no query are left out."""
    counts: dict[str, int] = {}
    for query in queries:
        for stemmed in set(stem(words_of(query, stop))):
            counts[stemmed] = counts.get(stemmed, 0) + 1
    words = sorted(set(words_of(passage, stop)))
    return {word: counts[stemmed] / len(queries) for word, stemmed in zip(words, stem(words), strict=True) if stemmed in counts}


def words_of(text: str, stop: frozenset[str]) -> list[str]:
    """Split a text into lower-case words of ASCII letters and digits, without stop words."""
    words = NO_WORD.sub(" ", text.replace("'s", " ")).lower().split()
    return [word for word in words if word not in stop]


class Stems:
    """Stems of words, each asked for once."""

    def __init__(self, ask: Callable[[list[str]], list[str]] = stems):
        self._ask, self._known = ask, {}

    def __call__(self, words: Iterable[str]) -> list[str]:
        """Return the stem of each word."""
        words = list(words)
        if new := sorted(set(words) - self._known.keys()):
            self._known |= zip(new, self._ask(new), strict=True)
        return [self._known[word] for word in words]


def _some(items: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield lists of up to `size` items."""
    items = iter(items)
    while some := list(islice(items, size)):
        yield some
