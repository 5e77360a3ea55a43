"""A run scored by TK whose passages are candidates of several queries: each contextualised once, against once for each pair."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from epic.corpus.runs import ScoredDoc
from epic.corpus.vocabulary import Word, write
from epic.corpus.words import tokeniser_named
from epic.rankers import pairs, tk
from tests.bench import inputs
from tests.bench.measure import Way, versus

SHARED = 4  # queries that have a passage as a candidate
BUDGET = 16_384  # words of a batch
LAYERS = (1, 3)
SETTINGS = {
    "heads": 16, "projection": 32, "feed_forward": 100, "dimensions": 300, "query_words": 30, "passage_words": 200,
    "words": {"tokeniser": "blingfire", "vocabulary": None, "at_least": 1, "most": None, "idf": None, "vectors": None},
}  # fmt: skip
NEAR = 1e-5


class EachPair(tk.Ranker):
    """TK that contextualises query and passage of every pair anew."""

    def scores(self, queries: list[list[int]], passages: list[list[int]]) -> Tensor:
        """Return scores (n,)."""
        return self.tk.similarities(self.tk.terms(queries).padded(), self.tk.terms(passages).padded())  # (n,)


class Texts:
    """A collection in memory."""

    def __init__(self, texts: dict[str, str]):
        self.by_id = texts

    def texts(self, doc_ids) -> list[str]:
        return [self.by_id[doc_id] for doc_id in doc_ids]


def shared_run(doc_ids: list[str], queries: dict[str, str]) -> dict[str, list[ScoredDoc]]:
    """A run in which each passage is a candidate of SHARED queries; all queries have as many."""
    draw, run = np.random.default_rng(4), {query_id: [] for query_id in queries}
    for doc_id in doc_ids:
        for place in draw.choice(len(run), SHARED, replace=False):
            run[list(run)[place]].append(ScoredDoc(doc_id, 0.0))
    return run


def same_scores(left: dict, right: dict) -> bool:
    """Whether two runs have the same passages, with scores that differ by rounding."""
    hits = [(one, two) for query_id in left for one, two in zip(left[query_id], right[query_id], strict=True)]
    return list(left) == list(right) and all(one.doc_id == two.doc_id and abs(one.score - two.score) < NEAR for one, two in hits)


def rankers(folder: Path, texts: dict[str, str], layers: int) -> tuple[EachPair, tk.Ranker]:
    """The same TK in both ways, with the words of the passages, and kernels whose scores differ in more than their last digits."""
    words = sorted({word for text in texts.values() for word in tokeniser_named("blingfire")(text)})
    if not folder.exists():
        write(folder, "blingfire", [Word(word) for word in words], passages=len(texts))
    found = []
    for kind in (EachPair, tk.Ranker):
        torch.manual_seed(1)
        found.append(kind(SETTINGS | {"layers": layers}, folder).eval())
        with torch.no_grad():
            for branch in (found[-1].tk.kernels.log_sums, found[-1].tk.kernels.mean_sums):
                branch.weight.mul_(10)
    return tuple(found)


def shared_passages(scratch: Path, count: int, rounds: int):
    """Pairs to scores, from the texts on."""
    texts, queries = inputs.texts(count, seed=7), {str(place): text for place, text in enumerate(2 * inputs.QUERIES)}
    run, documents = shared_run(list(texts), queries), Texts(texts)
    for layers in LAYERS:
        theirs, ours = rankers(scratch / "words", texts, layers)
        some = {query_id: hits[:2] for query_id, hits in run.items()}
        pairs.score(theirs, some, queries, documents, BUDGET), tk.score(ours, some, queries, documents, BUDGET)
        yield versus(
            Way(lambda theirs=theirs: pairs.score(theirs, run, queries, documents, BUDGET), SHARED * count),
            Way(lambda ours=ours: tk.score(ours, run, queries, documents, BUDGET), SHARED * count),
            rounds,
            equal=same_scores,
            work="tk-run",
            model=f"tk-{layers}",
        )
