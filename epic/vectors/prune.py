"""Pruned stores: shards gathered in order, each vector cut to its r largest weights; read once, written once."""

import logging

import numpy as np

from epic.core.files import InputError, replacing
from epic.core.log import progress
from epic.vectors.store import Store, StoreWriter
from epic.vectors.topk import take, top_terms

log = logging.getLogger(__name__)
ROWS_AT_A_TIME = 256


def prune(shards, keep: int, documents: int, out) -> None:
    """Write one store of `keep` terms a passage; shards must be whole, of one model, and tile the collection."""
    stores = sorted((Store(path) for path in shards), key=lambda store: (store.start, len(store)))  # an empty one comes first
    _check(stores, keep, documents)
    with replacing(out) as draft, progress(total=documents, desc=f"prune to {keep}", unit="passage") as bar:
        writer = StoreWriter(draft, keep, stores[0].vocabulary, stores[0].model)
        while stores:
            store = stores.pop(0)  # nothing of it stays open after it has been read
            for doc_ids, terms, weights in store.blocks(ROWS_AT_A_TIME):
                writer.add(doc_ids, *cut(terms, weights, writer.keep))
                bar.update(len(doc_ids))
        written = writer.close()
        if written != documents:
            raise RuntimeError(f"{written} vectors for {documents} documents")
    log.info("%d vectors of %d terms", written, writer.keep)


def _check(stores: list[Store], keep: int, documents: int) -> None:
    position = 0
    for store in stores:
        if store.start != position:
            raise InputError(f"{store.path} starts at document {store.start}, expected {position}; a shard is missing")
        if store.model != stores[0].model:
            raise InputError(f"{store.path} and {stores[0].path} come from different models; encode again")
        if keep > store.keep < store.vocabulary:
            raise InputError(f"{store.path} holds {store.keep} terms a passage, {keep} asked for; raise encode.max_terms")
        position += len(store)
    if position != documents:
        raise InputError(f"the shards hold {position} vectors for {documents} documents; encode again")


def cut(terms: np.ndarray, weights: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `keep` largest weights of each row with their terms, still in term order."""
    if keep == terms.shape[1]:
        return terms, weights
    chosen = top_terms(weights, keep)  # (n, keep)
    return take(terms, chosen), take(weights, chosen)
