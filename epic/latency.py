"""Latency as the paper measures it: one query at a time, first some to warm up, then those that count.

The query vector is computed beside retrieval and the loading of passage vectors, as the paper describes, and the
total is the wall clock around that concurrent run. Nothing here is deterministic, so nothing of it is in a row's JSON.
"""

import logging
import os
import platform
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np

from epic import java
from epic.data import open_documents, read_queries
from epic.files import InputError, read_json, write_json, write_text
from epic.log import progress
from epic.mapped import Mapped, announce
from epic.runs import read_run
from epic.store import Store, open_store

log = logging.getLogger(__name__)


class Timing(NamedTuple):
    """Nanoseconds of one query by stage."""

    retrieve: int
    load: int
    query_vector: int
    score: int
    total: int


class Candidates(NamedTuple):
    """Passage vectors of one query's candidates, loaded, ready to be scored."""

    doc_ids: list[str]
    score: Callable  # of the query vector


def first_stage(index, settings: dict, hits: int):
    """A function from a query's text to its hits."""
    searcher = java.searcher(index, settings["k1"], settings["b"])
    return lambda text: [hit.docid for hit in searcher.search(text, hits)]


@contextmanager
def reranker(search, queries: dict[str, str], files, row: dict, encode: dict, compute: dict, scratch):
    """Yield a function that times one query through the whole row; a row without a model is its first stage.

    A row that keeps all terms has no store: the unpruned vectors of its candidates, known from the first-stage run, lie
    in `scratch` meanwhile. No query goes through the searcher before it is timed.
    """
    if row["kind"] == "first-stage":
        yield lambda text: retrieve_timing(search, text)
        return
    from epic.weigh import query_encoder

    encode_query, cutoff = query_encoder(files.checkpoint, compute), read_json(files.cutoff)["cutoff"]
    with tempfile.TemporaryDirectory(dir=scratch, prefix=".dense-") as folder, ThreadPoolExecutor(1) as pool:
        if files.store:
            load = pruned_loader(open_store(files.store, files.checkpoint))
        else:
            run = read_run(files.run, hits=cutoff)
            wanted = sorted({hit.doc_id for query_id in queries for hit in run.get(query_id, [])})
            path = Path(folder, "vectors.f16")
            dense_vectors(files.checkpoint, compute, open_documents(files.manifest), wanted, encode, path)
            load = dense_loader(path, wanted)
        yield lambda text: rerank_timing(lambda t: search(t)[:cutoff], encode_query, load, text, pool)


def retrieve_timing(search, text: str) -> Timing:
    """Time a query through the first stage alone."""
    start = perf_counter_ns()
    search(text)
    took = perf_counter_ns() - start
    return Timing(took, 0, 0, 0, took)


def rerank_timing(search, encode, load, text: str, pool: ThreadPoolExecutor) -> Timing:
    """Time a query through retrieval and re-ranking; `encode` runs in the pool meanwhile."""
    start = perf_counter_ns()
    encoding = pool.submit(_timed, encode, text)
    doc_ids = search(text)
    retrieved = perf_counter_ns()
    candidates = load(doc_ids)
    loaded = perf_counter_ns()
    query, encoded = encoding.result()
    ready = perf_counter_ns()
    order = sorted(zip((-candidates.score(query)).tolist(), candidates.doc_ids, strict=True))
    end = perf_counter_ns()
    if len(order) != len(doc_ids):
        raise RuntimeError("a candidate was lost while scoring")
    return Timing(retrieved - start, loaded - retrieved, encoded, end - ready, end - start)


def _timed(function, *arguments):
    start = perf_counter_ns()
    result = function(*arguments)
    return result, perf_counter_ns() - start


def timed_queries(path, warm_up: int, measured: int) -> dict[str, str]:
    """The first queries of a set: those that warm up and those that count."""
    queries = read_queries(path)
    if len(queries) < warm_up + measured:
        raise InputError(f"latency needs {warm_up} + {measured} queries, {path} has {len(queries)}")
    return dict(list(queries.items())[: warm_up + measured])


