"""Passage vectors on disk: two plain arrays of fixed width, memory-mapped, and a small header.

header.json    documents, keep, vocabulary, model digest, checksums, first position in the collection
terms.u16      term ids, ascending in each row
weights.f16    their weights
sums.u64       a checksum of each row (`row_sums`), compared when the row is first read
ids.bytes      document ids with order.i64 (`store_ids`), only if they are not the numbers from the first position on
"""

import hashlib
from functools import cached_property
from pathlib import Path

import numpy as np

from epic.core import seals
from epic.core.discarded import refuse_discarded
from epic.core.files import InputError, read_json, sha256_of, write_json
from epic.core.mapped import Mapped, announce
from epic.model.checkpoint import model_digest
from epic.model.query_vector import MAX_VOCABULARY
from epic.vectors import store_ids as ids
from epic.vectors.row_sums import factors, row_sums

UNKNOWN = "unknown"  # the model of vectors that were imported without one
FORMAT = "epic-vectors-3"
KEYS = {"format", "documents", "keep", "vocabulary", "model", "start", "ids_width", "sha256"}
ARRAYS = {"terms.u16": np.uint16, "weights.f16": np.float16}
SUMS = "sums.u64"
MOST, WIDEST = 10**12, 10**6  # rows, positions and so on; bytes of an id


def open_store(path, checkpoint) -> "Store":
    """Open a store made by this very checkpoint."""
    store, digest = Store(path), model_digest(checkpoint)
    if store.model == UNKNOWN:
        raise InputError(f"{path} was imported without its model; repeat epic import-vectors with --checkpoint {checkpoint}")
    if store.model != digest:
        raise InputError(f"{path} was made by the model {store.model[:12]}, not {digest[:12]} of {checkpoint}; encode again")
    return store


