"""Scoring candidates against stored vectors: one compiled call a query, float32 sums in the order of the query's terms."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from epic.core.kernels import WIDE, compiled
from epic.corpus.runs import Run, ScoredDoc
from epic.model.query_vector import QueryVector
from epic.vectors.store import Store
from epic.vectors.stored_rows import Lookup, Rows


@compiled
def _dense_dot(bits, rows, query_terms, query_weights, wide, out):  # pragma: no cover - compiled
    for place in range(len(rows)):
        total = np.float32(0)
        for position in range(len(query_terms)):
            total += query_weights[position] * wide[bits[rows[place], query_terms[position]]]
        out[place] = total


def dot(terms: np.ndarray, weights: np.ndarray, rows: np.ndarray, query: QueryVector) -> np.ndarray:
    """Return sim(q, d) of some rows of plain arrays (n, keep); a term that a vector does not keep counts nothing."""
    return Rows([0, len(terms)], [[(terms, weights)]]).dot(rows, query)


def dense_dot(vectors: np.ndarray, rows: np.ndarray, query: QueryVector) -> np.ndarray:
    """Return sim(q, d) of some rows of unpruned vectors (n, V)."""
    out = np.empty(len(rows), dtype=np.float32)  # (k,)
    _dense_dot(vectors.view(np.uint16), rows, query.terms, query.weights, WIDE, out)
    return out


def scores(lookup: Lookup, doc_ids: list[str], query: QueryVector) -> np.ndarray:
    """Return sim(q, d) of the candidates, in their order; refuse a candidate without a vector."""
    return lookup.rows.dot(lookup.positions(doc_ids), query)


def pruned_scores(store: Store, queries: dict[str, QueryVector], run: Run, threads: int = 1) -> Run:
    """Return the run with sim(q, d) of stored vectors in place of the first-stage scores, in the same order.

    Threads share the queries; each score is the same as with one thread.
    """
    lookup = Lookup(store)

    def scored(query_id: str) -> list[ScoredDoc]:
        doc_ids = [hit.doc_id for hit in run[query_id]]
        found = scores(lookup, doc_ids, queries[query_id]).tolist()
        return [ScoredDoc(doc_id, score) for doc_id, score in zip(doc_ids, found, strict=True)]

    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(run, pool.map(scored, run), strict=True))
