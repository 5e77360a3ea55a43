"""How each claim of the paper is computed: one small function a kind of claim, named as in claims.yaml.

Each returns a `Found`. Nothing is computed where an experiment lacks what it takes: that raises `UncheckedError` with the reason.
"""

from dataclasses import dataclass
from typing import NamedTuple

from epic.frequencies import read_frequencies, share_up_to
from epic.history import best_of, read_history
from epic.latency import overhead


class UncheckedError(Exception):
    """A claim that cannot be checked here; the message says why."""


class Found(NamedTuple):
    """What was found here: a number or a word, and whether the claim holds, where that does not follow from the number."""

    value: float | str
    holds: bool | None = None
    detail: str = ""
    differs: tuple[str, ...] = ()  # from the paper's conditions, beyond collection and encoder


@dataclass
class Evidence:
    """Everything an experiment found out; by model, by (model, first stage) or by row."""

    rows: dict[str, dict]  # records of the table
    tests: list[dict]  # of the headline query set
    statistics: dict
    cutoffs: dict[tuple[str, str], dict]
    histories: dict[str, str]  # paths
    frequencies: dict[str, str]  # paths
    costs: dict[str, dict]
    latencies: dict[str, dict]
    timings: dict[str, str]  # paths

    def row(self, model: str, first_stage: str, keep) -> dict:
        """The row of a model on a first stage."""
        return self._one(lambda row: (row["model"], row["first_stage"], row["keep"]) == (model, first_stage, keep), model)

    def first(self, first_stage: str) -> dict:
        """The row of a first stage alone."""
        return self._one(lambda row: row["kind"] == "first-stage" and row["first_stage"] == first_stage, first_stage)

    def _one(self, wanted, name: str) -> dict:
        for row in self.rows.values():
            if wanted(row):
                return row
        raise UncheckedError(f"this experiment has no such row of {name}")

    def test(self, system: dict, baseline: dict) -> dict:
        """The declared comparison of two rows."""
        for test in self.tests:
            if (test["system"], test["baseline"]) == (system["id"], baseline["id"]):
                return test
        raise UncheckedError(f"{system['id']} is not compared with {baseline['id']} in this experiment")


def of(by_key: dict, key, what: str):
    """A value, or the reason why there is none."""
    if key not in by_key:
        raise UncheckedError(f"there is no {what} here")
    return by_key[key]


def statistic(evidence: Evidence, model, *keys) -> Found:
    """A number of the collection."""
    value = evidence.statistics
    if not value[keys[0]]["count"]:
        raise UncheckedError(f"no {keys[0]} are counted in this experiment")
    for key in keys:
        value = value[key]
    return Found(value)


def best_iteration(evidence: Evidence, model) -> Found:
    """The iteration that training went back to."""
    history = read_history(of(evidence.histories, model, "training of this model"))
    return Found(best_of(history).iteration, detail=f"of {len(history)}")


def effectiveness(evidence: Evidence, model, first_stage, keep) -> Found:
    """MRR@10 of a row, on its own query set."""
    row = evidence.row(model, first_stage, keep)
    differs = () if row["query_set"] == row["published_query_set"] else ("query set",)
    return Found(row["ours"], detail=f"on {row['query_set']}", differs=differs)


