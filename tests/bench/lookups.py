"""Lookups that are compared: from a store in the page cache, from unpruned vectors, and from a store that must be read."""

from itertools import cycle
from pathlib import Path
from time import perf_counter, perf_counter_ns, process_time

import numpy as np
import torch

from epic.core.mapped import Mapped, evict
from epic.corpus.shards import shard_bounds
from epic.model.query_vector import QueryVector
from epic.vectors.prune import prune
from epic.vectors.pruned_scores import dense_dot, dot, scores
from epic.vectors.store import Store
from epic.vectors.store_ids import Numbered
from epic.vectors.store_writer import StoreWriter
from epic.vectors.stored_rows import Lookup
from tests.bench import inputs, plain
from tests.bench.before import PlainStore
from tests.bench.equality import same_scores
from tests.bench.measure import Way, versus
from tests.bench.works import KEEP, Scale

QUERIES = 100  # at a time, as one process has them
SHARDS = 16


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


def write_stores(folder: Path, scale: Scale) -> None:
    """The same vectors twice: in layers of shards, with a gathered store for each r, and as one plain store for each r."""
    (folder / "encode" / "bench").mkdir(parents=True)
    (folder / "plain").mkdir()
    bounds = [shard_bounds(scale.documents, number, SHARDS) for number in range(1, SHARDS + 1)]
    shards = [folder / "encode" / "bench" / f"{number}-of-{SHARDS}" for number in range(1, SHARDS + 1)]
    for path, rows in zip(shards, bounds, strict=True):
        inputs.write_store(path, len(rows), list(scale.rs), start=rows.start)
    for keep in scale.rs:
        prune(shards, keep, scale.documents, gathered(folder, keep))
        writer = StoreWriter(folder / "plain" / str(keep), keep, inputs.VOCABULARY, "bench")
        for block in Store(gathered(folder, keep)).blocks(1000):
            writer.add(*block)
        writer.close()


def gathered(folder: Path, keep: int) -> Path:
    """The store of so many terms."""
    return folder / "prune" / "bench" / str(keep)


def lookups(folder: Path, scale: Scale, notes: dict):
    """Scores of k candidates a query from a store in the page cache, against the authors' way and against one plain store."""
    write_stores(folder, scale)
    for keep in scale.rs:
        opened = perf_counter()
        lookup = Lookup(Store(gathered(folder, keep)))
        name = f"r={keep}, {len(lookup.store)} passages, {SHARDS} shards"
        notes.setdefault("store opens in ms", {})[name] = round((perf_counter() - opened) * 1e3, 2)
        files = {"terms.u16": np.int16, "weights.f16": np.float16}  # in memory, as theirs are by default
        terms, weights = (
            np.fromfile(folder / "plain" / str(keep) / name, kind).reshape(-1, keep) for name, kind in files.items()
        )
        for k in scale.ks:
            asked = Asked(k, scale.documents, inputs.VOCABULARY, scale.light_rounds)

            def their_way(asked=asked, terms=terms, weights=weights):
                query, rows = asked.first()
                return plain.lookup(terms, weights, rows, query)

            def our_way(asked=asked, lookup=lookup):
                return [scores(lookup, ids, query) for query, ids in asked.all()]

            expected, took = _gather(terms.view(np.uint16), weights, *asked.sets[0])
            notes.setdefault("numpy gather, us a query", {})[f"k={k}, r={keep}"] = took
            notes.setdefault("comparing rows with their checksums, us a query", {})[f"k={k}, r={keep}"] = _compared(
                lookup.store.path, asked
            )
            yield _looked_up(their_way, our_way, scale.light_rounds, expected, k=k, r=keep)
        del lookup, terms, weights
        yield from _layers(folder, scale, keep)


def _layers(folder: Path, scale: Scale, keep: int):
    """Layers of shards against one plain store, as it was read before there were layers: the very same scores."""
    lookup, store = Lookup(Store(gathered(folder, keep))), PlainStore(folder / "plain" / str(keep), scale.documents, keep)
    for array in (
        store.terms.array,
        store.weights.array,
        *(file.array for parts in lookup.mapped for files in parts for file in files),
    ):
        int(array.view(np.uint16)[:, ::256].sum(dtype=np.int64))  # every page is mapped from now on
    for k in scale.ks:
        for work, seen in (("lookup-layers", True), ("lookup-layers-first", False)):
            asked, again = (Asked(k, scale.documents, inputs.VOCABULARY, scale.light_rounds + 1) for _ in range(2))

            def rows_are(known, lookup=lookup, store=store, seen=seen):
                known[:] = seen  # whether rows were compared with their checksums before

            def before(asked=asked, store=store):
                return [store.scores(ids, query) for query, ids in asked.all()]

            def ours(asked=again, lookup=lookup):
                return [scores(lookup, ids, query) for query, ids in asked.all()]

            before(), ours()  # what is compiled is compiled now
            yield versus(
                Way(before, QUERIES, before=lambda store=store, rows_are=rows_are: rows_are(store.seen)),
                Way(ours, QUERIES, before=lambda lookup=lookup, rows_are=rows_are: rows_are(lookup.seen)),
                scale.light_rounds,
                equal=_same_bits,
                work=work,
                k=k,
                r=keep,
            )


