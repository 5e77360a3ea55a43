"""Passage vectors on disk: plain arrays of fixed width, memory-mapped, and a small header (`store_header`).

terms.u16      term ids, ascending in each row
weights.f16    their weights
sums.u64       a checksum of each row (`row_sums`), compared when the row is first read
ids.bytes      document ids with order.i64 (`store_ids`), only if they are not the numbers from the first position on

A store's rows lie in the store itself, in layers (folders named by the number of kept terms), or in the layers of shards that
its header names: so nothing is written twice. `stored_rows` looks rows up; here they are read from first to last.
"""

import hashlib
import os
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

import numpy as np

from epic.core import seals
from epic.core.discarded import refuse_discarded
from epic.core.files import InputError, sha256_of
from epic.model.checkpoint import model_digest
from epic.vectors import store_ids as ids
from epic.vectors.layer_rows import merged
from epic.vectors.layers import Layer, chain
from epic.vectors.store_header import ARRAYS, SUMS, Header, Shard, read_header

UNKNOWN = "unknown"  # the model of vectors that were imported without one


def open_store(path, checkpoint) -> "Store":
    """Open a store made by this very checkpoint."""
    store, digest = Store(path), model_digest(checkpoint)
    if store.model == UNKNOWN:
        raise InputError(f"{path} was imported without its model; repeat epic import-vectors with --checkpoint {checkpoint}")
    if store.model != digest:
        raise InputError(f"{path} was made by the model {store.model[:12]}, not {digest[:12]} of {checkpoint}; encode again")
    return store


class Store:
    """A read-only store; opening checks headers and the sizes of files, whatever their number of rows.

    keep: of a store with layers, the number of kept terms that is read; the largest if none is given.
    """

    def __init__(self, path, keep: int | None = None):
        self.path = Path(path)
        refuse_discarded(self.path)
        self.header = read_header(self.path)
        self.documents, self.vocabulary, self.model, self.start = (
            getattr(self.header, name) for name in ("documents", "vocabulary", "model", "start")
        )
        self.keep = self.header.keep if keep is None or self.header.shards else keep
        if self.header.shards:
            self.parts = [_opened(self, shard) for shard in self.header.shards]
        else:
            self.parts = [Part(self.path, 0, self.header, chain(self.header.layers, self.keep))]
        self._check_own_files()

    def _check_own_files(self) -> None:
        sizes = {} if self.header.shards else _sizes(self.header.layers, self.documents)  # also of layers that are not read
        if self.header.ids_width is not None:
            sizes |= dict(zip(ids.FILES, (self.documents * self.header.ids_width, self.documents * 8), strict=True))
        _check_sizes(self.path, self.header, sizes)
        if absent := sorted(name for name in self.header.sums if not (self.path / name).is_file()):
            raise InputError(f"{self.path}/header.json: there is no {absent[0]!r:.60}; {seals.again(self.path)}")

    @cached_property
    def _ids(self) -> ids.Named | ids.Numbered:
        if self.header.ids_width is None or not self.documents:
            return ids.Numbered(self.start, self.documents)
        return ids.Named(self.path, self.documents, self.header.ids_width)

    def __len__(self) -> int:
        return self.documents

    def ids(self, rows: slice) -> list[str]:
        """Return document ids of some rows."""
        return self._ids.of(rows)

    def positions(self, doc_ids) -> np.ndarray:
        """Return the rows of the documents; refuse a document without a vector."""
        doc_ids = list(doc_ids)
        rows = self._ids.rows(doc_ids)  # (k,)
        if len(rows) and rows.min() < 0:
            raise InputError(f"{self.path}: no vector for document {doc_ids[int(rows.argmin())]!r}")
        return rows

    @property
    def files(self) -> list[Path]:
        """All files that rows and ids are read from, but for those of empty parts."""
        own = [self.path / name for name in ids.FILES if self.header.ids_width is not None]
        return own + [part.path / name for part in self.parts if part.documents for name in _sizes(part.layers, 0)]

    @cached_property
    def _vectors(self) -> tuple[np.ndarray, np.ndarray]:
        found = list(zip(*(block[1:] for block in self.blocks(max(1, self.documents))), strict=True))
        return tuple(map(np.concatenate, found)) if found else tuple(np.empty((0, self.keep), kind) for kind in ARRAYS.values())

    @property
    def terms(self) -> np.ndarray:
        """Term ids (documents, keep) of a store that fits into memory."""
        return self._vectors[0]

    @property
    def weights(self) -> np.ndarray:
        """Weights (documents, keep) of a store that fits into memory."""
        return self._vectors[1]

    def blocks(self, size: int):
        """Yield (ids, terms, weights) of `size` rows at a time from first to last, read once, and checked while read.

        The other files, which are small, are checked before the first row.
        """
        self.verify_small_files()
        for part in self.parts:
            for rows, terms, weights in part.blocks(size):
                yield self.ids(slice(part.start + rows.start, part.start + rows.stop)), terms, weights

    def verify(self) -> None:
        """Compare the checksums of all files that are read with those in the headers; of shards by themselves, all files."""
        for name in self.header.sums:
            same(self.path, self.header, name, sha256_of(self.path / name))
        for part in self.parts if self.header.shards else ():
            for name in _sizes(part.layers, 0):
                same(part.path, part.header, name, sha256_of(part.path / name))

    def verify_small_files(self) -> None:
        """Compare the checksums of files in the store that hold no rows: ids, counts and so on."""
        for name in self.header.sums:
            if Path(name).name not in (*seals.BY_ROW, SUMS):
                same(self.path, self.header, name, sha256_of(self.path / name))


