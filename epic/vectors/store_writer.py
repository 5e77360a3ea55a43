"""A writer of vector stores, apart from what reads them: changing how rows are looked up is no reason to encode again."""

import hashlib
from pathlib import Path

import numpy as np

from epic.core.files import InputError, sha256_of, write_json
from epic.model.query_vector import MAX_VOCABULARY
from epic.vectors import store_ids as ids
from epic.vectors.layer_rows import split
from epic.vectors.layers import Layer, planned
from epic.vectors.row_sums import factors, row_sums
from epic.vectors.store_header import ARRAYS, LAYERED, PLAIN, SUMS

ROWS_AT_A_TIME = 256  # so few that they stay in the processor's cache while they are split


class StoreWriter:
    """A writer of rows in document order, each byte once; `close` adds the header, without which the folder is no store.

    keep: terms of a passage, for a plain store, or a list of such numbers, for one with a layer for each.
    """

    def __init__(self, path, keep: int | list[int] | tuple[int, ...], vocabulary: int, model: str, start: int = 0):
        if vocabulary > MAX_VOCABULARY:
            raise InputError(f"{vocabulary} vocabulary entries do not fit 16-bit term ids")
        self.path = Path(path)
        self.path.mkdir()
        self._plain = isinstance(keep, int)
        self._layers = [Layer(min(keep, vocabulary))] if self._plain else planned(keep, vocabulary)
        self.keep, self.vocabulary, self.model, self.start = self._layers[-1].keep, vocabulary, model, start
        self._files = [LayerFiles(self.path, layer) for layer in self._layers]
        self._ids = ids.IdWriter(self.path, start)

    def add(self, doc_ids: list[str], terms: np.ndarray, weights: np.ndarray) -> None:
        """Append rows: terms (n, keep) ascending, weights (n, keep) float16."""
        if terms.shape != (len(doc_ids), self.keep) or terms.shape != weights.shape:
            raise ValueError(f"{len(doc_ids)} documents, terms {terms.shape}, weights {weights.shape}, keep {self.keep}")
        arrays = [np.ascontiguousarray(rows, dtype=dtype) for rows, dtype in zip((terms, weights), ARRAYS.values(), strict=True)]
        for start in range(0, len(doc_ids), ROWS_AT_A_TIME):
            rows = (array[start : start + ROWS_AT_A_TIME] for array in arrays)  # (m, keep) each
            for files, part in zip(self._files, split(*rows, self._layers), strict=True):
                files.add(*part)
        self._ids.add(doc_ids)

    def close(self, *others: str) -> int:
        """Write ids and header, with checksums of these and of other files in the folder; return the number of documents."""
        sums, width = {}, self._ids.close()
        for files in self._files:
            sums |= files.close()
        if width is not None:
            others += ids.FILES
        sums |= {name: sha256_of(self.path / name) for name in others}
        header = {"format": PLAIN if self._plain else LAYERED, "documents": self._ids.count, "keep": self.keep}
        header |= {"vocabulary": self.vocabulary, "model": self.model, "start": self.start, "ids_width": width}
        if not self._plain:
            header["layers"] = [layer._asdict() for layer in self._layers]
        write_json(self.path / "header.json", header | {"sha256": sums})
        return self._ids.count


class LayerFiles:
    """The files of a layer while they are written: terms, weights, and a checksum of each row."""

    def __init__(self, store: Path, layer: Layer):
        self.folder, self._prefix = store / layer.folder, f"{layer.folder}/" if layer.folder else ""
        self.folder.mkdir(exist_ok=True)
        self._files = {name: open(self.folder / name, "wb") for name in (*ARRAYS, SUMS)}  # noqa: SIM115 - close() does
        self._sums = {name: hashlib.sha256() for name in self._files}
        self._factors = factors(layer.width)

    def add(self, terms: np.ndarray, weights: np.ndarray) -> None:
        """Append rows (n, width)."""
        sums = row_sums(terms, weights, np.arange(len(terms)), self._factors)  # (n,)
        for name, data in zip(self._files, (terms, weights, sums), strict=True):
            self._files[name].write(data)
            self._sums[name].update(data)

    def close(self) -> dict[str, str]:
        """Return the checksums of the files, by name."""
        for stream in self._files.values():
            stream.close()
        return {self._prefix + name: found.hexdigest() for name, found in self._sums.items()}
