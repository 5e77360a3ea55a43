"""The passages of a collection, by id and by position, from a store that is built once and then only read.

A few collections have documents with the same id: in CORD-19, rows about the same article. By the id the last of them is
found, as ir_datasets finds it; the others keep their positions, and have no text there.
"""

import logging
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np

from epic.core import seals
from epic.core.files import InputError, read_json
from epic.corpus.datasets import alone, home, load
from epic.corpus.folder import folder_of
from epic.corpus.store_builder import build_store

log = logging.getLogger(__name__)
LOOKED_UP_AT_ONCE = 10_000


class Documents:
    """The passages of a collection: by id, and by position for shards.

    Nothing is downloaded here. The rule `data` must have built the store of an ir_datasets id; the store of a folder
    is built if it is missing or damaged. Reading needs no lock and no place to write. The store is compared with its seal.

    field: the field of the documents that is their text; None for what the dataset takes for their text.
    """

    def __init__(self, dataset: str, field: str | None = None):
        self.dataset, self.field = dataset, field
        refuse_unknown_field(dataset, field)
        store = _store(dataset)
        if _has_changed(store) or not _is_whole(store):
            again = "snakemake results/EXPERIMENT/data/manifest.json --forcerun data --cores 1"
            if folder_of(dataset) is None:
                seals.check([store.path], remedy=f"build it again: {again}")
                raise InputError(
                    f"the documents of {dataset} are not built in {home()}; set IR_DATASETS_HOME to where they are, or build "
                    f"them on a machine with network: {again}"
                )
            with alone():
                store = build(dataset)
        self._store = store

    def __len__(self) -> int:
        return len(self._store.lookup)

    @property
    def folder(self) -> Path:
        """The folder of the store on disk."""
        return Path(self._store.path)

    def texts(self, doc_ids) -> list[str]:
        """Return texts in the order of `doc_ids`; refuse an unknown id."""
        found = self._store.get_many(set(doc_ids))
        missing = [doc_id for doc_id in doc_ids if doc_id not in found]
        if missing:
            raise InputError(f"{self.dataset} has no document {missing[0]} ({len(missing)} asked for are missing)")
        return [self._text(found[doc_id]) for doc_id in doc_ids]

    def unknown(self, doc_ids) -> list[str]:
        """Return those of `doc_ids` that are not in the collection, sorted."""
        wanted, absent = iter(set(doc_ids)), []
        while some := list(islice(wanted, LOOKED_UP_AT_ONCE)):
            absent += [doc_id for doc_id, first in zip(some, self._firsts(some), strict=True) if first < 0]
        return sorted(absent)

    def span(self, positions: range):
        """Yield (id, text) of the documents at `positions`, a contiguous range; one that its id does not find has no text."""
        found = iter(self._store.lookup)[positions.start : positions.stop]
        for position, doc in enumerate(found, start=positions.start):
            yield doc.doc_id, "" if position in self._hidden else self._text(doc)

    def rows(self):
        """Yield (id, text) of all documents, with the text also of one that its id does not find."""
        for doc in self._store:
            yield doc.doc_id, self._text(doc)

    def _text(self, doc) -> str:
        """Return the text of a document; empty if the field has none."""
        if self.field is None:
            return doc.default_text()
        text = getattr(doc, self.field)
        if text is not None and not isinstance(text, str):
            kind = type(text).__name__
            raise InputError(
                f"{self.dataset}: the field {self.field} of document {doc.doc_id} is a {kind}, no text; choose another data.field"
            )
        return text or ""

    @property
    def repeated(self) -> int:
        """The number of documents that are not found by their id, because one further on has it, too."""
        return len(self._hidden)

    @cached_property
    def _hidden(self) -> frozenset[int]:
        """The positions of these documents."""
        lookup = self._store.lookup
        if len(lookup.idx()) == len(lookup):
            return frozenset()
        firsts, found = (np.memmap(path, np.int64, "r") for path in (lookup._pos_path, f"{lookup._idx_path}.pos"))  # first bytes
        return frozenset(np.flatnonzero(~np.isin(firsts, found)).tolist())

    def positions(self, doc_ids) -> list[int]:
        """Return where documents stand in the collection, as `span` counts them; refuse an unknown id."""
        doc_ids = list(doc_ids)
        firsts = self._firsts(doc_ids)
        if -1 in firsts:
            raise InputError(f"{self.dataset} has no document {doc_ids[firsts.index(-1)]}")
        return np.searchsorted(np.memmap(self._store.lookup._pos_path, np.int64, "r"), firsts).tolist()

    def _firsts(self, doc_ids: list[str]) -> list[int]:
        """Return the first byte of each document, -1 of one that is not there; texts are not read."""
        lookup = self._store.lookup
        index, prefix = lookup.idx(), lookup._key_field_prefix or ""
        firsts = index[[doc_id.removeprefix(prefix) for doc_id in doc_ids]]
        for place, doc_id in enumerate(doc_ids):  # ir_datasets cuts off what is longer than any id, and zero bytes at the end
            key = doc_id.removeprefix(prefix)
            if not doc_id.startswith(prefix) or len(key.encode()) > index.keylen or key.endswith("\0"):
                firsts[place] = -1
        return firsts

    def places_of(self, doc_ids) -> np.ndarray:
        """Return the same as an array (k,)."""
        return np.array(self.positions(doc_ids), dtype=np.int64)