class Part:
    """Rows of a store that lie in one folder."""

    def __init__(self, path: Path, start: int, header: Header, layers: tuple[Layer, ...]):
        self.path, self.start, self.header, self.layers = path, start, header, layers
        self.documents = header.documents
        if not layers:
            raise InputError(f"{path} has no layer of so many terms; there are {[layer.keep for layer in header.layers]}")
        _check_sizes(path, header, _sizes(layers, header.documents))

    def blocks(self, size: int):
        """Yield (rows, terms, weights) of `size` rows at a time, from all layers, checked while read."""
        for layer in self.layers:
            same(self.path, self.header, _prefix(layer) + SUMS, sha256_of(self.path / layer.folder / SUMS))
        files = [(_prefix(layer) + name, kind, layer.width) for layer in self.layers for name, kind in ARRAYS.items()]
        sums = {name: hashlib.sha256() for name, _, _ in files}
        with ExitStack() as stack:
            streams = {name: stack.enter_context(open(self.path / name, "rb")) for name in sums}
            for start in range(0, self.documents, size):
                rows = slice(start, min(start + size, self.documents))
                read = []
                for name, kind, width in files:
                    array = np.fromfile(streams[name], kind, (rows.stop - rows.start) * width)
                    sums[name].update(array)
                    read.append(array.reshape(-1, width))  # (n, width)
                if any((terms[:, -1] >= self.header.vocabulary).any() for terms in read[::2]):  # the last is the largest
                    raise InputError(f"{self.path}: a term beyond the vocabulary of {self.header.vocabulary}; make it again")
                yield rows, *merged(list(zip(read[::2], read[1::2], strict=True)))
        for name, found in sums.items():
            same(self.path, self.header, name, found.hexdigest())


def _opened(store: Store, shard: Shard) -> Part:
    """Open a shard that a gathered store names; it must still be the one that was gathered."""
    path = Path(os.path.normpath(store.path / shard.path))  # by name: folders on the way may be links to other disks
    refuse_discarded(path)
    if not (path / seals.HEADER).exists():
        raise InputError(f"{store.path}: its shard {path} is not there; {seals.again(path)}, or copy it along with the store")
    header = read_header(path)
    if sha256_of(path / seals.HEADER) != shard.header:
        raise InputError(f"{path} is not the shard that {store.path} was gathered from; {seals.again(store.path)}")
    if header.shards or (header.documents, header.start) != (shard.documents, shard.start):
        raise InputError(f"{store.path}/header.json: the shard {path} has other documents; {seals.again(store.path)}")
    if (layers := chain(header.layers, store.keep)) != store.header.layers or header.vocabulary != store.vocabulary:
        raise InputError(f"{store.path}/header.json: the shard {path} has other layers; {seals.again(store.path)}")
    return Part(path, shard.start, header, layers)


def same(path: Path, header: Header, name: str, found: str) -> None:
    """Refuse a file whose checksum is not that of the header."""
    if found != header.sums[name]:
        seals.refuse(path)
        raise InputError(f"{path / name}: the content has changed; {seals.again(path)}")


def _prefix(layer: Layer) -> str:
    return f"{layer.folder}/" if layer.folder else ""


def _sizes(layers, documents: int) -> dict[str, int]:
    """Return the bytes of the files of some layers, by name."""
    sizes = {}
    for layer in layers:
        for name, kind in ARRAYS.items():
            sizes[_prefix(layer) + name] = documents * layer.width * np.dtype(kind).itemsize
        sizes[_prefix(layer) + SUMS] = documents * 8
    return sizes


def _check_sizes(path: Path, header: Header, sizes: dict[str, int]) -> None:
    for name, expected in sizes.items():
        file = path / name
        found = file.stat().st_size if file.exists() else 0
        if found != expected:
            raise InputError(f"{file}: {found} bytes, the header promises {expected}; {seals.again(path)}")
        if name not in header.sums:
            raise InputError(f"{path}/header.json has no checksum of {name}; {seals.again(path)}")
