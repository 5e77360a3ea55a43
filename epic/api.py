"""EPIC for use from Python: texts in, plain arrays out, the same numbers as the workflow's."""

from typing import NamedTuple

import numpy as np

from epic import model, select
from epic.encode import vectors_by_batch
from epic.unpruned import pair_scores
from epic.vectors import QueryVector
from epic.weigh import query_vector

TOKENS_AT_A_TIME, TERMS_AT_A_TIME = 4096, 1024  # memory depends on them, results do not


class PassageVectors(NamedTuple):
    """Pruned vectors: term ids ascending in each row, and their weights."""

    terms: np.ndarray  # (B, keep) uint16
    weights: np.ndarray  # (B, keep) float16


class Epic(model.Epic):
    """A checkpoint ready for use: `Epic.from_pretrained(folder)`."""

    def encode_query(self, text: str, words: bool = False) -> QueryVector | dict[str, float]:
        """The importance of the query's terms, as arrays of term ids and weights, or by word-piece."""
        vector = query_vector(self, text)
        return self._by_word(*vector) if words else vector

    def encode_passages(
        self, texts: list[str], keep: int | None = None, words: bool = False
    ) -> np.ndarray | PassageVectors | list[dict[str, float]]:
        """Weights of all vocabulary entries (B, V); of the `keep` largest, as arrays; or by word-piece, largest first."""
        pieces = dict(enumerate(self.pieces(texts)))
        dense = np.empty((len(pieces), self.vocabulary), dtype=np.float16)  # (B, V)
        for rows, found in vectors_by_batch(self, pieces, TOKENS_AT_A_TIME, TERMS_AT_A_TIME):
            dense[rows] = found
        if keep is None and not words:
            return dense
        kept = min(keep or self.vocabulary, self.vocabulary)
        terms = np.array([select.top_terms(vector, kept) for vector in dense], np.uint16).reshape(-1, kept)  # (B, keep)
        weights = np.take_along_axis(dense, terms.astype(np.int64), axis=1)  # (B, keep)
        if words:
            return [self._by_word(*row) for row in zip(terms, weights, strict=True)]
        return PassageVectors(terms, weights)

    def score(self, query: str, passages: list[str]) -> np.ndarray:
        """sim(q, d) of each passage (B,), unpruned."""
        pieces = dict(enumerate(self.pieces(passages)))
        wanted = {place: [query] for place in pieces}
        found = pair_scores(self, pieces, wanted, {query: query_vector(self, query)}, TOKENS_AT_A_TIME)
        return np.array([found[query, place] for place in pieces], dtype=np.float32)

    def _by_word(self, terms: np.ndarray, weights: np.ndarray) -> dict[str, float]:
        """Weights by word-piece, the largest first."""
        order = np.lexsort((terms, -weights.astype(np.float64)))
        return {self.tokenizer.id_to_token(int(terms[place])): float(weights[place]) for place in order}
