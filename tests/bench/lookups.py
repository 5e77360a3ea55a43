"""Lookups that are compared: from a store in the page cache, from unpruned vectors, and from a store that must be read."""

from itertools import cycle
from pathlib import Path
from time import perf_counter, perf_counter_ns, process_time

import numpy as np
import torch

from epic.core.mapped import Mapped, evict
from epic.model.query_vector import QueryVector
from epic.vectors.prune import prune
from epic.vectors.pruned_scores import dense_dot, dot, scores
from epic.vectors.store import Store
from epic.vectors.store_ids import Numbered
from tests.bench import inputs, plain
from tests.bench.equality import same_scores
from tests.bench.measure import Way, versus
from tests.bench.works import KEEP, Scale

QUERIES = 100  # at a time, as one process has them


class Asked:
    """Queries with k candidates each, other ones every time, so that none is in the processor's cache already."""

    def __init__(self, k: int, documents: int, vocabulary: int, sets: int):
        seeds = range(1000 * k, 1000 * k + sets)
        self.sets = [
            (inputs.query_vectors(QUERIES, vocabulary, seed), inputs.candidates(QUERIES, documents, k, seed)) for seed in seeds
        ]
        self.sparse = [_sparse(queries[0], vocabulary) for queries, _ in self.sets]
        self._theirs, self._ours = cycle(range(sets)), cycle(range(sets))

    def first(self) -> tuple[torch.Tensor, list[int]]:
        """For the plain way: the first query of the next set, and the rows of its candidates."""
        place = next(self._theirs)
        return self.sparse[place], [int(doc_id) for doc_id in self.sets[place][1][0]]

    def all(self) -> list[tuple[QueryVector, list[str]]]:
        """For our way: the queries of the next set with the ids of their candidates."""
        return list(zip(*self.sets[next(self._ours)], strict=True))


def _sparse(query: QueryVector, vocabulary: int) -> torch.Tensor:
    terms = torch.from_numpy(query.terms.astype(np.int64))
    places = torch.stack((torch.zeros_like(terms), terms))
    return torch.sparse_coo_tensor(places, torch.from_numpy(query.weights), (1, vocabulary), check_invariants=False).coalesce()


def lookups(folder: Path, scale: Scale, notes: dict):
    """Scores of k candidates a query from a store in the page cache."""
    inputs.write_store(folder / f"r{max(scale.rs)}", scale.documents, max(scale.rs))
    for keep in scale.rs:
        if keep != max(scale.rs):
            prune([folder / f"r{max(scale.rs)}"], keep, scale.documents, folder / f"r{keep}")
        opened = perf_counter()
        store = Store(folder / f"r{keep}")
        notes.setdefault("store opens in ms", {})[f"r={keep}, {len(store)} passages"] = round((perf_counter() - opened) * 1e3, 2)
        terms, weights = np.array(store.terms).view(np.int16), np.array(store.weights)  # in memory, as theirs are by default
        for k in scale.ks:
            asked = Asked(k, scale.documents, store.vocabulary, scale.light_rounds)

            def their_way(asked=asked, terms=terms, weights=weights):
                query, rows = asked.first()
                return plain.lookup(terms, weights, rows, query)

            def our_way(asked=asked, store=store):
                return [scores(store, ids, query) for query, ids in asked.all()]

            expected, took = _gather(store, *asked.sets[0])
            notes.setdefault("numpy gather, us a query", {})[f"k={k}, r={keep}"] = took
            notes.setdefault("comparing rows with their checksums, us a query", {})[f"k={k}, r={keep}"] = _compared(
                store.path, asked
            )
            yield _looked_up(their_way, our_way, scale.light_rounds, expected, k=k, r=keep)


def _looked_up(their_way, our_way, rounds: int, expected: list[np.ndarray], **keys):
    """The record of a lookup: theirs of one query, which takes long enough, ours of all of a set."""

    def equal(left, right) -> bool:
        return same_scores(left, right[0]) and all(same_scores(*pair) for pair in zip(expected, right, strict=True))

    return versus(Way(their_way), Way(our_way, QUERIES), rounds, equal, work="lookup", **keys)


def _gather(store: Store, queries, docs) -> tuple[list[np.ndarray], float]:
    """For information: the same with numpy alone, a dense table of the query's weights read at all terms of the rows."""
    table, found = np.zeros(store.vocabulary, dtype=np.float32), []
    start = process_time()
    for query, ids in zip(queries, docs, strict=True):
        rows = np.array([int(doc_id) for doc_id in ids])
        table[query.terms] = query.weights
        found.append((table[store.terms[rows]] * store.weights[rows]).sum(axis=1))
        table[query.terms] = 0
    return found, round((process_time() - start) / len(docs) * 1e6, 1)


