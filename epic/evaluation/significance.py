"""Tests of whether two systems differ by more than chance and, if not, whether the difference is known to be small.

The paper's test is the paired t-test at p < 0.01. This module adds Holm's correction within a family of comparisons, a
bootstrap interval, the effect size, wins and losses, a randomisation test as a cross-check, and an equivalence test
(two one-sided t-tests), since a large p alone never shows that two systems are the same.
"""

import logging
import math

import pandas as pd

from epic.core.files import InputError, write_json
from epic.corpus.query_counts import refuse_other_ids
from epic.evaluation.evaluate import read_values
from epic.evaluation.measures import mean
from epic.evaluation.resampling import DRAWS, SEED, bootstrap_interval, randomisation_test

log = logging.getLogger(__name__)


def paired_t_test(system: list[float], baseline: list[float]) -> tuple[float, float]:
    """Return t and p of the paired differences; systems that never differ have t = 0 and p = 1.

    If every query differs by the same amount, t is infinite and p is 0.
    """
    from scipy.special import stdtr  # scipy.stats gives the same, but takes a second to import

    centre, error, count = _moments(_differences(system, baseline))
    if error == 0:
        return (math.copysign(math.inf, centre), 0.0) if centre else (0.0, 1.0)
    t = centre / error
    return t, float(2 * stdtr(count - 1, -abs(t)))


def equivalence_test(system: list[float], baseline: list[float], margin: float) -> float:
    """Return p of the two one-sided t-tests (TOST): small if the true difference is within plus or minus `margin`."""
    from scipy.special import stdtr

    centre, error, count = _moments(_differences(system, baseline))
    if error == 0:
        return 0.0 if abs(centre) < margin else 1.0
    return float(max(stdtr(count - 1, -(margin + centre) / error), stdtr(count - 1, -(margin - centre) / error)))


def _differences(system: list[float], baseline: list[float]) -> list[float]:
    if len(system) != len(baseline) or len(system) < 2:
        raise InputError(f"a paired test needs two or more paired values, not {len(system)} and {len(baseline)}")
    return [left - right for left, right in zip(system, baseline, strict=True)]


def _moments(differences: list[float]) -> tuple[float, float, int]:
    """Return mean, standard error and number; the error is exactly 0 only if all differences are the same."""
    count, centre = len(differences), mean(differences)
    if all(difference == differences[0] for difference in differences):
        return differences[0], 0.0, count
    variance = math.fsum((difference - centre) ** 2 for difference in differences) / (count - 1)
    return centre, math.sqrt(variance / count), count


def holm(p_values: list[float]) -> list[float]:
    """Return the adjusted p of each test of a family, by Holm's step-down correction."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def compare(system: list[float], baseline: list[float], alpha: float, margin: float | None) -> dict:
    """Return everything about one pair except what depends on its family."""
    differences = _differences(system, baseline)
    t, p = paired_t_test(system, baseline)
    centre, error, count = _moments(differences)
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return {
        "queries": count,
        "system_mean": mean(system),
        "baseline_mean": mean(baseline),
        "difference": centre,
        "interval": bootstrap_interval(differences, 1 - alpha),
        "t": t if math.isfinite(t) else None,
        "p": p,
        "p_randomisation": randomisation_test(differences),
        "effect_size": centre / (error * math.sqrt(count)) if error else (None if centre else 0.0),  # Cohen's d_z
        "wins": wins,
        "ties": count - wins - losses,
        "losses": losses,
        "margin": margin,
        "p_equivalence": None if margin is None else equivalence_test(system, baseline, margin),
    }


def conclusion(test: dict, alpha: float) -> str:
    """Say what a reader may conclude: different, equivalent within a margin, or neither is known."""
    different = test["p_holm"] < alpha
    equivalent = test["margin"] is not None and test["p_equivalence_holm"] < alpha
    if different:
        return f"different, by less than {test['margin']:g}" if equivalent else "different"
    return f"equivalent within ±{test['margin']:g}" if equivalent else "inconclusive"


def side_by_side(paths: dict, metric: str, counts=None) -> pd.DataFrame:
    """Join the values of one measure: queries as index, a column for each row of the table; paths: row id -> its values.

    counts: the judged queries that there must be; without it, rows must only agree with one another.
    """
    columns = {}
    for row_id, path in paths.items():
        columns[row_id] = read_values(path, metric)[metric]
        if counts is not None:
            refuse_other_ids(path, columns[row_id].index, counts)
    return pd.DataFrame(columns)


def paired(values: pd.DataFrame, system: str, baseline: str) -> tuple[list[float], list[float]]:
    """Take two columns, query by query; both systems must have been evaluated on the same queries."""
    pairs = values[[system, baseline]].dropna(how="all")  # without queries that only other rows have
    if pairs.isna().any(axis=None):
        raise InputError(
            f"{system} and {baseline} were not evaluated on the same queries; evaluate both anew (--forcerun evaluate)"
        )
    return pairs[system].tolist(), pairs[baseline].tolist()


def write_tests(families: list[dict], paths: dict, counts, metric: str, alpha: float, out) -> None:
    """Write all declared comparisons of one query set, family by family; paths: row id -> its per-query values."""
    values = side_by_side(paths, metric, counts)
    found = []
    for family in families:
        tests = [compare(*paired(values, *pair), alpha, family["margin"]) for pair in family["pairs"]]
        adjusted = holm([test["p"] for test in tests])
        none = family["margin"] is None
        equivalent = [None] * len(tests) if none else holm([test["p_equivalence"] for test in tests])
        for test, p, p_equivalence in zip(tests, adjusted, equivalent, strict=True):
            test |= {"p_holm": p, "p_equivalence_holm": p_equivalence, "significant": p < alpha}
            test["conclusion"] = conclusion(test, alpha)
        tests = [{"system": pair[0], "baseline": pair[1]} | test for pair, test in zip(family["pairs"], tests, strict=True)]
        found.append({key: family[key] for key in ("mark", "says", "margin")} | {"tests": tests})
    log.info("%d comparisons", sum(len(family["tests"]) for family in found))
    write_json(out, {"metric": metric, "alpha": alpha, "draws": DRAWS, "seed": SEED, "families": found})
