"""What is timed: one query through retrieval, query vector, loading of passage vectors and scoring.

The query vector is computed beside retrieval and the loading of passage vectors, as the paper describes, and the total
is the wall clock around that concurrent run.
"""

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np

from epic import java
from epic.documents import open_documents
from epic.files import InputError, read_json
from epic.mapped import Mapped, announce
from epic.runs import read_run
from epic.store import Store, open_store
from epic.timings import Timing

MORE = 20  # hits beyond the cut-off: equal scores may come in another order when one query is searched at a time


class Candidates(NamedTuple):
    """Passage vectors of one query's candidates, loaded, ready to be scored."""

    doc_ids: list[str]
    score: Callable  # of the query vector


class System:
    """A row of the table at query time; what lies on disk can be closed and opened again, the model stays in memory.

    A row that keeps all terms has no store: the unpruned vectors of its candidates, known from the first-stage run, are
    written to `scratch`, an existing folder. No query goes through the searcher before it is timed.
    """

    def __init__(self, files, queries: dict[str, str], row: dict, settings: dict, scratch):
        self.lucene, self.first_stage, self.hits = files.lucene, settings["first_stage"], settings["hits"]
        self.encode_query = self.vectors = self.wanted = None
        if row["kind"] == "first-stage":
            return
        from epic.weigh import query_encoder

        self.encode_query = query_encoder(files.checkpoint, settings["compute"])
        self.cutoff = read_json(files.cutoff)["cutoff"]
        self.hits = max(self.hits, self.cutoff)  # as many as the row re-ranks
        if files.store:
            self.vectors = open_store(files.store, files.checkpoint).path
            return
        run = read_run(files.run, hits=self.cutoff + MORE)
        self.wanted = sorted({hit.doc_id for query_id in queries for hit in run.get(query_id, [])})
        self.vectors = Path(scratch, "vectors.f16")
        documents = open_documents(files.manifest)
        dense_vectors(files.checkpoint, settings["compute"], documents, self.wanted, settings["encode"], self.vectors)

    @property
    def on_disk(self) -> list[Path]:
        """What is read at query time."""
        return [Path(path) for path in (self.lucene, self.vectors) if path]

    @contextmanager
    def opened(self):
        """Yield a function that times one query."""
        searcher = java.searcher(self.lucene, self.first_stage["k1"], self.first_stage["b"])
        try:
            if self.encode_query is None:
                yield lambda text: retrieve_timing(lambda t: _search(searcher, t, self.hits), text)
                return
            load = pruned_loader(Store(self.vectors)) if self.wanted is None else dense_loader(self.vectors, self.wanted)
            with ThreadPoolExecutor(1) as pool:
                yield lambda text: rerank_timing(
                    lambda t: _search(searcher, t, self.hits)[: self.cutoff], self.encode_query, load, text, pool
                )
        finally:
            searcher.close()
            load = None
            gc.collect()  # a file that is still mapped cannot be dropped from memory


def _search(searcher, text: str, hits: int) -> list[str]:
    return [hit.docid for hit in searcher.search(text, hits)]


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
