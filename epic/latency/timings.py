"""Timings in files: every query's nanoseconds, their summary, and the differences of two systems query by query."""

import logging
from typing import TYPE_CHECKING

import numpy as np

from epic.core.files import InputError, write_json
from epic.core.tables import read_table, write_table
from epic.evaluation.resampling import bootstrap_interval, ratio_interval

if TYPE_CHECKING:
    import pandas as pd

log = logging.getLogger(__name__)
WARM, COLD = "warm", "cold"
LEVEL = 0.95
Timing = dict[str, int]  # nanoseconds of one query by stage, the total last


def frame_of(timings: dict[str, dict[str, Timing]]) -> "pd.DataFrame":
    """Turn timings by pass and query into a frame: query and pass as index, a column for each stage."""
    import pandas as pd  # only after everything is measured: its import must not take time from the first query

    records = [
        {"query_id": query_id, "pass": name} | timing
        for name, by_query in timings.items()
        for query_id, timing in by_query.items()
    ]
    return pd.DataFrame(records).set_index(["query_id", "pass"]).astype("int64")


def summary(frame: "pd.DataFrame") -> dict[str, dict]:
    """Sum up one pass by stage: mean with its bootstrap interval, and percentiles, in milliseconds."""
    return {stage: statistics(frame[stage].to_numpy() / 1e6) for stage in frame}


def statistics(values: np.ndarray) -> dict:
    """Return mean, interval of the mean, and percentiles."""
    percentiles = {f"p{p}": float(np.percentile(values, p)) for p in (50, 95, 99)}
    return {"mean": float(values.mean()), "interval": bootstrap_interval(values, LEVEL)} | percentiles


def write_latency(timings: dict, skipped: str | None, about: dict, where: dict, out, queries_out) -> None:
    """Write the summary with the machine it was measured on (`where`), and beside it every query's nanoseconds.

    about: the settings, the rows that were timed together, and the stages: those that run beside each other and those that
    follow.
    """
    frame = frame_of(timings)
    write_table(frame.add_suffix("_ns"), queries_out)
    passes = {name: summary(frame.xs(name, level="pass")) for name in timings}
    facts = {"queries": len(timings[WARM])} | about | {"ms": passes[WARM]}
    facts |= {"cold": passes.get(COLD), "cold_skipped": skipped}
    write_json(out, facts | {"machine": where})
    log.info("mean %.2f ms over %d queries", facts["ms"]["total"]["mean"], facts["queries"])


def read_totals(path) -> "pd.Series":
    """Read the total nanoseconds by query, warm, from a file that `write_latency` wrote."""
    frame = read_table(path, "timings", keys=["query_id", "pass"], number="total_ns", dtype="int64")
    if WARM not in frame.index.get_level_values("pass") or (frame < 0).any(axis=None):
        raise InputError(f"{path}: it has no {WARM} pass, or times below zero; make it again")
    return frame["total_ns"].xs(WARM, level="pass")


def overhead(system_path, baseline_path) -> dict:
    """Return the milliseconds that a system takes beyond a baseline, and its speed-up, over the queries that both answered."""
    system, baseline = read_totals(system_path).rename("system"), read_totals(baseline_path).rename("baseline")
    pairs = system.to_frame().join(baseline, how="inner")  # in the order of the system's queries
    if len(pairs) < min(len(system), len(baseline)):  # a slow row is timed on a part of the other's, and on no other query
        raise InputError(
            f"{system_path} and {baseline_path} were not timed on the same queries; time both anew (--forcerun latency)"
        )
    system_ms, baseline_ms = (pairs[name].to_numpy() / 1e6 for name in pairs)  # (n,), (n,)
    speed_up = {"mean": float(baseline_ms.mean() / system_ms.mean()), "interval": ratio_interval(baseline_ms, system_ms, LEVEL)}
    return {"queries": len(pairs), "ms": statistics(system_ms - baseline_ms), "speed_up": speed_up}