def open_documents(manifest) -> Documents:
    """Open the collection that a manifest describes; refuse one that has changed since."""
    facts = read_json(manifest)
    documents = Documents(facts["documents"], facts.get("field"))
    if len(documents) != facts["count"]:
        raise InputError(f"{manifest} speaks of {facts['count']} documents, {facts['documents']} has {len(documents)}")
    return documents


def refuse_unknown_field(dataset: str, field: str | None) -> None:
    """Refuse a field that a dataset's documents do not have, with those that they have; nothing is downloaded for that."""
    if field is None:
        return
    there = [name for name in _store(dataset)._doc_cls._fields if name != "doc_id"]
    if field not in there:
        known = f"there are {', '.join(there)}, or null for their usual text"
        raise InputError(f"data.field: the documents of {dataset} have no field {field}; {known}")


def build(dataset: str):
    """Build the document store of a dataset unless it is there as it was built; call this alone. It may download."""
    store = _store(dataset)
    if _has_changed(store) or not _is_whole(store):
        seals.unseal([store.path])
        _store(dataset).clear_cache()  # leftovers of a build that was killed: ir_datasets would append to them
        build_store(_store(dataset))
        store = _store(dataset)
        if not _is_whole(store):
            raise InputError(f"{dataset}: ir_datasets built a store in {store.path} that cannot be read; is its disk full?")
    if not seals.is_sealed(store.path):
        try:
            seals.seal([store.path], "data")
        except OSError as error:  # a store that others share can be read-only
            log.warning("%s gets no seal (%s), so that damage to it is not noticed", store.path, error.strerror)
    return store


def _has_changed(store) -> bool:
    """Tell whether a store differs from what was built; no, if it has no seal."""
    return seals.is_sealed(store.path) and seals.difference_of(Path(store.path)) is not None


def _store(dataset: str):
    """Return the store of a dataset, built or not; always a new object, since a store remembers what it has seen on disk."""
    docs = load(dataset)
    if not hasattr(docs, "docs_store"):
        raise InputError(f"{dataset} has no documents")
    try:
        return docs.docs_store()
    except AssertionError as error:  # its field names, in a file of a few bytes
        raise InputError(f"the store of {dataset} was damaged, or is of another version: {error}; move it away") from error


def _is_whole(store) -> bool:
    """Tell whether a store has ids for its documents, and whether its last document can be read.

    ir_datasets calls a store built as soon as its positions are written; ids and the last documents follow. A few documents may
    have the same id, but a store that was built twice has each of them twice.
    """
    try:
        count, ids = len(store.lookup), len(store.lookup.idx())
        return 0 < ids <= count < 2 * ids and bool(list(iter(store.lookup)[count - 1 : count]))
    except Exception:  # ir_datasets, numpy and lz4 raise many kinds at a file that was cut off
        store.lookup._idx = store.lookup._pos = None  # closing would read them again
        store.lookup.close()
        return False
