"""Findings of an experiment, as the checks of the paper's claims ask for them."""

from dataclasses import dataclass
from typing import NamedTuple

from epic.core.files import read_json


class UncheckedError(Exception):
    """A claim that cannot be checked here; the message says why."""


class Found(NamedTuple):
    """A finding: a number or a word, and whether the claim holds, if that does not follow from the number."""

    value: float | str
    holds: bool | None = None
    detail: str = ""
    differs: tuple[str, ...] = ()  # besides collection and encoder
    interval: list[float] | None = None  # of a measured number


@dataclass
class Evidence:
    """All findings by model, by (model, first stage) or by row; large ones as paths."""

    headline: str  # the query set of tests, values and `ours_headline`
    measure: str  # of tests, values, `ours` and `ours_headline`
    selection: str  # the measure by which cut-offs and iterations were chosen
    rows: dict[str, dict]  # records of the table for rows that were run
    tests: list[dict]
    values: dict[str, str]  # per-query values, paths
    statistics: dict
    cutoffs: dict[tuple[str, str], dict]
    histories: dict[str, str]  # paths
    frequencies: dict[str, str]  # paths
    costs: dict[str, dict]
    latencies: dict[str, dict]
    timings: dict[str, dict[str, str]]  # paths by measurement and row
    texts: dict[str, dict]

    def row(self, model: str, first_stage: str, keep) -> dict:
        """Return the row of a model on a first stage."""
        name = f"{model} on {first_stage} with r={keep}"
        return self._one(lambda row: (row["model"], row["first_stage"], row["keep"]) == (model, first_stage, keep), name)

    def first(self, first_stage: str) -> dict:
        """Return the row of a first stage alone."""
        return self._one(lambda row: row["kind"] == "first-stage" and row["first_stage"] == first_stage, first_stage)

    def _one(self, wanted, name: str) -> dict:
        for row in self.rows.values():
            if wanted(row):
                return row
        raise UncheckedError(f"{name} is not run here")

    def test(self, system: dict, baseline: dict) -> dict:
        """Return the declared comparison of two rows."""
        found = [test for test in self.tests if (test["system"], test["baseline"]) == (system["id"], baseline["id"])]
        if not found:
            raise UncheckedError(f"{system['id']} is not compared with {baseline['id']} in this experiment")
        return next((test for test in found if test["margin"] is not None), found[0])  # the most informative one

    def other_set(self, row: dict) -> tuple[str, ...]:
        """Return "query set" if the headline query set is not that of a row's published value."""
        return () if row["published_query_set"] == self.headline else ("query set",)


def paired_timings(timings: dict[str, dict], system: str, baseline: str) -> tuple:
    """Return the timings of two rows from one measurement; rows that were timed at different times are not compared."""
    for measured in timings.values():
        if system in measured and baseline in measured:
            return measured[system], measured[baseline]
    raise UncheckedError(f"{system} and {baseline} were not timed side by side")


def require(by_key: dict, key, what: str):
    """Return a value, or raise the reason why there is none."""
    if key not in by_key:
        raise UncheckedError(f"there is no {what} here")
    return by_key[key]


def read_evidence(evaluated: dict, table, tests, statistics, cutoffs: dict, by_model: dict, by_row: dict) -> Evidence:
    """Read the findings of an experiment from paths, or paths by model, by row or (cutoffs) by model and first stage.

    evaluated: the headline query set, the measure of the table, and that of selection.
    """
    return Evidence(
        **evaluated,
        rows={row["id"]: row for row in read_json(table)["rows"] if row["ours"] is not None},
        tests=[test for family in read_json(tests)["families"] for test in family["tests"]],
        values=by_row["values"],
        statistics=read_json(statistics),
        cutoffs={(model, stage): read_json(path) for model, stages in cutoffs.items() for stage, path in stages.items()},
        histories=by_model["histories"],
        frequencies=by_model["frequencies"],
        costs={model: read_json(path) for model, path in by_model["costs"].items()},
        latencies={row: read_json(path) for row, path in by_row["latencies"].items()},
        timings=by_row["timings"],
        texts={model: read_json(path) for model, path in by_model["texts"].items()},
    )
