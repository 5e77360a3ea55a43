"""Rows of vectors by the addresses of arrays: mapped files of shards and layers, or copies in memory.

A row lies in one of some parts (shards, one after the other), and in each of some layers. A kernel is given the address of each
part of each layer, and finds a row by its number, so that it does not matter how many files a store has. numba has no float16
on the CPU: weights are read as 16-bit patterns and widened by a table.
"""

import resource
from bisect import bisect_right
from contextlib import suppress
from weakref import WeakValueDictionary

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from epic.core import seals
from epic.core.files import InputError
from epic.core.kernels import WIDE, compiled
from epic.core.mapped import LOOK_AT, Mapped
from epic.model.query_vector import QueryVector
from epic.vectors.row_sums import factors
from epic.vectors.store import Store
from epic.vectors.store_header import ARRAYS, SUMS

AHEAD, LINE = 4, 32  # rows; term ids in a cache line of 64 bytes
TERMS, WEIGHTS = 0, 1  # kinds of arrays
FILES = {**ARRAYS, SUMS: np.uint64}
DESCRIPTORS = 2  # of an open file and of its map


@intrinsic
def load(_, address, index):
    """Read, inside a kernel, the 16-bit number `index` places after an address."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(16).as_pointer())
        return builder.load(builder.gep(pointer, [arguments[1]]))

    return types.uint16(types.uint64, types.int64), generate


@intrinsic
def load_sum(_, address, index):
    """Read, inside a kernel, the 64-bit number `index` places after an address."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load(builder.gep(pointer, [arguments[1]]))

    return types.uint64(types.uint64, types.int64), generate


@intrinsic
def prefetch(_, address, index):
    """Fetch, inside a kernel, the cache line that holds the 16-bit number `index` places after an address, without waiting."""

    def generate(context, builder, signature, arguments):
        place, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        pointer = builder.gep(builder.inttoptr(arguments[0], ir.IntType(16).as_pointer()), [arguments[1]])
        signature_of = ir.FunctionType(ir.VoidType(), [place, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, signature_of, "llvm.prefetch.p0i8")
        read, keep, data = number(0), number(3), number(1)
        builder.call(function, [builder.bitcast(pointer, place), read, keep, data])
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64), generate


@compiled
def _place(starts, row):  # pragma: no cover - compiled
    """Return the part that holds a row, and the row's number there; starts: the first rows of the parts, and the number of rows.

    Parts are about equal, so the first guess is hardly ever wrong.
    """
    last = len(starts) - 2
    part = min(last, np.int64(np.float64(row) * (last + 1) / np.float64(starts[last + 1])))
    while starts[part] > row:
        part -= 1
    while starts[part + 1] <= row:
        part += 1
    return part, row - starts[part]


@compiled
def _addresses(starts, widths, bases, rows):  # pragma: no cover - compiled
    """Return the addresses of rows, by layer, row and kind; bases: those of arrays by kind, layer and part."""
    found = np.empty((len(widths), len(rows), 2), dtype=np.uint64)
    for number in range(len(rows)):
        part, row = _place(starts, rows[number])
        for layer in range(len(widths)):
            offset = np.uint64(2 * row * widths[layer])
            found[layer, number, 0] = bases[0, layer, part] + offset
            found[layer, number, 1] = bases[1, layer, part] + offset
    return found


