"""The passages of a collection, by id and by position, from a store that is built once and then only read."""

import logging
import pickle
from itertools import islice

from epic.datasets import alone, home, load
from epic.files import InputError, read_json
from epic.folder import folder_of

log = logging.getLogger(__name__)
LOOKED_UP_AT_ONCE = 10_000


class Documents:
    """The passages of a collection: by id, and by position for shards.

    Nothing is downloaded here. The store of an ir_datasets id must have been built by the rule `data`; that of a
    folder is built where it is missing. Reading needs no lock and no place to write.
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

    def texts(self, doc_ids) -> list[str]:
        """Texts in the order of `doc_ids`; an unknown id is an error."""
        found = self._store.get_many(set(doc_ids))
        missing = [doc_id for doc_id in doc_ids if doc_id not in found]
        if missing:
            raise InputError(f"{self.dataset} has no document {missing[0]} ({len(missing)} asked for are missing)")
        return [found[doc_id].default_text() for doc_id in doc_ids]

    def unknown(self, doc_ids) -> list[str]:
        """Those of `doc_ids` that are not in the collection, sorted."""
        wanted, absent = iter(set(doc_ids)), set()
        while some := set(islice(wanted, LOOKED_UP_AT_ONCE)):  # a look-up brings the texts along
            absent |= some - set(self._store.get_many(some))
        return sorted(absent)

    def span(self, positions: range):
        """Yield (id, text) of the documents at `positions`, a contiguous range."""
        for doc in iter(self._store.lookup)[positions.start : positions.stop]:
            yield doc.doc_id, doc.default_text()


def open_documents(manifest) -> Documents:
    """The collection that a manifest describes; one that has changed since is refused."""
    facts = read_json(manifest)
    documents = Documents(facts["documents"])
    if len(documents) != facts["count"]:
        raise InputError(f"{manifest} speaks of {facts['count']} documents, {facts['documents']} has {len(documents)}")
    return documents


def build(dataset: str):
    """The document store of a dataset, built unless it is there; call it alone. It may download."""
    if not _is_whole(_store(dataset)):
        _store(dataset).clear_cache()  # what a build that was killed has left: ir_datasets would append to it
        _store(dataset).build()
    store = _store(dataset)
    if not _is_whole(store):
        count, ids = len(store.lookup), len(store.lookup.idx())
        raise InputError(f"{dataset}: the store in {store.path} holds {count} documents and {ids} ids; delete it and try again")
    return store


def _store(dataset: str):
    """The store of a dataset, built or not; always a new object, since one remembers what it has seen on disk."""
    docs = load(dataset)
    if not hasattr(docs, "docs_store"):
        raise InputError(f"{dataset} has no documents")
    return docs.docs_store()


def _is_whole(store) -> bool:
    """Does a store have as many ids as documents, and is the last of them readable?

    ir_datasets calls a store built as soon as its positions are written; ids and the last documents follow.
    """
    try:
        count = len(store.lookup)
        return 0 < count == len(store.lookup.idx()) and bool(list(iter(store.lookup)[count - 1 : count]))
    except (OSError, ValueError, TypeError, EOFError, RuntimeError, pickle.UnpicklingError):
        store.lookup.close()
        return False