def better(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """Significantly better than a first stage."""
    return _direction(evidence.test(evidence.row(model, first_stage, keep), evidence.first(baseline)), "better")


def additive(evidence: Evidence, model, stronger, weaker) -> Found:
    """Significantly better than the stronger first stage, and better than re-ranking the weaker one."""
    system, other = evidence.row(model, stronger, "full"), evidence.row(model, weaker, "full")
    found = _direction(evidence.test(system, evidence.first(stronger)), "better")
    if system["ours"] <= other["ours"]:
        return Found("not better", False, f"{system['ours']:.4f} against {other['ours']:.4f} of {other['id']}")
    return found


def no_difference(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """Equivalent to a first stage within the margin."""
    return _equivalence(evidence.test(evidence.row(model, first_stage, keep), evidence.first(baseline)))


def pruned_like_full(evidence: Evidence, model, first_stage, keep) -> Found:
    """Equivalent to the unpruned row within the margin."""
    return _equivalence(evidence.test(evidence.row(model, first_stage, keep), evidence.row(model, first_stage, "full")))


def pruned_worse(evidence: Evidence, model, first_stage, keep) -> Found:
    """Significantly worse than the unpruned row."""
    return _direction(evidence.test(evidence.row(model, first_stage, keep), evidence.row(model, first_stage, "full")), "worse")


def _direction(test: dict, word: str) -> Found:
    sign = 1 if word == "better" else -1
    detail = f"{test['difference']:+.4f}, corrected p = {test['p_holm']:.2g}"
    if not test["significant"]:
        return Found("inconclusive", None, detail)
    holds = test["difference"] * sign > 0
    return Found(word if holds else f"not {word}", holds, detail)


def _equivalence(test: dict) -> Found:
    detail = f"{test['difference']:+.4f}, equivalence within ±{test['margin']}: p = {test['p_equivalence']:.2g}"
    if test["conclusion"].startswith("equivalent"):
        return Found("no difference", True, detail)
    return Found("different", False, detail) if test["significant"] else Found("inconclusive", None, detail)


def values_at_most(evidence: Evidence, model, tenths) -> Found:
    """The share of values that round up to so many tenths or less."""
    return Found(share_up_to(read_frequencies(of(evidence.frequencies, model, "count of values")), tenths))


def cutoff(evidence: Evidence, model, first_stage) -> Found:
    """The tuned re-ranking cut-off."""
    found = of(evidence.cutoffs, (model, first_stage), f"cut-off on {first_stage}")
    return Found(found["cutoff"], detail=f"of 1 to {len(found['curve'])}")


def lower_cutoff(evidence: Evidence, model, lower, higher) -> Found:
    """Whether one first stage needs fewer re-ranked hits than another."""
    left, right = (cutoff(evidence, model, stage).value for stage in (lower, higher))
    return Found("lower" if left < right else "not lower", left < right, f"{left} on {lower}, {right} on {higher}")


def query_vector_ms(evidence: Evidence, model, device) -> Found:
    """Mean milliseconds of a query vector, where it was computed on that device."""
    used = of(evidence.costs, model, "cost of this model")["compute"]["device"]
    if used != device:
        raise UncheckedError(f"the model runs on {used} in this experiment")
    return _stage_ms(evidence, model, "query_vector")


def score_ms(evidence: Evidence, model) -> Found:
    """Mean milliseconds of scoring."""
    return _stage_ms(evidence, model, "score")


def _stage_ms(evidence: Evidence, model, stage: str) -> Found:
    row = evidence.row(model, "bm25", 1000)
    found = of(evidence.latencies, row["id"], "latency")["ms"][stage]
    return Found(found["mean"], detail=f"{row['id']}, p95 {found['p95']:.2g} ms")


def slower(evidence: Evidence, model, first_stage, other) -> Found:
    """Whether re-ranking one first stage takes longer than re-ranking another."""
    left, right = (evidence.row(model, stage, "full") for stage in (first_stage, other))
    low, high = overhead(evidence.timings[left["id"]], evidence.timings[right["id"]])["ms"]["interval"]
    detail = f"{left['ours_ms']:.1f} and {right['ours_ms']:.1f} ms, difference {low:+.1f} to {high:+.1f} ms"
    if low <= 0 <= high:
        return Found("inconclusive", None, detail)
    return Found("slower" if low > 0 else "not slower", low > 0, detail)


def overhead_ms(evidence: Evidence, model, first_stage, keep) -> Found:
    """Mean milliseconds that re-ranking adds to its first stage, query by query."""
    row, first = evidence.row(model, first_stage, keep), evidence.first(first_stage)
    found = overhead(evidence.timings[row["id"]], evidence.timings[first["id"]])["ms"]
    return Found(found["mean"], detail=f"{found['interval'][0]:.1f} to {found['interval'][1]:.1f} ms")


def speed_up(evidence: Evidence, model, first_stage, keep, baseline) -> Found:
    """How many times as fast as a first stage."""
    row, first = evidence.row(model, first_stage, keep), evidence.first(baseline)
    return Found(overhead(evidence.timings[row["id"]], evidence.timings[first["id"]])["speed_up"])


def cost(evidence: Evidence, model, keep, key, unit=1) -> Found:
    """A number of a store."""
    stores = {store["keep"]: store for store in of(evidence.costs, model, "cost of this model")["stores"]}
    return Found(of(stores, keep, f"store of r={keep}")[key] / unit)


def cost_hours(evidence: Evidence, model) -> Found:
    """Hours for MS MARCO at the rate that was measured."""
    found = of(evidence.costs, model, "cost of this model")
    return Found(
        found["ms_marco_hours"], detail=f"at {found['passages_per_second']:.0f} passages/s on {found['compute']['device']}"
    )


WITHOUT_MODEL = {"statistic"}
_OF_QUALITY = (effectiveness, better, additive, no_difference, pruned_like_full, pruned_worse, values_at_most)
_OF_TIME = (cutoff, lower_cutoff, query_vector_ms, score_ms, slower, overhead_ms, speed_up, cost, cost_hours)
CHECKS = {check.__name__: check for check in (statistic, best_iteration, *_OF_QUALITY, *_OF_TIME)}
