"""Latency as the paper measures it: one query at a time, first some to warm up, then those that count.

Afterwards the same queries again with index and vectors dropped from memory, where the system allows it. Nothing here
is deterministic, so nothing of it is in a row's JSON.
"""

from pathlib import Path
from time import sleep

from epic.files import InputError
from epic.log import progress
from epic.mapped import evict
from epic.records import read_queries
from epic.timed import System
from epic.timings import COLD, WARM, Timing

ATTEMPTS, SECONDS_BETWEEN = 5, 0.2


def timed_queries(path, warm_up: int, measured: int) -> dict[str, str]:
    """The first queries of a set: those that warm up and those that count."""
    queries = read_queries(path)
    if len(queries) < warm_up + measured:
        raise InputError(f"latency needs {warm_up} + {measured} queries, {path} has {len(queries)}")
    return dict(list(queries.items())[: warm_up + measured])


def measure(system: System, queries: dict[str, str], warm_up: int) -> tuple[dict[str, dict[str, Timing]], str | None]:
    """Timings after the warm-up, in file order, by pass; and why there is no cold pass, if there is none."""
    counted = dict(list(queries.items())[warm_up:])
    evict(*system.on_disk)  # every row begins alike, whatever was written or read before
    with system.opened() as time_one:
        timings = {query_id: time_one(text) for query_id, text in progress(queries.items(), desc="latency")}
    found = {WARM: {query_id: timings[query_id] for query_id in counted}}
    if not _dropped(system.on_disk):
        return found, "index and vectors could not be dropped from memory on this file system"
    with system.opened() as time_one:
        found[COLD] = {query_id: time_one(text) for query_id, text in progress(counted.items(), desc="latency, cold")}
    return found, None


def _dropped(paths: list[Path]) -> bool:
    """Whether files could be dropped from memory; Java may need a moment to let go of what it had mapped."""
    return any(evict(*paths) or sleep(SECONDS_BETWEEN) for _ in range(ATTEMPTS))
