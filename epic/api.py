"""EPIC for use from Python: texts in, plain arrays out, the same numbers as the workflow's."""

from typing import NamedTuple

import numpy as np
import torch

from epic.core import seals
from epic.core.files import InputError
from epic.model.epic import EpicModel
from epic.model.query_torch import query_vector
from epic.model.query_vector import QueryVector
from epic.model.tokens import word_of
from epic.model.weigh import graph_session
from epic.vectors.phi import vectors_by_batch
from epic.vectors.topk import take, top_terms
from epic.vectors.unpruned_scores import pair_scores

TOKENS_AT_A_TIME, TERMS_AT_A_TIME = 4096, 1024  # memory depends on them, results do not


class PassageVectors(NamedTuple):
    """Pruned vectors: term ids ascending in each row, and their weights."""

    terms: np.ndarray  # (B, keep) uint16
    weights: np.ndarray  # (B, keep) float16


class Epic(EpicModel):
    """A checkpoint ready for use: `Epic.from_pretrained(folder)`."""

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

    def _by_word(self, terms: np.ndarray, weights: np.ndarray) -> dict[str, float]:
        """Return weights by word-piece, the largest first."""
        order = np.lexsort((terms, -weights.astype(np.float64)))
        return {word_of(self.tokenizer, int(terms[place])): float(weights[place]) for place in order}
