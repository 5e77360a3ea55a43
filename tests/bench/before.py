"""Lookups as they were when a store was one plain folder of rows (epic-vectors-3), written out for each number of kept terms.

Frozen: layers and shards are measured against it, so that no change of ours to the way rows are looked up changes the measure.
"""

from pathlib import Path

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from epic.core.kernels import compiled
from epic.core.mapped import Mapped, announce
from epic.model.query_vector import QueryVector
from epic.vectors.row_sums import factors, row_sums
from epic.vectors.store_ids import Numbered

WIDE = np.arange(65_536, dtype=np.uint16).view(np.float16).astype(np.float32)
AHEAD, LINE = 4, 32


class PlainStore:
    """Rows of two mapped arrays, and a checksum of each row that is compared when it is first read."""

    def __init__(self, path: Path, documents: int, keep: int):
        self.terms, self.weights = (
            Mapped(path / name, kind, (documents, keep)) for name, kind in (("terms.u16", np.uint16), ("weights.f16", np.float16))
        )
        self.sums = Mapped(path / "sums.u64", np.uint64, (documents, 1)).array  # (n, 1)
        self.seen, self.odd, self.numbers = np.zeros(documents, dtype=bool), factors(keep), Numbered(0, documents)

    def scores(self, ids: list[str], query: QueryVector) -> np.ndarray:
        rows = self.numbers.rows(list(ids))  # (k,)
        if len(rows) and rows.min() < 0:
            raise ValueError("no vector")
        announce(rows, self.terms, self.weights)
        if (fresh := rows[~self.seen[rows]]).size:  # (m,)
            if not (row_sums(self.terms.array, self.weights.array, fresh, self.odd) == self.sums[fresh, 0]).all():
                raise ValueError("not as it was written")
            self.seen[fresh] = True
        out = np.empty(len(rows), dtype=np.float32)  # (k,)
        _dot(self.terms.array, self.weights.array.view(np.uint16), rows, query.terms, query.weights, WIDE, out)
        return out


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
def _dot(terms, bits, rows, query_terms, query_weights, wide, out):
    width = terms.shape[1]
    step = max(LINE, width // LINE)
    for place in range(len(rows)):
        if place + AHEAD < len(rows):
            for position in range(0, width, step):
                prefetch(terms, rows[place + AHEAD], position)
        row = rows[place]
        total = np.float32(0)
        low = 0
        for position in range(len(query_terms)):
            term = query_terms[position]
            high = width
            while low < high:
                middle = (low + high) // 2
                if terms[row, middle] < term:
                    low = middle + 1
                else:
                    high = middle
            if low < width and terms[row, low] == term:
                total += query_weights[position] * wide[bits[row, low]]
        out[place] = total
