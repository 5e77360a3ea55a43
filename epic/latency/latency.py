"""Latency as the paper measures it: one query at a time; the first queries warm up, the others count.

Rows that are timed together take turns query by query, each query beginning with another row, so that a drift of the machine
meets all of them alike. A slow row may answer fewer queries: the last that warm up, and the first that count. The queries that
count run again with index and vectors dropped from memory, if the system allows it: one row after the other, since a row must
not find in memory what another has just read. Nothing here is deterministic, so a row's JSON holds none of it.
"""

import gc
import re
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter_ns, sleep
from typing import NamedTuple

from epic.core.files import InputError, read_json
from epic.core.log import progress
from epic.core.mapped import evict
from epic.corpus.text_files import read_queries
from epic.first_stage import anserini
from epic.latency.timings import COLD, WARM
from epic.rankers import family

ATTEMPTS, SECONDS_BETWEEN = 5, 0.2
FIRST_STAGE = {"beside": [["retrieve"]], "after": []}  # the stages of a row that does not re-rank


class Bench:
    """What rows that are timed together share: a folder for files of the measurement, and models, each loaded once."""

    def __init__(self, scratch):
        self.scratch, self._made = Path(scratch), {}

    def once(self, key, make: Callable):
        """Return what was made under this key; make it if nothing was."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


class System:
    """A row of the table at query time; its files can be closed and opened again, models stay in memory.

    No query goes through the searcher before it is timed. files: the files that the row needs, by name; settings:
    first_stage, hits, encode and compute; bench: what it shares with other rows.
    """

    def __init__(self, files, queries: dict[str, str], row: dict, settings: dict, bench: Bench):
        self.lucene, self.first_stage, self.hits = files.lucene, settings["first_stage"], settings["hits"]
        self.stages, self.cutoff, self.reranker, self.searcher = FIRST_STAGE, None, None, None
        self.reranked = None
        if row["family"]:
            ranker = family(row["family"])
            self.stages = ranker.STAGES
            self.cutoff = read_json(files.cutoff)["cutoff"] if files.cutoff else None  # else all hits, as a published run did
            self.reranked = self.cutoff or self.hits
            self.hits = max(self.hits, self.reranked)  # as many as the row re-ranks
            self.reranker = ranker.timed(self.search, files, queries, row, settings, bench)

    def search(self, text: str) -> list[str]:
        """Return the ids of the hits that are re-ranked, or of all if there is no re-ranking."""
        return [hit.docid for hit in self.searcher.search(text, self.hits)][: self.cutoff]

    @property
    def on_disk(self) -> list[Path]:
        """Files and folders that are read at query time."""
        return [Path(self.lucene), *(self.reranker.on_disk if self.reranker else [])]

    @contextmanager
    def opened(self):
        """Yield a function that times one query."""
        self.searcher = anserini.Searcher(self.lucene, self.first_stage["k1"], self.first_stage["b"])
        try:
            if self.reranker is None:
                yield lambda text: retrieve_timing(self.search, text)
            else:
                with self.reranker.opened() as time_one:
                    yield time_one
        finally:
            self.searcher.close()
            gc.collect()  # a file that is still mapped cannot be dropped from memory


def retrieve_timing(search, text: str) -> dict[str, int]:
    """Time a query through the first stage alone, in nanoseconds."""
    start = perf_counter_ns()
    search(text)
    took = perf_counter_ns() - start
    return {"retrieve": took, "total": took}


def java_version() -> str | None:
    """Return the version of the Java that retrieves, as its own `release` file has it; None where there is no such file."""
    release = anserini.java_home() / "release"
    found = re.search(r'^JAVA_VERSION="([\w.+-]+)"', release.read_text("utf-8", "replace"), re.M) if release.exists() else None
    return found and found[1]


def timed_queries(path, warm_up: int, measured: int) -> dict[str, str]:
    """Return the first queries of a set: those that warm up and those that count."""
    queries = read_queries(path)
    if len(queries) < warm_up + measured:
        raise InputError(f"latency needs {warm_up} + {measured} queries, {path} has {len(queries)}")
    return dict(list(queries.items())[: warm_up + measured])


class Asked(NamedTuple):
    """The queries of one row, in file order."""

    all: dict[str, str]
    counted: dict[str, str]  # without those that warm up


def asked_of(queries: dict[str, str], shared: dict, own: dict) -> Asked:
    """Return the queries of a row, around the first that counts; shared, own: `warm_up` and `measured` of all and of this row."""
    items, first = list(queries.items()), shared["warm_up"]
    end = first + own["measured"]
    return Asked(dict(items[first - own["warm_up"] : end]), dict(items[first:end]))


Timings = dict[str, dict[str, dict[str, int]]]  # nanoseconds by pass, query and stage


def about(row: str, systems: dict[str, System], shared: dict, own: dict) -> dict:
    """Say how a row was timed: the settings, its own where they differ, the rows beside it and its stages.

    `instead_of` stands only where the row was timed on fewer queries than the experiment asks for, `reranked`, the number of
    hits, only where it re-ranks.
    """
    counts = own["queries"]
    fewer = {"instead_of": shared["measured"]} if counts["measured"] < shared["measured"] else {}
    settings = shared | {"hits": own["hits"]} | counts
    depth = {"reranked": systems[row].reranked} if systems[row].reranked else {}
    return fewer | depth | {"settings": settings, "together": list(systems), "stages": systems[row].stages}


def measure(
    systems: dict[str, System], queries: dict[str, str], asked: dict[str, Asked]
) -> dict[str, tuple[Timings, str | None]]:
    """Return, by row, timings after the warm-up in file order, and the reason for a missing cold pass.

    asked: which of the queries each row answers.
    """
    evict(*(path for system in systems.values() for path in system.on_disk))  # all begin alike, whatever was read before
    gc.freeze()  # models and libraries stay; looking at them whenever files are closed would take a fifth of a second each time
    warm = _in_turns(systems, queries, asked)
    found = {}
    for row, system in systems.items():
        counted = asked[row].counted
        passes = {WARM: {query_id: warm[row][query_id] for query_id in counted}}
        if not _dropped(system.on_disk):
            found[row] = passes, "index and vectors could not be dropped from memory on this file system"
            continue
        with system.opened() as time_one:
            passes[COLD] = {query_id: time_one(text) for query_id, text in progress(counted.items(), desc=f"{row}, cold")}
        found[row] = passes, None
    return found


def _in_turns(systems: dict, queries: dict[str, str], asked: dict[str, Asked]) -> dict[str, dict[str, dict[str, int]]]:
    """Time every query in every row that answers it before the next query comes; each query begins with the next row."""
    timings = {row: {} for row in systems}
    with ExitStack() as stack:
        time_one = {row: stack.enter_context(system.opened()) for row, system in systems.items()}
        for number, (query_id, text) in enumerate(progress(queries.items(), desc="queries")):
            rows = [row for row in systems if query_id in asked[row].all]
            first = number % len(rows) if rows else 0
            for row in rows[first:] + rows[:first]:
                timings[row][query_id] = time_one[row](text)
        time_one.clear()  # what holds these functions keeps files mapped
    return timings


def _dropped(paths: list[Path]) -> bool:
    """Tell whether files could be dropped from memory; Java may need a moment to release the files it had mapped."""
    return any(evict(*paths) or sleep(SECONDS_BETWEEN) for _ in range(ATTEMPTS))
