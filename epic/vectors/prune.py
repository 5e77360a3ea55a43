"""Pruned stores: the shards of a model as one store of r terms a passage.

Where r is a layer of the shards nothing is copied: a header names the shards. Any other r is written out, read once and written
once, each vector cut to its r largest weights: a row with another r needs no encoding.
"""

import logging
import os
from pathlib import Path

import numpy as np

from epic.core import seals
from epic.core.files import InputError, replacing, sha256_of, write_json
from epic.core.log import progress
from epic.vectors import store_ids as ids
from epic.vectors.layers import Layer, chain, enough
from epic.vectors.store import Store
from epic.vectors.store_header import GATHERED, Shard, is_near
from epic.vectors.store_writer import StoreWriter
from epic.vectors.topk import take, top_terms

log = logging.getLogger(__name__)
ROWS_AT_A_TIME = 256


def prune(shards, keep: int, documents: int, out) -> None:
    """Make one store of `keep` terms a passage; shards must be whole, of one model, and tile the collection."""
    stores = sorted((Store(path) for path in shards), key=lambda store: (store.start, len(store)))  # an empty one comes first
    _check(stores, keep, documents)
    keep = min(keep, stores[0].vocabulary)
    paths = [os.path.relpath(store.path, out) for store in stores]
    layers = {chain(store.header.layers, keep) for store in stores}
    if len(layers) == 1 and () not in layers and all(map(is_near, paths)) and not any(store.header.shards for store in stores):
        _name(stores, paths, keep, layers.pop(), out)
        log.info("%d vectors of %d terms, in %d shards", documents, keep, len(stores))
    else:
        _write(stores, keep, documents, out)
        log.info("%d vectors of %d terms", documents, keep)


def _check(stores: list[Store], keep: int, documents: int) -> None:
    position = 0
    for store in stores:
        if store.start != position:
            raise InputError(f"{store.path} starts at document {store.start}, expected {position}; a shard is missing")
        if store.model != stores[0].model:
            raise InputError(f"{store.path} and {stores[0].path} come from different models; encode again")
        if keep > store.keep < store.vocabulary:
            raise InputError(f"{store.path} holds {store.keep} terms a passage, {keep} asked for; add it to encode.keep")
        position += len(store)
    if position != documents:
        raise InputError(f"the shards hold {position} vectors for {documents} documents; encode again")


def _name(stores: list[Store], paths: list[str], keep: int, layers: tuple[Layer, ...], out) -> None:
    """Write a header that names the shards, and one table of their ids unless all are numbers."""
    facts = [
        Shard(path, store.start, len(store), sha256_of(store.path / seals.HEADER))
        for store, path in zip(stores, paths, strict=True)
    ]
    with replacing(out) as draft:
        draft.mkdir()
        width = _write_ids(stores, draft)
        header = {"format": GATHERED, "documents": sum(map(len, stores)), "keep": keep, "vocabulary": stores[0].vocabulary}
        header |= {"model": stores[0].model, "start": 0, "ids_width": width, "layers": [layer._asdict() for layer in layers]}
        header["shards"] = [shard._asdict() for shard in facts]
        header["sha256"] = {name: sha256_of(draft / name) for name in (ids.FILES if width is not None else ())}
        write_json(draft / seals.HEADER, header)


def _write_ids(stores: list[Store], folder: Path) -> int | None:
    """Write the ids of all shards, checked, and return their width; None if they are the numbers from 0 on."""
    if all(store.header.ids_width is None or not len(store) for store in stores):
        return None
    writer = ids.IdWriter(folder, 0)
    for store in stores:
        store.verify_small_files()
        for start in range(0, len(store), ROWS_AT_A_TIME):
            writer.add(store.ids(slice(start, start + ROWS_AT_A_TIME)))
    return writer.close()


def _write(stores: list[Store], keep: int, documents: int, out) -> None:
    """Write a plain store, from the smallest layers that hold so many terms."""
    with replacing(out) as draft, progress(total=documents, desc=f"prune to {keep}", unit="passage") as bar:
        writer = StoreWriter(draft, keep, stores[0].vocabulary, stores[0].model)
        while stores:
            store = stores.pop(0)  # nothing of it stays open after it has been read
            wide = Store(store.path, enough(store.header.layers, keep))
            for doc_ids, terms, weights in wide.blocks(ROWS_AT_A_TIME):
                writer.add(doc_ids, *cut(terms, weights, writer.keep))
                bar.update(len(doc_ids))
        written = writer.close()
        if written != documents:
            raise RuntimeError(f"{written} vectors for {documents} documents")


def cut(terms: np.ndarray, weights: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the `keep` largest weights of each row with their terms, still in term order."""
    if keep == terms.shape[1]:
        return terms, weights
    chosen = top_terms(weights, keep)  # (n, keep)
    return take(terms, chosen), take(weights, chosen)
