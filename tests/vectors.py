"""Passage vectors for tests: encoded shards, and stores of random vectors."""

import numpy as np

from epic.experiment.settings import EncodeSettings
from epic.model.query_vector import QueryVector
from epic.vectors.encode import encode_shard
from epic.vectors.store import Store
from epic.vectors.store_writer import StoreWriter
from epic.vectors.tokenise import Spoken
from epic.vectors.topk import take, top_terms

KEEPS = [8, 40, 64]  # layers of shards: 40 is whole, 64 extends it
SIZES = [5, 0, 1, 11, 0]  # documents of shards
SETTINGS = EncodeSettings(keep=[1000], token_budget=64, vocabulary_block=5)


def spoken(model, documents, shard="1-of-1"):
    """A shard whose texts become word-pieces as they are read."""
    return Spoken(model.tokenizer, documents, shard, documents if model.released_batches else None)


def encoded(model, documents, tmp_path, shards, settings=SETTINGS):
    paths = []
    for shard in range(1, shards + 1):
        paths.append(tmp_path / f"{shard}-of-{shards}")
        encode_shard(model, "digest", spoken(model, documents, f"{shard}-of-{shards}"), settings, paths[-1])
    return paths


def one_step(left, right):
    """Equal up to one float16 step."""
    return np.all(np.abs(left.astype(np.float64) - right) <= np.spacing(np.maximum(abs(left), abs(right))).astype(np.float64))


def dense(documents, vocabulary, seed=0):
    return np.random.default_rng(seed).normal(size=(documents, vocabulary)).astype(np.float16)


def write(path, vectors, keep, start=0, ids=None, model="m"):
    writer = StoreWriter(path, keep, vectors.shape[1], model, start)
    terms = top_terms(vectors, writer.keep)
    writer.add(ids or [str(start + row) for row in range(len(vectors))], terms, take(vectors, terms))
    writer.close()
    return Store(path)


def shards(folder, vectors, ids=None, keep=KEEPS):
    """Write shards of unequal sizes, two of them empty."""
    paths, start = [], 0
    for number, size in enumerate(SIZES):
        paths.append(folder / f"{number + 1}-of-{len(SIZES)}")
        rows = slice(start, start + size)
        write(paths[-1], vectors[rows], keep, start, ids[rows] if ids else None)
        start += size
    return paths


def queries(count, vocabulary, seed=4):
    draw = np.random.default_rng(seed)
    sizes = draw.integers(0, 12, size=count)
    terms = [np.sort(draw.choice(vocabulary, size, replace=False)).astype(np.uint16) for size in sizes]
    return [QueryVector(found, draw.normal(size=len(found)).astype(np.float32)) for found in terms]
