"""Document stores of ir_datasets, built in memory that large collections leave free; the files are those that ir_datasets writes.

It keeps all ids as Python's strings until the last document is there, then sorts them, encodes them and makes an array of them:
30 million ids of 40 letters would take more than 10 GB. Here they lie packed in arrays from the beginning. The parts of its
stores that are used are not documented; its version is pinned, and a test compares the files.
"""

import logging
from array import array
from pathlib import Path

import numpy as np

from epic.core.log import progress

log = logging.getLogger(__name__)
AT_A_TIME = 1 << 20  # ids


def build_store(store) -> None:
    """Build a store of ir_datasets as its own `build` does; call this alone."""
    from ir_datasets.indices import PickleLz4FullStore
    from ir_datasets.util import check_disk_free

    if not isinstance(store, PickleLz4FullStore):
        store.build()
        return
    if store.size_hint:
        check_disk_free(store.path, store.size_hint)
    log.info("building the store in %s", store.path)
    count = store.count_hint() if callable(store.count_hint) else store.count_hint
    with store.lookup.transaction() as writing:
        writing.pos, writing.idxs = Places(writing.pos.path), [Ids(index.path) for index in writing.idxs]
        for document in progress(store.init_iter_fn(), total=count, desc="documents", unit="document"):
            writing.add(document)


class Places:
    """Where documents begin, in their order: what ir_datasets' NumpyPosIndex writes."""

    def __init__(self, path):
        self.path, self._places = Path(path), array("q")

    def add(self, place: int) -> None:
        """Add a document."""
        self._places.append(place)

    def commit(self) -> None:
        """Write the file."""
        np.frombuffer(self._places, np.int64).tofile(self.path)
        self.close()

    def close(self) -> None:
        """Forget all documents."""
        self._places = array("q")


class Ids:
    """Where documents begin, by their ids: what ir_datasets' NumpySortedIndex writes; of several with an id, the last."""

    def __init__(self, path):
        self.path, self._some, self._packed, self._places = path, [], [], array("q")

    def add(self, doc_id: str, place: int) -> None:
        """Add a document."""
        self._some.append(doc_id.encode())
        self._places.append(place)
        if len(self._some) == AT_A_TIME:
            self._pack()

    def _pack(self) -> None:
        self._packed.append(np.array(self._some, dtype=np.bytes_))  # as wide as the longest of them
        self._some = []

    def commit(self) -> None:
        """Sort the ids and write the three files; the one that says how many there are is the last."""
        self._pack()
        ids, places = self._table(), np.frombuffer(self._places, np.int64)  # (n,)
        order, count = np.argsort(ids, kind="stable"), 0  # (n,)
        with open(f"{self.path}.key", "wb") as keys, open(f"{self.path}.pos", "wb") as firsts:
            for start in range(0, len(order), AT_A_TIME):
                rows = order[start : start + AT_A_TIME + 1]  # (m+1,) and the next one, or (m,) at the end
                some = ids[rows]
                last = np.append(some[:-1] != some[1:], len(rows) <= AT_A_TIME)[:AT_A_TIME]  # (m,) of those with an id, its last
                some[: len(last)][last].tofile(keys)
                places[rows[: len(last)][last]].tofile(firsts)
                count += int(last.sum())
        Path(f"{self.path}.meta").write_text(f"{ids.dtype.itemsize} {count}")
        self.close()

    def _table(self) -> np.ndarray:
        """Return all ids (n,); the packed ones are given up on the way, so that they are not there twice."""
        width = max(some.dtype.itemsize for some in self._packed)
        ids, end = np.empty(len(self._places), f"S{width}"), len(self._places)  # (n,)
        while self._packed:
            some = self._packed.pop()
            ids[end - len(some) : end] = some
            end -= len(some)
        return ids

    def close(self) -> None:
        """Forget all documents."""
        self._some, self._packed, self._places = [], [], array("q")