def _same_bits(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    return [found.tobytes() for found in left] == [found.tobytes() for found in right]


def _looked_up(their_way, our_way, rounds: int, expected: list[np.ndarray], **keys):
    """The record of a lookup: theirs of one query, which takes long enough, ours of all of a set."""

    def equal(left, right) -> bool:
        return same_scores(left, right[0]) and all(same_scores(*pair) for pair in zip(expected, right, strict=True))

    return versus(Way(their_way), Way(our_way, QUERIES), rounds, equal, work="lookup", **keys)


def _gather(terms, weights, queries, docs) -> tuple[list[np.ndarray], float]:
    """For information: the same with numpy alone, a dense table of the query's weights read at all terms of the rows."""
    table, found = np.zeros(inputs.VOCABULARY, dtype=np.float32), []
    start = process_time()
    for query, ids in zip(queries, docs, strict=True):
        rows = np.array([int(doc_id) for doc_id in ids])
        table[query.terms] = query.weights
        found.append((table[terms[rows]] * weights[rows]).sum(axis=1))
        table[query.terms] = 0
    return found, round((process_time() - start) / len(docs) * 1e6, 1)


def _compared(path: Path, asked: Asked) -> dict[str, float]:
    """Median times of a query without comparing rows, when all its rows are read for the first time, and when none is."""
    times: dict[str, list[int]] = {"not compared": [], "read first": [], "read before": []}
    for queries, docs in asked.sets:
        lookup = Lookup(Store(path))  # a new one has compared nothing
        for query, ids in zip(queries, docs, strict=True):  # the rows are in the page cache and mapped
            _dotted(lookup, ids, query)
        for name, way in (("read first", scores), ("not compared", _dotted), ("read before", scores)):
            for query, ids in zip(queries, docs, strict=True):
                start = perf_counter_ns()
                way(lookup, ids, query)
                times[name].append(perf_counter_ns() - start)
    return {name: round(float(np.median(found)) / 1e3, 1) for name, found in times.items()}


def _dotted(lookup: Lookup, ids: list[str], query: QueryVector) -> np.ndarray:
    rows = lookup.store.positions(ids)
    lookup.announce(rows)
    return lookup.rows.dot(rows, query)


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
    """The same from a store that is not in this system's page cache, by the wall clock.

    lookup-cold: the plain way is a plain memory map of one plain store; lookup-layers-cold: one plain store as it was read before
    there were layers.
    """
    for keep in scale.rs:
        cold = Cold(folder, scale.documents, keep)
        for k in scale.cold_ks:
            query, ids = Asked(k, scale.documents, inputs.VOCABULARY, sets=1).all()[0]
            rows = np.array(ids, dtype=np.int64)
            if (kept := cold.still_there(rows)) > len(rows) // 4:
                notes["cold"] = f"not measured: {kept} of {len(rows)} rows stay in the page cache when they are dropped from it"
                return
            ours = Way(lambda ids=ids, query=query, cold=cold: scores(cold.opened, ids, query), before=cold.open)
            mapped = Way(lambda rows=rows, query=query, cold=cold: dot(*cold.opened, rows, query), before=cold.map_plainly)
            before = Way(lambda ids=ids, query=query, cold=cold: cold.opened.scores(ids, query), before=cold.open_as_before)
            for work, theirs in (("lookup-cold", mapped), ("lookup-layers-cold", before)):
                if work == "lookup-layers-cold" or keep == min(KEEP, max(scale.rs)):
                    rounds, equal = 3 * scale.light_rounds, np.array_equal
                    yield versus(theirs, ours, rounds, equal=equal, clock=perf_counter, work=work, k=k, r=keep)


class Cold:
    """A store that is dropped from the page cache whenever it is opened, in one way or the other."""

    def __init__(self, folder: Path, documents: int, keep: int):
        self.plain, self.shards, self.gathered = folder / "plain" / str(keep), folder / "encode", gathered(folder, keep)
        self.documents, self.keep, self.opened = documents, keep, None

    def _drop(self) -> None:
        self.opened = None  # what is mapped is not dropped
        evict(self.plain, self.shards)

    def map_plainly(self) -> None:
        """As numpy maps a file."""
        self._drop()
        names, shape = {"terms.u16": np.uint16, "weights.f16": np.float16}, (self.documents, self.keep)
        self.opened = [np.memmap(self.plain / name, dtype, "r", shape=shape) for name, dtype in names.items()]

    def open_as_before(self) -> None:
        """As we did with one plain store."""
        self._drop()
        self.opened = PlainStore(self.plain, self.documents, self.keep)

    def open(self) -> None:
        """As we do."""
        self._drop()
        self.opened = Lookup(Store(self.gathered))

    def still_there(self, rows: np.ndarray) -> int:
        """How many rows are in memory after they were dropped."""
        self._drop()
        terms = Mapped(self.plain / "terms.u16", np.uint16, (self.documents, self.keep))
        return sum(map(terms.holds, rows.tolist()))