@compiled
def _dot(starts, widths, bases, rows, query_terms, query_weights, wide, out):  # pragma: no cover - compiled
    at = _addresses(starts, widths, bases, rows)  # (L, k, 2)
    values = np.empty(len(query_terms), dtype=np.float32)  # of terms found in the layers before the last
    for number in range(len(rows)):
        total = np.float32(0)
        for layer in range(len(widths)):
            width = widths[layer]
            if number + AHEAD < len(rows):  # the search jumps about in a row; meanwhile later rows are fetched
                for position in range(0, width, max(LINE, width // LINE)):
                    prefetch(at[layer, number + AHEAD, 0], position)
            terms, bits = at[layer, number, 0], at[layer, number, 1]
            low = 0
            for position in range(len(query_terms)):  # they ascend, as the row's terms do
                value = values[position] if layer else np.float32(0)
                if value == 0:  # it stands in no layer before
                    term = query_terms[position]
                    high = width
                    while low < high:  # the first entry that is not below the term
                        middle = (low + high) // 2
                        if load(terms, middle) < term:
                            low = middle + 1
                        else:
                            high = middle
                    if low < width and load(terms, low) == term:
                        value = wide[load(bits, low)]
                if layer == len(widths) - 1:  # in the order of the query's terms, whichever layers they stand in
                    total += query_weights[position] * value
                else:
                    values[position] = value
        out[number] = total


@compiled
def _copy(starts, widths, bases, rows, layer, terms, bits):  # pragma: no cover - compiled
    for number in range(len(rows)):
        part, row = _place(starts, rows[number])
        offset = np.uint64(2 * row * widths[layer])
        for position in range(widths[layer]):
            terms[number, position] = load(bases[0, layer, part] + offset, position)
        for position in range(widths[layer]):
            bits[number, position] = load(bases[1, layer, part] + offset, position)


@compiled
def _differing(starts, width, bases, layer, sums, rows, odd):  # pragma: no cover - compiled
    """Return the first row of a layer that has another checksum than `row_sums` gave it, or -1; odd: its factors."""
    for number in range(len(rows)):
        if number + 1 < len(rows):  # a processor fetches ahead by itself, but not beyond a page
            part, row = _place(starts, rows[number + 1])
            offset = np.uint64(2 * row * width)
            for position in range(0, width, LINE):
                prefetch(bases[0, layer, part] + offset, position)
                prefetch(bases[1, layer, part] + offset, position)
        part, row = _place(starts, rows[number])
        terms = bases[0, layer, part] + np.uint64(2 * row * width)
        bits = bases[1, layer, part] + np.uint64(2 * row * width)
        total = np.uint64(0)
        for position in range(width):
            word = np.uint64(1) + np.uint64(load(terms, position)) + (np.uint64(load(bits, position)) << np.uint64(16))
            total += word * odd[position]
        if total != load_sum(sums[layer, part], row):
            return rows[number]
    return -1


class Rows:
    """Rows of vectors in arrays: for each layer a list of (terms, weights), one of each part.

    starts: the parts' first rows, and the number of all rows.
    """

    def __init__(self, starts, layers: list[list[tuple[np.ndarray, np.ndarray]]]):
        self._arrays = layers  # what has an address must stay
        self.starts = np.array(starts, dtype=np.int64)  # (P + 1,)
        self.widths = np.array([parts[0][TERMS].shape[1] if parts else 0 for parts in layers], dtype=np.int64)  # (L,)
        self.bases = np.array(
            [[[part[kind].ctypes.data for part in parts] for parts in layers] for kind in (TERMS, WEIGHTS)], dtype=np.uint64
        ).reshape(2, len(layers), len(starts) - 1)  # (2, L, P)

    def dot(self, rows: np.ndarray, query: QueryVector) -> np.ndarray:
        """Return sim(q, d) of some rows; a term that a vector does not keep counts nothing."""
        out = np.empty(len(rows), dtype=np.float32)  # (k,)
        _dot(self.starts, self.widths, self.bases, rows, query.terms, query.weights, WIDE, out)
        return out

    def copied(self, rows: np.ndarray) -> "Rows":
        """Return copies of some rows."""
        layers = []
        for layer, width in enumerate(self.widths.tolist()):
            terms, bits = (np.empty((len(rows), width), dtype=np.uint16) for _ in ARRAYS)  # (k, width) each
            _copy(self.starts, self.widths, self.bases, rows, layer, terms, bits)
            layers.append([(terms, bits)])
        return Rows([0, len(rows)], layers)


class Lookup:
    """The rows of a store, mapped: announced before they are read, and compared with their checksums when they are first read.

    Threads share it. Files that several stores of a process read are mapped once.
    """

    def __init__(self, store: Store):
        self.store, self.parts = store, [part for part in store.parts if part.documents]
        layers = range(len(self.parts[0].layers) if self.parts else 0)
        _allow(len(FILES) * DESCRIPTORS * len(layers) * len(self.parts))
        self.mapped = [[_mapped(part, part.layers[layer]) for part in self.parts] for layer in layers]  # layer, part, kind
        arrays = [[tuple(file.array for file in files) for files in parts] for parts in self.mapped]
        self._starts = [part.start for part in self.parts]
        self.rows = Rows([*self._starts, len(store)], arrays)
        self._sums = np.array([[files[2].ctypes.data for files in parts] for parts in arrays], dtype=np.uint64)  # (L, P)
        self._factors = [factors(width) for width in self.rows.widths.tolist()]
        self.seen = np.zeros(len(store), dtype=bool)  # (n,), rows that have been compared

    def positions(self, doc_ids: list[str]) -> np.ndarray:
        """Return the rows of some documents, announced and compared, so that they can be read now."""
        rows = self.store.positions(doc_ids)  # (k,)
        self.announce(rows)
        self.compare(rows)
        return rows

    def announce(self, rows: np.ndarray) -> None:
        """Announce that these rows will be read now, unless they are in memory: a few are looked at, in the first layer.

        Rows are always announced if the system cannot tell (some network file systems). This takes some microseconds a row,
        but a row that must be read takes a thousand times as long there.
        """
        if not len(rows) or self._in_memory(rows[:: -(-len(rows) // LOOK_AT)]):
            return
        places = np.searchsorted(self._starts, rows, side="right") - 1  # (k,)
        for part in np.unique(places).tolist():
            inside = rows[places == part] - self._starts[part]  # (m,)
            for files in self.mapped:
                for file in files[part]:
                    file.announce(inside)

    def _in_memory(self, rows: np.ndarray) -> bool:
        files = self.mapped[0]
        return all(files[part][TERMS].holds(row - self._starts[part]) for part, row in map(self._place, rows.tolist()))

    def _place(self, row: int) -> tuple[int, int]:
        """Return the part that holds a row, and the row."""
        return bisect_right(self._starts, row) - 1, row

    def compare(self, rows: np.ndarray) -> None:
        """Refuse rows (k,) that are not as they were written; each is compared when it is first read."""
        fresh = rows[~self.seen[rows]]  # (m,)
        if not fresh.size:
            return
        for layer, odd in enumerate(self._factors):
            row = _differing(self.rows.starts, self.rows.widths[layer], self.rows.bases, layer, self._sums, fresh, odd)
            if row >= 0:
                self._refuse(layer, int(row))
        self.seen[fresh] = True

    def _refuse(self, layer: int, row: int) -> None:
        part = self.parts[self._place(row)[0]]
        seals.refuse(part.path)
        name, folder = self.store.ids(slice(row, row + 1))[0], part.path / part.layers[layer].folder
        raise InputError(f"{folder}: the vector of document {name} is not the one that was written; {seals.again(part.path)}")


_open: WeakValueDictionary = WeakValueDictionary()  # maps by path


def _mapped(part, layer) -> tuple[Mapped, ...]:
    """Map the files of a layer, or share the maps of another store: rows that differ in their first stage read the same ones."""
    found = []
    for name, kind in FILES.items():
        path = part.path / layer.folder / name
        state = path.stat()
        key = str(path.absolute()), state.st_ino, state.st_mtime_ns
        file = _open.get(key)
        if file is None:
            shape = (part.documents, 1 if name == SUMS else layer.width)
            file = _open[key] = Mapped(path, kind, shape)
        found.append(file)
    return tuple(found)


def _allow(files: int) -> None:
    """Let this process open so many files more, as far as the system lets it: a store of 64 shards has hundreds."""
    with suppress(ValueError, OSError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY:
            more = soft + files
            resource.setrlimit(resource.RLIMIT_NOFILE, (more if hard == resource.RLIM_INFINITY else min(more, hard), hard))