def _compared(path: Path, asked: Asked) -> dict[str, float]:
    """Median times of a query without comparing rows, when all its rows are read for the first time, and when none is."""
    times: dict[str, list[int]] = {"not compared": [], "read first": [], "read before": []}
    for queries, docs in asked.sets:
        store = Store(path)  # a new one has compared nothing
        for query, ids in zip(queries, docs, strict=True):  # the rows are in the page cache and mapped
            _dotted(store, ids, query)
        for name, way in (("read first", scores), ("not compared", _dotted), ("read before", scores)):
            for query, ids in zip(queries, docs, strict=True):
                start = perf_counter_ns()
                way(store, ids, query)
                times[name].append(perf_counter_ns() - start)
    return {name: round(float(np.median(found)) / 1e3, 1) for name, found in times.items()}


def _dotted(store: Store, ids: list[str], query: QueryVector) -> np.ndarray:
    rows = store.positions(ids)
    store.announce(rows)
    return dot(store.terms, store.weights, rows, query)


def dense_lookups(folder: Path, scale: Scale):
    """Scores of k candidates a query from unpruned vectors."""
    path, vocabulary = folder / "dense.f16", inputs.VOCABULARY
    np.random.default_rng(5).random((scale.dense_documents, vocabulary), dtype=np.float32).astype(np.float16).tofile(path)
    vectors, content = Mapped(path, np.float16, (scale.dense_documents, vocabulary)), path.read_bytes()
    numbers = Numbered(0, scale.dense_documents)
    int(vectors.array.view(np.uint16)[:, ::2048].sum())  # every page is mapped from now on
    for k in scale.ks:
        asked = Asked(k, scale.dense_documents, vocabulary, scale.light_rounds)

        def their_way(asked=asked):
            query, rows = asked.first()
            return plain.dense_lookup(content, vocabulary, rows, query)

        def our_way(asked=asked):
            return [dense_dot(vectors.array, numbers.rows(ids), query) for query, ids in asked.all()]

        expected = []
        for query, ids in zip(*asked.sets[0], strict=True):
            expected.append(vectors.array[numbers.rows(ids)[:, None], query.terms].astype(np.float32) @ query.weights)
        yield _looked_up(their_way, our_way, scale.light_rounds, expected, k=k)


def cold_lookups(folder: Path, scale: Scale, notes: dict):
    """The same from a store that is not in this system's page cache, by the wall clock; the plain way is a plain memory map."""
    keep = min(KEEP, max(scale.rs))
    cold = Cold(folder / f"r{keep}", (scale.documents, keep))
    for k in scale.cold_ks:
        query, ids = Asked(k, scale.documents, inputs.VOCABULARY, sets=1).all()[0]
        rows = np.array(ids, dtype=np.int64)
        if (kept := cold.still_there(rows)) > len(rows) // 4:
            notes["cold"] = f"not measured: {kept} of {len(rows)} rows stay in the page cache when they are dropped from it"
            return
        yield versus(
            Way(lambda rows=rows, query=query: dot(*cold.plain, rows, query), before=cold.map_plainly),
            Way(lambda ids=ids, query=query: scores(cold.store, ids, query), before=cold.open),
            scale.light_rounds,
            equal=np.array_equal,
            clock=perf_counter,
            work="lookup-cold",
            k=k,
            r=keep,
        )


class Cold:
    """A store that is dropped from the page cache whenever it is opened, in one way or the other."""

    def __init__(self, path: Path, shape: tuple[int, int]):
        self.path, self.shape, self.plain, self.store = path, shape, None, None

    def _drop(self) -> None:
        self.plain = self.store = None  # what is mapped is not dropped
        evict(self.path)

    def map_plainly(self) -> None:
        """As numpy maps a file."""
        self._drop()
        names = {"terms.u16": np.uint16, "weights.f16": np.float16}
        self.plain = [np.memmap(self.path / name, dtype, "r", shape=self.shape) for name, dtype in names.items()]

    def open(self) -> None:
        """As we do."""
        self._drop()
        self.store = Store(self.path)

    def still_there(self, rows: np.ndarray) -> int:
        """How many rows are in memory after they were dropped."""
        self._drop()
        terms = Mapped(self.path / "terms.u16", np.uint16, self.shape)
        return sum(terms.in_memory(row[None]) for row in rows)
