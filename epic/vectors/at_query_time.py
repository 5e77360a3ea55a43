"""Passage vectors at query time: the candidates of one query are loaded and scored, and the time of each stage is recorded.

The query vector is computed beside retrieval and loading, as the paper describes, and the total is the wall-clock time of
that concurrent run.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np

from epic.core.files import InputError, read_json
from epic.core.mapped import Mapped, announce
from epic.corpus.documents import open_documents
from epic.corpus.runs import read_run
from epic.vectors.pruned_scores import dense_dot
from epic.vectors.scored_pairs import opened
from epic.vectors.store import Store
from epic.vectors.stored_rows import Lookup

MORE = 20  # hits beyond the cut-off: equal scores may come in another order when one query is searched at a time


class Candidates(NamedTuple):
    """Passage vectors of one query's candidates, loaded, ready to be scored."""

    doc_ids: list[str]
    score: Callable  # of the query vector


def rerank_timing(search, encode, load, text: str, pool: ThreadPoolExecutor) -> dict[str, int]:
    """Time a query through retrieval and re-ranking, in nanoseconds by stage; `encode` runs in the pool meanwhile."""
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
    return {
        "retrieve": retrieved - start,
        "load": loaded - retrieved,
        "query_vector": encoded,
        "score": end - ready,
        "total": end - start,
    }


def _timed(function, *arguments):
    start = perf_counter_ns()
    result = function(*arguments)
    return result, perf_counter_ns() - start


def pruned_loader(store: Store):
    """Return a function that reads the stored rows of the candidates into memory and scores them there."""
    lookup = Lookup(store)

    def load(doc_ids) -> Candidates:
        copies = lookup.rows.copied(lookup.positions(doc_ids))  # this is the read from disk
        return Candidates(doc_ids, lambda query: copies.dot(np.arange(len(doc_ids)), query))

    return load


def dense_loader(path, doc_ids: list[str]):
    """Return the same for unpruned vectors, one float16 per vocabulary entry; scoring reads only the query's terms."""
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


class DenseVectors:
    """Unpruned vectors of all candidates that some queries may have in the rows of one model, in a file of a folder."""

    def __init__(self, files, settings: dict, folder):
        self.files, self.settings = files, settings
        self.folder, self.path, self.doc_ids = Path(folder), None, []

    def want(self, files, queries: dict[str, str]) -> None:
        """Add the candidates of a row, known from its first-stage run and cut-off; all must be known before the first is read."""
        run = read_run(files.run, hits=read_json(files.cutoff)["cutoff"] + MORE)
        self.doc_ids = sorted({*self.doc_ids, *(hit.doc_id for query_id in queries for hit in run.get(query_id, []))})

    def written(self) -> Path:
        """Return the file, (n, V) float16; write it when it is first asked for: vectors that encoding kept, and others."""
        if self.path is None:
            path = self.folder / f"{len(list(self.folder.iterdir()))}.f16"
            documents = open_documents(self.files.manifest)
            scored = opened(self.files)
            kept = scored.vectors(self.doc_ids, documents) if scored else ()
            absent = copy_vectors(kept, self.doc_ids, path)
            if absent:
                compute, encode = self.settings["compute"], self.settings["encode"]
                compute_vectors(self.files.checkpoint, compute, documents, self.doc_ids, absent, encode, path)
            self.path = path
        return self.path


def copy_vectors(kept, doc_ids: list[str], path) -> list[int]:
    """Write the vectors that are there, given as (place, vector), to a file, and return the places of the others."""
    absent = set(range(len(doc_ids)))
    with open(path, "wb") as stream:
        for place, vector in kept:
            stream.seek(place * vector.nbytes)
            stream.write(np.ascontiguousarray(vector))
            absent.remove(place)
    return sorted(absent)


def compute_vectors(checkpoint, compute: dict, documents, doc_ids: list[str], places: list[int], encode: dict, path) -> None:
    """Write unpruned vectors of the documents at some places to a file, (n, V) float16; with all cores: nothing is timed yet."""
    import torch  # it takes seconds to import; the other rows do not need it

    from epic.core.machine import usable_cores
    from epic.model.epic import load_model
    from epic.vectors.phi import vectors_by_batch
    from epic.vectors.released_batches import longest_for

    model, wanted = load_model(checkpoint, compute | {"threads": usable_cores()}), [doc_ids[place] for place in places]
    pieces = dict(zip(wanted, model.pieces(documents.texts(wanted)), strict=True))
    longest = longest_for(model, documents, wanted)
    with open(path, "r+b") as stream:
        stream.truncate(len(doc_ids) * model.vocabulary * 2)
        for rows, found in vectors_by_batch(model, pieces, encode["token_budget"], encode["vocabulary_block"], longest):
            for row, vector in zip(rows, found, strict=True):
                stream.seek(places[row] * vector.nbytes)
                stream.write(vector)
    torch.set_num_threads(compute["threads"])
