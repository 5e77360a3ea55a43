"""Latency as the paper measures it: one query at a time, first some to warm up, then those that count.

Afterwards the same queries again with index and vectors dropped from memory, where the system allows it. Nothing here
is deterministic, so nothing of it is in a row's JSON.
"""

import logging
from pathlib import Path
from time import sleep

import numpy as np

from epic.data import read_queries
from epic.files import InputError, numbered_lines, write_json, write_text
from epic.log import progress
from epic.machine import machine
from epic.mapped import evict
from epic.significance import bootstrap_interval
from epic.timed import System, Timing

log = logging.getLogger(__name__)
WARM, COLD = "warm", "cold"
LEVEL = 0.95
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


def summary(timings: dict[str, Timing]) -> dict[str, dict]:
    """Mean with its bootstrap interval, and percentiles, in milliseconds by stage."""
    table = np.array(list(timings.values()), dtype=np.float64) / 1e6  # (n, stages)
    return {stage: statistics(column) for stage, column in zip(Timing._fields, table.T, strict=True)}


def statistics(values: np.ndarray) -> dict:
    """Mean, interval of the mean, and percentiles."""
    percentiles = {f"p{p}": float(np.percentile(values, p)) for p in (50, 95, 99)}
    return {"mean": float(values.mean()), "interval": bootstrap_interval(values, LEVEL)} | percentiles


def write_latency(timings: dict, skipped: str | None, settings: dict, threads: int, out, queries_out) -> None:
    """The summary with the machine it was measured on, and beside it every query's nanoseconds."""
    lines = ["\t".join(("query_id", "pass", *(f"{stage}_ns" for stage in Timing._fields)))]
    for name, by_query in timings.items():
        lines += ["\t".join((query_id, name, *map(str, timing))) for query_id, timing in by_query.items()]
    write_text(queries_out, "\n".join(lines) + "\n")
    facts = {"queries": len(timings[WARM]), "settings": settings, "ms": summary(timings[WARM])}
    facts |= {"cold": summary(timings[COLD]) if COLD in timings else None, "cold_skipped": skipped}
    write_json(out, facts | {"machine": machine() | {"threads": threads}})
    log.info("mean %.2f ms over %d queries", facts["ms"]["total"]["mean"], facts["queries"])


def read_totals(path) -> dict[str, int]:
    """Total nanoseconds by query, warm, of a file that `write_latency` wrote."""
    header, *lines = [line.split("\t") for _, line in numbered_lines(path)] or [[]]
    if header[:2] != ["query_id", "pass"] or header[-1] != "total_ns" or any(len(line) != len(header) for line in lines):
        raise InputError(f"{path}: not a table of timings; delete it and run again")
    return {line[0]: int(line[-1]) for line in lines if line[1] == WARM}


def overhead(system_path, baseline_path) -> dict:
    """Milliseconds that a system takes beyond a baseline, query by query, and how many times as fast it is."""
    system, baseline = read_totals(system_path), read_totals(baseline_path)
    if system.keys() != baseline.keys():
        raise InputError(f"{system_path} and {baseline_path} were not timed on the same queries; delete both, run again")
    pairs = np.array([(system[query_id], baseline[query_id]) for query_id in system], dtype=np.float64) / 1e6  # (n, 2)
    means = pairs.mean(axis=0)
    return {"queries": len(pairs), "ms": statistics(pairs[:, 0] - pairs[:, 1]), "speed_up": float(means[1] / means[0])}
