"""Scoring candidates against a store: one compiled call a query, float32 sums in the order of the query's terms."""

import numpy as np
from numba import njit

from epic.runs import Run, ScoredDoc
from epic.store import Store, open_store
from epic.vectors import QueryVector, read_vectors

# numba has no float16 on the CPU: weights are read as 16-bit patterns and widened by this table.
WIDE = np.arange(65_536, dtype=np.uint16).view(np.float16).astype(np.float32)


@njit(cache=True)
def _dot(terms, bits, rows, query_terms, query_weights, wide, out):  # pragma: no cover - compiled
    for place in range(len(rows)):
        row = rows[place]
        total = np.float32(0)
        low = 0
        for position in range(len(query_terms)):
            term = query_terms[position]
            high = terms.shape[1]
            while low < high:  # the first entry that is not below the term
                middle = (low + high) // 2
                if terms[row, middle] < term:
                    low = middle + 1
                else:
                    high = middle
            if low < terms.shape[1] and terms[row, low] == term:
                total += query_weights[position] * wide[bits[row, low]]
        out[place] = total


def dot(terms: np.ndarray, weights: np.ndarray, rows: np.ndarray, query: QueryVector) -> np.ndarray:
    """sim(q, d) of some rows of a store's arrays; a term that a vector does not keep counts nothing."""
    out = np.zeros(len(rows), dtype=np.float32)  # (k,)
    _dot(terms, weights.view(np.uint16), rows, query.terms, query.weights, WIDE, out)
    return out


def scores(store: Store, doc_ids: list[str], query: QueryVector) -> np.ndarray:
    """sim(q, d) of the candidates, in their order."""
    return dot(store.terms, store.weights, store.positions(doc_ids), query)


def pruned_scores(store: Store, queries: dict[str, QueryVector], run: Run) -> Run:
    """The run with sim(q, d) of stored vectors in place of the first-stage scores, in the same order."""
    scored = {}
    for query_id, hits in run.items():
        doc_ids = [hit.doc_id for hit in hits]
        found = scores(store, doc_ids, queries[query_id]).tolist()
        scored[query_id] = [ScoredDoc(doc_id, score) for doc_id, score in zip(doc_ids, found, strict=True)]
    return scored


def rescore(run: Run, vectors, checkpoint, store, manifest, compute: dict, token_budget: int) -> Run:
    """EPIC scores for a run: from a pruned store, or by the model itself where `store` is empty."""
    if store:
        return pruned_scores(open_store(store, checkpoint), read_vectors(vectors), run)
    from epic.unpruned import unpruned_run  # torch takes seconds to import; a pruned row does not need it

    return unpruned_run(run, vectors, checkpoint, manifest, compute, token_budget)
