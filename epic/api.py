"""Trained models for use from Python: texts in, plain arrays out, the same numbers as the workflow's."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from epic.core import seals
from epic.core.files import InputError
from epic.core.log import without_bars
from epic.corpus.runs import ScoredDoc
from epic.model.device import PRECISIONS, prepare
from epic.model.epic import EpicModel
from epic.model.query_torch import query_vector
from epic.model.query_vector import QueryVector
from epic.model.tokens import word_of
from epic.model.weigh import graph_session
from epic.rankers import family
from epic.rankers.pairs import FACTS, facts_of
from epic.vectors.phi import vectors_by_batch
from epic.vectors.topk import take, top_terms
from epic.vectors.unpruned_scores import pair_scores

TOKENS_AT_A_TIME, TERMS_AT_A_TIME = 4096, 1024  # memory depends on them, results do not
OF_EPIC, OF_PAIRS = "epic.json", FACTS  # by these files a checkpoint is known


def load_ranker(folder, device: str = "cpu", precision: str = "float32", threads: int | None = None) -> "Epic | TextRanker":
    """Load a checkpoint of any family, ready to score passages for a query.

    As in the workflow's jobs, torch is told for the whole process to use as many threads (None: as it has), to compute
    deterministically, and on a card whether to round products (tf32). Mixed precision (bfloat16, float16) is for cards.
    """
    path = Path(folder)
    if not any((path / name).exists() for name in (OF_EPIC, OF_PAIRS)):
        raise InputError(f"{path}: no checkpoint (neither {OF_EPIC} nor {OF_PAIRS}); name a folder like train/<model>/checkpoint")
    if precision not in PRECISIONS:
        raise InputError(f"there is no precision {precision}; there are {', '.join(PRECISIONS)}")
    if PRECISIONS[precision] != torch.float32 and device == "cpu":
        raise InputError(f"{precision} is for the device cuda; say float32")
    compute = {"device": device, "threads": threads or torch.get_num_threads(), "precision": precision}
    if (path / OF_EPIC).exists():
        found = Epic.from_pretrained(path, prepare(**compute))
        found.precision = PRECISIONS[precision]
        return found
    seals.check([path])
    return TextRanker(family(facts_of(path)["family"]).load(path, compute))


def order_of(scores: np.ndarray) -> np.ndarray:
    """Return the places (n,) of scores (n,), the highest first, equal ones as they came."""
    return np.argsort(-scores, kind="stable")


class TextRanker:
    """A checkpoint of a family that reads query and passage together: `load_ranker(folder)`."""

    def __init__(self, ranker):
        self.ranker = ranker

    @property
    def family(self) -> str:
        """The name of its family."""
        return self.ranker.facts["family"]

    def score(self, query: str, passages: list[str]) -> np.ndarray:
        """Return the score of each passage (n,)."""
        run = {"": [ScoredDoc(str(place), 0.0) for place in range(len(passages))]}
        with without_bars():
            found = family(self.family).score(self.ranker, run, {"": query}, _Texts(passages), TOKENS_AT_A_TIME)
        return np.array([hit.score for hit in found[""]], dtype=np.float32)

    def rerank(self, query: str, passages: list[str]) -> np.ndarray:
        """Return the places of the passages (n,), the best first."""
        return order_of(self.score(query, passages))


class _Texts:
    """Passages whose ids are their places."""

    def __init__(self, passages: list[str]):
        self._passages = passages

    def texts(self, doc_ids) -> list[str]:
        """Return the passages with some ids."""
        return [self._passages[int(doc_id)] for doc_id in doc_ids]


class PassageVectors(NamedTuple):
    """Pruned vectors: term ids ascending in each row, and their weights."""

    terms: np.ndarray  # (B, keep) uint16
    weights: np.ndarray  # (B, keep) float16


class Epic(EpicModel):
    """A checkpoint ready for use: `Epic.from_pretrained(folder)`."""

    family = "epic"
    graph = None  # the query side in ONNX Runtime, if there is one

    @classmethod
    def from_pretrained(cls, path, device: str = "cpu") -> "Epic":
        """Load a trained model; on a CPU its queries run in ONNX Runtime."""
        seals.check([path])
        found = super().from_pretrained(path, device)
        found.graph = graph_session(path, torch.get_num_threads()) if device == "cpu" else None
        found.graph_of = found.changes()
        return found

    def query_vector(self, text: str) -> QueryVector:
        """Return the importance of the query's terms as arrays; torch computes it if the weights are not the checkpoint's."""
        if self.graph and self.graph_of == self.changes():
            return self.graph.query_vector(text)
        return query_vector(self, text)

    def changes(self) -> int:
        """Return the number of times that weights were changed in place."""
        return sum(weight._version for weight in self.parameters())

    def _apply(self, *arguments, **options):
        """Move to another device or precision, and drop the graph, which is for neither."""
        self.graph = None
        return super()._apply(*arguments, **options)

    def __getstate__(self) -> dict:
        """Return the state to copy or pickle: all but the graph, which allows neither."""
        return {key: value for key, value in self.__dict__.items() if key != "graph"}

    def encode_query(self, text: str, words: bool = False) -> QueryVector | dict[str, float]:
        """Return the importance of the query's terms, as arrays of term ids and weights, or by word-piece."""
        vector = self.query_vector(text)
        return self._by_word(*vector) if words else vector

    def encode_passages(
        self, texts: list[str], keep: int | None = None, words: bool = False
    ) -> np.ndarray | PassageVectors | list[dict[str, float]]:
        """Return weights of all vocabulary entries (B, V); of the `keep` largest, as arrays; or by word-piece, largest first."""
        if keep is not None and keep < 1:
            raise InputError(f"keep is {keep}; it must be 1 or more, or None for all terms")
        pieces = dict(enumerate(self.pieces(texts)))
        kept = min(keep or self.vocabulary, self.vocabulary)
        terms = np.empty((len(pieces), kept), dtype=np.uint16)  # (B, keep)
        weights = np.empty((len(pieces), kept), dtype=np.float16)  # (B, keep)
        for rows, found in vectors_by_batch(self, pieces, TOKENS_AT_A_TIME, TERMS_AT_A_TIME):
            terms[rows] = chosen = top_terms(found, kept)  # (b, keep)
            weights[rows] = take(found, chosen)  # (b, keep)
        if words:
            return [self._by_word(*row) for row in zip(terms, weights, strict=True)]
        return weights if keep is None else PassageVectors(terms, weights)

    def score(self, query: str, passages: list[str]) -> np.ndarray:
        """Return sim(q, d) of each passage (B,), unpruned."""
        pieces = dict(enumerate(self.pieces(passages)))
        wanted = {place: [query] for place in pieces}
        found = pair_scores(self, pieces, wanted, {query: self.query_vector(query)}, TOKENS_AT_A_TIME)
        return np.array([found[query, place] for place in pieces], dtype=np.float32)

    def rerank(self, query: str, passages: list[str]) -> np.ndarray:
        """Return the places of the passages (B,), the best first."""
        return order_of(self.score(query, passages))

    def _by_word(self, terms: np.ndarray, weights: np.ndarray) -> dict[str, float]:
        """Return weights by word-piece, the largest first."""
        order = np.lexsort((terms, -weights.astype(np.float64)))
        return {word_of(self.tokenizer, int(terms[place])): float(weights[place]) for place in order}
