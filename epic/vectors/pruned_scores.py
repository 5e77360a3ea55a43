"""Scoring candidates against stored vectors: one compiled call a query, float32 sums in the order of the query's terms."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from epic.core.kernels import compiled
from epic.corpus.runs import Run, ScoredDoc
from epic.model.query_vector import QueryVector
from epic.vectors.store import Store

# numba has no float16 on the CPU: weights are read as 16-bit patterns and widened by this table.
WIDE = np.arange(65_536, dtype=np.uint16).view(np.float16).astype(np.float32)
AHEAD, LINE = 4, 32  # rows; term ids in a cache line of 64 bytes


@intrinsic
def prefetch(_, array, row, column):
    """Fetch, inside a kernel, the cache line that holds array[row, column], without waiting for it."""

    def generate(context, builder, signature, arguments):
        kind, place, number = signature.args[0], ir.IntType(8).as_pointer(), ir.IntType(32)
        struct = make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, kind, struct, list(arguments[1:]), wraparound=False)
        signature_of = ir.FunctionType(ir.VoidType(), [place, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, signature_of, "llvm.prefetch.p0i8")
        read, keep, data = number(0), number(3), number(1)
        builder.call(function, [builder.bitcast(pointer, place), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


@compiled
def _dot(terms, bits, rows, query_terms, query_weights, wide, out):  # pragma: no cover - compiled
    width = terms.shape[1]
    step = max(LINE, width // LINE)
    for place in range(len(rows)):
        if place + AHEAD < len(rows):  # the search jumps about in a row; meanwhile later rows are fetched
            for position in range(0, width, step):
                prefetch(terms, rows[place + AHEAD], position)
        row = rows[place]
        total = np.float32(0)
        low = 0
        for position in range(len(query_terms)):  # they ascend, as the row's terms do
            term = query_terms[position]
            high = width
            while low < high:  # the first entry that is not below the term
                middle = (low + high) // 2
                if terms[row, middle] < term:
                    low = middle + 1
                else:
                    high = middle
            if low < width and terms[row, low] == term:
                total += query_weights[position] * wide[bits[row, low]]
        out[place] = total


@compiled
def _dense_dot(bits, rows, query_terms, query_weights, wide, out):  # pragma: no cover - compiled
    for place in range(len(rows)):
        total = np.float32(0)
        for position in range(len(query_terms)):
            total += query_weights[position] * wide[bits[rows[place], query_terms[position]]]
        out[place] = total


def dot(terms: np.ndarray, weights: np.ndarray, rows: np.ndarray, query: QueryVector) -> np.ndarray:
    """Return sim(q, d) of some rows of a store's arrays; a term that a vector does not keep counts nothing."""
    out = np.empty(len(rows), dtype=np.float32)  # (k,)
    _dot(terms, weights.view(np.uint16), rows, query.terms, query.weights, WIDE, out)
    return out


def dense_dot(vectors: np.ndarray, rows: np.ndarray, query: QueryVector) -> np.ndarray:
    """Return sim(q, d) of some rows of unpruned vectors (n, V)."""
    out = np.empty(len(rows), dtype=np.float32)  # (k,)
    _dense_dot(vectors.view(np.uint16), rows, query.terms, query.weights, WIDE, out)
    return out


def scores(store: Store, doc_ids: list[str], query: QueryVector) -> np.ndarray:
    """Return sim(q, d) of the candidates, in their order; refuse a candidate without a vector."""
    rows = store.positions(doc_ids)  # (k,)
    store.announce(rows)
    store.compare(rows)
    return dot(store.terms, store.weights, rows, query)


def pruned_scores(store: Store, queries: dict[str, QueryVector], run: Run, threads: int = 1) -> Run:
    """Return the run with sim(q, d) of stored vectors in place of the first-stage scores, in the same order.

    Threads share the queries; each score is the same as with one thread.
    """

    def scored(query_id: str) -> list[ScoredDoc]:
        doc_ids = [hit.doc_id for hit in run[query_id]]
        found = scores(store, doc_ids, queries[query_id]).tolist()
        return [ScoredDoc(doc_id, score) for doc_id, score in zip(doc_ids, found, strict=True)]

    with ThreadPoolExecutor(threads) as pool:
        return dict(zip(run, pool.map(scored, run), strict=True))
