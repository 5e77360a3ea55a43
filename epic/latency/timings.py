"""Timings in files: every query's nanoseconds, what they come to, and how two systems differ query by query."""

import logging
from typing import NamedTuple

import numpy as np

from epic.files import InputError, numbered_lines, write_json, write_text
from epic.machine import machine
from epic.resampling import bootstrap_interval, ratio_interval

log = logging.getLogger(__name__)
WARM, COLD = "warm", "cold"
LEVEL = 0.95


class Timing(NamedTuple):
    """Nanoseconds of one query by stage."""

    retrieve: int
    load: int
    query_vector: int
    score: int
    total: int


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
    system_ms, baseline_ms = pairs.T  # (n,), (n,)
    speed_up = {"mean": float(baseline_ms.mean() / system_ms.mean()), "interval": ratio_interval(baseline_ms, system_ms, LEVEL)}
    return {"queries": len(pairs), "ms": statistics(system_ms - baseline_ms), "speed_up": speed_up}
