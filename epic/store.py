"""Passage vectors on disk: two plain arrays of fixed width, memory-mapped, and a small header.

header.json    documents, keep, vocabulary, model digest, checksums, first position in the collection
terms.u16      term ids, ascending in each row
weights.f16    their weights
ids.txt        document ids, one a line, only where they are not 0..n-1
"""

import math
from pathlib import Path

import numpy as np

from epic.files import InputError, read_json, sha256_of, write_json

FORMAT = "epic-vectors-1"


def model_digest(checkpoint) -> str:
    """What ties vectors to the model that made them: the sha256 of its weights."""
    return sha256_of(Path(checkpoint) / "model.safetensors")


def finite(doc_id: str, weights: np.ndarray) -> None:
    """Refuse a passage whose weights do not fit float16: nothing is stored or scored in its place."""
    if not np.isfinite(weights).all():
        raise InputError(f"document {doc_id} has a weight that is not finite in float16; is the model trained to the end?")


def open_store(path, checkpoint) -> "Store":
    """A store made by this very checkpoint."""
    store, digest = Store(path), model_digest(checkpoint)
    if store.model != digest:
        raise InputError(f"{path} was made by the model {store.model[:12]}, not {digest[:12]} of {checkpoint}; encode again")
    return store


class Store:
    """A read-only store; opening checks the header and the sizes of the files."""

    def __init__(self, path):
        self.path = Path(path)
        if not (self.path / "header.json").exists():
            raise InputError(f"{path}: not a vector store (no header.json); delete it and run again")
        header = read_json(self.path / "header.json")
        if header.get("format") != FORMAT:
            raise InputError(f"{path}: format {header.get('format')!r}, this program reads {FORMAT}")
        self.documents, self.keep, self.vocabulary = header["documents"], header["keep"], header["vocabulary"]
        self.model, self.start, self.sums = header["model"], header["start"], header["sha256"]
        self.terms = self._map("terms.u16", np.uint16)  # (documents, keep)
        self.weights = self._map("weights.f16", np.float16)  # (documents, keep)
        ids = self.path / "ids.txt"
        self._ids = ids.read_text(encoding="utf-8").split("\n")[:-1] if ids.exists() else None
        self._positions = {doc_id: row for row, doc_id in enumerate(self._ids)} if self._ids else None

    def _map(self, name: str, dtype):
        path, shape = self.path / name, (self.documents, self.keep)
        expected = math.prod(shape) * np.dtype(dtype).itemsize
        found = path.stat().st_size if path.exists() else 0
        if found != expected:
            raise InputError(f"{path}: {found} bytes, the header promises {expected}; delete {self.path} and run again")
        if expected == 0:
            return np.empty(shape, dtype)  # an empty file cannot be mapped
        return np.memmap(path, dtype=dtype, mode="r", shape=shape)

    def __len__(self) -> int:
        return self.documents

    def ids(self, rows: slice) -> list[str]:
        """Document ids of some rows."""
        if self._ids is not None:
            return self._ids[rows]
        return [str(self.start + row) for row in range(rows.start, rows.stop)]

    def positions(self, doc_ids) -> np.ndarray:
        """Rows of the documents; one without a vector is an error."""
        try:
            if self._positions is not None:
                return np.array([self._positions[doc_id] for doc_id in doc_ids], dtype=np.int64)
            rows = np.array([int(doc_id) - self.start for doc_id in doc_ids], dtype=np.int64)
        except (KeyError, ValueError) as error:
            raise InputError(f"{self.path}: no vector for document {error}") from error
        outside = (rows < 0) | (rows >= self.documents)
        if outside.any():
            raise InputError(f"{self.path}: no vector for document {doc_ids[int(outside.argmax())]}")
        return rows

    def verify(self) -> None:
        """Compare the checksums of the files with those in the header."""
        for name, expected in self.sums.items():
            if sha256_of(self.path / name) != expected:
                raise InputError(f"{self.path / name}: the content has changed; delete {self.path} and run again")


class StoreWriter:
    """Writes rows in document order into a folder; `close` adds the header, without which it is no store."""

    def __init__(self, path, keep: int, vocabulary: int, model: str, start: int = 0):
        if vocabulary > 65_535:
            raise InputError(f"{vocabulary} vocabulary entries do not fit 16-bit term ids")
        self.path = Path(path)
        self.path.mkdir()
        self.keep, self.vocabulary, self.model, self.start = min(keep, vocabulary), vocabulary, model, start
        self._terms = open(self.path / "terms.u16", "wb")  # noqa: SIM115 - closed by close()
        self._weights = open(self.path / "weights.f16", "wb")  # noqa: SIM115
        self._ids: list[str] = []

    def add(self, doc_ids, terms: np.ndarray, weights: np.ndarray) -> None:
        """Append rows: terms (n, keep) ascending, weights (n, keep) float16."""
        if terms.shape != (len(doc_ids), self.keep) or terms.shape != weights.shape:
            raise ValueError(f"{len(doc_ids)} documents, terms {terms.shape}, weights {weights.shape}, keep {self.keep}")
        self._terms.write(np.ascontiguousarray(terms, dtype=np.uint16).tobytes())
        self._weights.write(np.ascontiguousarray(weights, dtype=np.float16).tobytes())
        self._ids += doc_ids

    def close(self) -> int:
        """Write ids and header; returns the number of documents."""
        self._terms.close()
        self._weights.close()
        names = ["terms.u16", "weights.f16"]
        if self._ids != [str(self.start + i) for i in range(len(self._ids))]:
            (self.path / "ids.txt").write_text("".join(f"{doc_id}\n" for doc_id in self._ids), encoding="utf-8")
            names.append("ids.txt")
        header = {"format": FORMAT, "documents": len(self._ids), "keep": self.keep, "vocabulary": self.vocabulary}
        header |= {"model": self.model, "start": self.start, "sha256": {name: sha256_of(self.path / name) for name in names}}
        write_json(self.path / "header.json", header)
        return len(self._ids)