class Store:
    """A read-only store; opening checks the header and the sizes of the files, whatever their number of rows."""

    def __init__(self, path):
        self.path = Path(path)
        refuse_discarded(self.path)
        if not (self.path / "header.json").exists():
            raise InputError(f"{path}: not a vector store (it has no header.json); {seals.again(path)}")
        header = read_json(self.path / "header.json")
        found = header.get("format") if isinstance(header, dict) else None
        if found != FORMAT:
            raise InputError(f"{path}: format {found!r:.40}, this program reads {FORMAT}; {seals.again(path)}")
        if absent := sorted(KEYS - header.keys()):
            raise InputError(f"{path}/header.json has no {absent[0]}; {seals.again(path)}")
        _check_header(self.path, header)
        self.documents, self.keep, self.vocabulary = header["documents"], header["keep"], header["vocabulary"]
        self.model, self.start, self.sums, width = header["model"], header["start"], header["sha256"], header["ids_width"]
        sizes = {name: self.documents * self.keep * np.dtype(dtype).itemsize for name, dtype in ARRAYS.items()}
        sizes[SUMS] = self.documents * 8
        if width is not None:
            sizes |= dict(zip(ids.FILES, (self.documents * width, self.documents * 8), strict=True))
        self._check(sizes)
        self._ids_width = width

    @cached_property
    def mapped(self) -> list[Mapped]:
        """The two arrays, mapped when they are first asked for: reading from first to last needs no map."""
        return [Mapped(self.path / name, dtype, (self.documents, self.keep)) for name, dtype in ARRAYS.items()]

    @property
    def terms(self) -> np.ndarray:
        """Term ids (documents, keep)."""
        return self.mapped[0].array

    @property
    def weights(self) -> np.ndarray:
        """Weights (documents, keep)."""
        return self.mapped[1].array

    @cached_property
    def _ids(self) -> ids.Named | ids.Numbered:
        if self._ids_width is None or not self.documents:
            return ids.Numbered(self.start, self.documents)
        return ids.Named(self.path, self.documents, self._ids_width)

    def _check(self, sizes: dict[str, int]) -> None:
        for name, expected in sizes.items():
            path = self.path / name
            found = path.stat().st_size if path.exists() else 0
            if found != expected:
                raise InputError(f"{path}: {found} bytes, the header promises {expected}; {seals.again(self.path)}")
            if name not in self.sums:
                raise InputError(f"{self.path}/header.json has no checksum of {name}; {seals.again(self.path)}")
        if absent := sorted(name for name in self.sums if not (self.path / name).is_file()):
            raise InputError(f"{self.path}/header.json: there is no {absent[0]!r:.60}; {seals.again(self.path)}")

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

    @cached_property
    def _compared(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which rows have been compared (n,), the checksums of all rows (n, 1), and the factors that make them (keep,)."""
        sums = Mapped(self.path / SUMS, np.uint64, (self.documents, 1)).array  # (n, 1)
        return np.zeros(self.documents, dtype=bool), sums, factors(self.keep)

    def compare(self, rows: np.ndarray) -> None:
        """Refuse rows (k,) that are not as they were written; each is compared when it is first read."""
        seen, sums, odd = self._compared
        if (fresh := rows[~seen[rows]]).size:  # (m,)
            good = row_sums(self.terms, self.weights, fresh, odd) == sums[fresh, 0]  # (m,)
            if not good.all():
                row = int(fresh[good.argmin()])
                seals.refuse(self.path)
                raise InputError(
                    f"{self.path}: the vector of document {self.ids(slice(row, row + 1))[0]} is not the one that was written; "
                    + seals.again(self.path)
                )
            seen[fresh] = True

    def announce(self, rows: np.ndarray) -> None:
        """Announce that these rows will be read now."""
        announce(rows, *self.mapped)

    def blocks(self, size: int):
        """Yield (ids, terms, weights) of `size` rows at a time from first to last, read once, and checked while read.

        The other files, which are small, are checked before the first row.
        """
        for name in self.sums.keys() - ARRAYS.keys():
            self._same(name, sha256_of(self.path / name))
        sums = {name: hashlib.sha256() for name in ARRAYS}
        with open(self.path / "terms.u16", "rb") as terms, open(self.path / "weights.f16", "rb") as weights:
            for start in range(0, self.documents, size):
                rows = slice(start, min(start + size, self.documents))
                read = []
                for stream, (name, dtype) in zip((terms, weights), ARRAYS.items(), strict=True):
                    array = np.fromfile(stream, dtype, (rows.stop - rows.start) * self.keep)
                    sums[name].update(array)
                    read.append(array.reshape(-1, self.keep))  # (n, keep)
                if (read[0][:, -1] >= self.vocabulary).any():  # terms ascend: the last is the largest
                    raise InputError(f"{self.path}: a term beyond the vocabulary of {self.vocabulary}; make it again")
                yield self.ids(rows), *read
        for name, found in sums.items():
            self._same(name, found.hexdigest())

    def verify(self) -> None:
        """Compare the checksums of all files with those in the header."""
        for name in self.sums:
            self._same(name, sha256_of(self.path / name))

    def _same(self, name: str, found: str) -> None:
        if found != self.sums[name]:
            seals.refuse(self.path)
            raise InputError(f"{self.path / name}: the content has changed; {seals.again(self.path)}")


def _check_header(path: Path, header: dict) -> None:
    """Refuse a header whose values are not of their kinds: sizes of files, positions and kernels depend on them."""
    documents, keep, vocabulary, start, width = (header[key] for key in ("documents", "keep", "vocabulary", "start", "ids_width"))
    if type(vocabulary) is int and vocabulary > MAX_VOCABULARY:
        raise InputError(f"{path}: {vocabulary} vocabulary entries do not fit 16-bit term ids")
    whole = all(type(number) is int and 0 <= number < MOST for number in (documents, keep, vocabulary, start))
    if not whole or not (1 <= keep <= vocabulary) or not (width is None or (type(width) is int and 1 <= width < WIDEST)):
        sizes = "documents, keep, vocabulary, start or ids_width"
        raise InputError(f"{path}/header.json: {sizes} is not a size that a store has; {seals.again(path)}")
    sums = header["sha256"]
    if not isinstance(header["model"], str) or not isinstance(sums, dict) or not all(map(_is_sum, sums.items())):
        raise InputError(f"{path}/header.json: model or sha256 is no digest; {seals.again(path)}")


def _is_sum(item: tuple) -> bool:
    """Tell whether this is the name of a file inside a store and its checksum."""
    name, found = item
    return Path(name).name == name and isinstance(found, str)


class StoreWriter:
    """A writer of rows in document order, each byte once; `close` adds the header, without which the folder is no store."""

    def __init__(self, path, keep: int, vocabulary: int, model: str, start: int = 0):
        if vocabulary > MAX_VOCABULARY:
            raise InputError(f"{vocabulary} vocabulary entries do not fit 16-bit term ids")
        self.path = Path(path)
        self.path.mkdir()
        self.keep, self.vocabulary, self.model, self.start = min(keep, vocabulary), vocabulary, model, start
        self._files = {name: open(self.path / name, "wb") for name in ARRAYS}  # noqa: SIM115 - close() does
        self._sums = {name: hashlib.sha256() for name in ARRAYS}
        self._row_sums = open(self.path / SUMS, "wb")  # noqa: SIM115 - close() does
        self._factors = factors(self.keep)
        self._ids = ids.IdWriter(self.path, start)

    def add(self, doc_ids: list[str], terms: np.ndarray, weights: np.ndarray) -> None:
        """Append rows: terms (n, keep) ascending, weights (n, keep) float16."""
        if terms.shape != (len(doc_ids), self.keep) or terms.shape != weights.shape:
            raise ValueError(f"{len(doc_ids)} documents, terms {terms.shape}, weights {weights.shape}, keep {self.keep}")
        arrays = [np.ascontiguousarray(rows, dtype=dtype) for rows, dtype in zip((terms, weights), ARRAYS.values(), strict=True)]
        for name, data in zip(ARRAYS, arrays, strict=True):
            self._files[name].write(data)
            self._sums[name].update(data)
        self._row_sums.write(row_sums(*arrays, np.arange(len(doc_ids)), self._factors))
        self._ids.add(doc_ids)

    def close(self, *others: str) -> int:
        """Write ids and header, with checksums of these and of other files in the folder; return the number of documents."""
        for stream in (*self._files.values(), self._row_sums):
            stream.close()
        sums, width = {name: found.hexdigest() for name, found in self._sums.items()}, self._ids.close()
        if width is not None:
            others += ids.FILES
        sums |= {name: sha256_of(self.path / name) for name in (SUMS, *others)}
        header = {"format": FORMAT, "documents": self._ids.count, "keep": self.keep, "vocabulary": self.vocabulary}
        header |= {"model": self.model, "start": self.start, "ids_width": width, "sha256": sums}
        write_json(self.path / "header.json", header)
        return self._ids.count