def measure(queries: dict[str, str], time_one, warm_up: int) -> dict[str, Timing]:
    """Timings of the queries after the warm-up, in file order."""
    timings = {query_id: time_one(text) for query_id, text in progress(queries.items(), desc="latency")}
    return dict(list(timings.items())[warm_up:])


def pruned_loader(store: Store):
    """Read the stored rows of the candidates into memory and score them there."""
    from epic.lookup import dot

    def load(doc_ids) -> Candidates:
        rows = store.positions(doc_ids)
        store.announce(rows)
        terms, weights = store.terms[rows], store.weights[rows]  # (k, keep), copies: this is the read from disk
        return Candidates(doc_ids, lambda query: dot(terms, weights, np.arange(len(rows)), query))

    return load


def dense_loader(path, doc_ids: list[str]):
    """The same for unpruned vectors, one float16 per vocabulary entry; only the query's terms are read, when it is scored."""
    from epic.lookup import dense_dot

    places = {doc_id: place for place, doc_id in enumerate(doc_ids)}
    width = Path(path).stat().st_size // 2 // max(1, len(doc_ids))
    vectors = Mapped(path, np.float16, (len(doc_ids), width))

    def load(doc_ids) -> Candidates:
        if absent := [doc_id for doc_id in doc_ids if doc_id not in places]:
            raise InputError(
                f"document {absent[0]} is a hit now, but was none in the run that vectors were made for; index again"
            )
        rows = np.array([places[doc_id] for doc_id in doc_ids], dtype=np.int64)  # (k,)
        announce(rows, vectors)
        return Candidates(doc_ids, lambda query: dense_dot(vectors.array, rows, query))

    return load


def dense_vectors(checkpoint, compute: dict, documents, doc_ids: list[str], encode: dict, path) -> None:
    """Unpruned vectors of some documents as a file, (n, V) float16."""
    from epic.encode import vectors_by_batch  # torch takes seconds to import; the other rows do not need it
    from epic.inference import load_model

    model = load_model(checkpoint, compute)
    pieces = dict(zip(doc_ids, model.pieces(documents.texts(doc_ids)), strict=True))
    with open(path, "wb") as stream:
        stream.truncate(len(doc_ids) * model.vocabulary * 2)
        for rows, found in vectors_by_batch(model, pieces, encode["token_budget"], encode["vocabulary_block"]):
            for row, vector in zip(rows, found, strict=True):
                stream.seek(row * vector.nbytes)
                stream.write(vector)


def summary(timings: dict[str, Timing]) -> dict[str, dict[str, float]]:
    """Mean and percentiles in milliseconds by stage."""
    table = np.array(list(timings.values()), dtype=np.float64) / 1e6  # (n, stages)
    return {
        stage: {"mean": float(column.mean())} | {f"p{p}": float(np.percentile(column, p)) for p in (50, 95, 99)}
        for stage, column in zip(Timing._fields, table.T, strict=True)
    }


def write_latency(timings: dict[str, Timing], settings: dict, threads: int, out, queries_out) -> None:
    """The summary with the machine it was measured on, and beside it every query's nanoseconds."""
    lines = ["\t".join(("query_id", *(f"{stage}_ns" for stage in Timing._fields)))]
    lines += ["\t".join((query_id, *map(str, timing))) for query_id, timing in timings.items()]
    write_text(queries_out, "\n".join(lines) + "\n")
    machine = {"cpu": cpu_name(), "cores": os.cpu_count(), "torch_threads": threads, "system": platform.platform()}
    facts = {"queries": len(timings), "settings": settings, "ms": summary(timings), "machine": machine}
    write_json(out, facts)
    log.info("mean %.2f ms over %d queries", facts["ms"]["total"]["mean"], len(timings))


def cpu_name() -> str:
    """The processor, as Linux calls it."""
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        return next((line.split(":", 1)[1].strip() for line in stream if line.startswith("model name")), "unknown")
