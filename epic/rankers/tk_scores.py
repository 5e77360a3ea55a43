"""Scores of a run by TK: each query is contextualised once, and each passage once, for all queries that have it as a candidate.

Passages come in batches and are forgotten after them; the words of all queries stay in memory, 4e bytes each.
"""

from typing import NamedTuple

import numpy as np
import torch

from epic.core.log import progress
from epic.corpus.runs import ScoredDoc
from epic.rankers.pairs import refuse_unless_finite
from epic.rankers.tk_model import TK, Terms
from epic.vectors.batches import Budget, computed

PASSAGES_AT_A_TIME = 20_000  # whose texts are in memory
QUERIES_AT_A_TIME = 1_024
NO_WINDOW = 1 << 30  # a passage is never split


class Pairs(NamedTuple):
    """The n pairs of a run, in its order, by numbers of queries and passages."""

    queries: np.ndarray  # (n,)
    passages: np.ndarray  # (n,)
    doc_ids: list[str]  # of the passages, each once
    order: np.ndarray  # (n,) pairs, passage after passage
    starts: np.ndarray  # (passages + 1,) where those of each passage begin in `order`

    @classmethod
    def of(cls, run: dict) -> "Pairs":
        """Number queries and passages."""
        numbers: dict[str, int] = {}
        found = (numbers.setdefault(hit.doc_id, len(numbers)) for hits in run.values() for hit in hits)
        passages = np.fromiter(found, dtype=np.int64)  # (n,)
        queries = np.repeat(np.arange(len(run)), [len(hits) for hits in run.values()])  # (n,)
        order = np.argsort(passages, kind="stable")  # (n,)
        return cls(queries, passages, list(numbers), order, np.searchsorted(passages[order], np.arange(len(numbers) + 1)))

    def of_passages(self, numbers: list[int]) -> np.ndarray:
        """Return the pairs of some passages (m,), passage after passage."""
        return np.concatenate([self.order[self.starts[number] : self.starts[number + 1]] for number in numbers])


def score(ranker, run: dict, queries: dict[str, str], documents, budget: int) -> dict:
    """Return the run with TK's scores; budget: the words of a batch of passages."""
    pairs = Pairs.of(run)
    values = np.empty(len(pairs.order))  # (n,)
    kind, precision = next(ranker.parameters()).device.type, getattr(ranker, "precision", torch.float32)
    with torch.inference_mode(), torch.autocast(kind, precision, enabled=precision != torch.float32):
        asked = query_terms(ranker, [queries[query_id] for query_id in run])
        for some, found in batch_scores(ranker, asked, documents, pairs, budget):
            values[some] = found
    refuse_unless_finite(values, run, pairs.queries)
    scores = iter(values.tolist())
    return {query_id: [ScoredDoc(hit.doc_id, next(scores)) for hit in hits] for query_id, hits in run.items()}


def query_terms(ranker, texts: list[str]) -> Terms:
    """Contextualise queries, some at a time."""
    numbers = [ranker.query(text) for text in texts]
    starts = range(0, max(1, len(numbers)), QUERIES_AT_A_TIME)
    parts = [ranker.tk.terms(numbers[start : start + QUERIES_AT_A_TIME]) for start in starts]
    return Terms(torch.cat([part.rows for part in parts]), [len(text) for text in numbers])


def batch_scores(ranker, asked: Terms, documents, pairs: Pairs, budget: int):
    """Yield (pairs (m,), their scores) of batches of passages of like length."""
    allowed = Budget(budget)
    with progress(total=len(pairs.doc_ids), desc="passages", unit="passage") as bar:
        for start in range(0, len(pairs.doc_ids), PASSAGES_AT_A_TIME):
            texts = documents.texts(pairs.doc_ids[start : start + PASSAGES_AT_A_TIME])
            words = dict(enumerate(ranker.passages(texts), start))

            def of(batch: list[int], words=words) -> tuple[np.ndarray, list[float]]:
                some = pairs.of_passages(batch)  # (m,)
                return some, scores_of(ranker.tk, asked, batch, words, pairs, some, allowed.tokens)

            for batch, found in computed(words, allowed, NO_WINDOW, of):
                yield found
                bar.update(len(batch))


def scores_of(tk: TK, asked: Terms, batch: list[int], words: dict, pairs: Pairs, some: np.ndarray, budget: int) -> list[float]:
    """Return the scores of some pairs (m,), all of a batch of passages; at most `budget` words of pairs are matched at once."""
    terms = tk.terms([words[number] for number in batch])
    places = {number: place for place, number in enumerate(batch)}
    passages = [places[number] for number in pairs.passages[some].tolist()]  # m
    numbers, queries = np.unique(pairs.queries[some], return_inverse=True)  # (u,), (m,)
    mine, step = asked.of(numbers).padded(), max(1, budget // max(1, *terms.lengths))
    theirs = terms.padded()
    found = [
        tk.similarities(mine.of(queries[start : start + step]), theirs.of(passages[start : start + step]))  # (step,)
        for start in range(0, len(some), step)
    ]
    return torch.cat(found).tolist()
