"""The passages of a collection, by id and by position, from a store that is built once and then only read."""

import logging
from itertools import islice
from pathlib import Path

from epic.core.files import InputError, read_json
from epic.corpus.datasets import alone, home, load
from epic.corpus.folder import folder_of

log = logging.getLogger(__name__)
LOOKED_UP_AT_ONCE = 10_000


class Documents:
    """The passages of a collection: by id, and by position for shards.

    Nothing is downloaded here. The rule `data` must have built the store of an ir_datasets id; the store of a folder
    is built if it is missing. Reading needs no lock and no place to write.
    """

    def __init__(self, dataset: str):
        self.dataset = dataset
        store = _store(dataset)
        if not _is_whole(store):
            if folder_of(dataset) is None:
                raise InputError(
                    f"the documents of {dataset} are not built in {home()}; set IR_DATASETS_HOME to where they are, or build "
                    "them on a machine with network: snakemake results/EXPERIMENT/data/manifest.json --forcerun data --cores 1"
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
        return [found[doc_id].default_text() for doc_id in doc_ids]

    def unknown(self, doc_ids) -> list[str]:
        """Return those of `doc_ids` that are not in the collection, sorted."""
        wanted, absent = iter(set(doc_ids)), set()
        while some := set(islice(wanted, LOOKED_UP_AT_ONCE)):  # looking ids up reads their texts, too
            absent |= some - set(self._store.get_many(some))
        return sorted(absent)

    def span(self, positions: range):
        """Yield (id, text) of the documents at `positions`, a contiguous range."""
        for doc in iter(self._store.lookup)[positions.start : positions.stop]:
            yield doc.doc_id, doc.default_text()


def open_documents(manifest) -> Documents:
    """Open the collection that a manifest describes; refuse one that has changed since."""
    facts = read_json(manifest)
    documents = Documents(facts["documents"])
    if len(documents) != facts["count"]:
        raise InputError(f"{manifest} speaks of {facts['count']} documents, {facts['documents']} has {len(documents)}")
    return documents


def build(dataset: str):
    """Build the document store of a dataset unless it is there; call this alone. It may download."""
    if not _is_whole(_store(dataset)):
        _store(dataset).clear_cache()  # leftovers of a build that was killed: ir_datasets would append to them
        _store(dataset).build()
    store = _store(dataset)
    if not _is_whole(store):
        count, ids = len(store.lookup), len(store.lookup.idx())
        raise InputError(f"{dataset}: the store in {store.path} holds {count} documents and {ids} ids; move it away, try again")
    return store


def _store(dataset: str):
    """Return the store of a dataset, built or not; always a new object, since a store remembers what it has seen on disk."""
    docs = load(dataset)
    if not hasattr(docs, "docs_store"):
        raise InputError(f"{dataset} has no documents")
    return docs.docs_store()


def _is_whole(store) -> bool:
    """Tell whether a store has as many ids as documents, and whether its last document can be read.

    ir_datasets calls a store built as soon as its positions are written; ids and the last documents follow.
    """
    try:
        count = len(store.lookup)
        return 0 < count == len(store.lookup.idx()) and bool(list(iter(store.lookup)[count - 1 : count]))
    except Exception:  # ir_datasets, numpy and lz4 raise many kinds at a file that was cut off
        store.lookup._idx = store.lookup._pos = None  # closing would read them again
        store.lookup.close()
        return False
