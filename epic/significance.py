"""Is the difference between two systems more than chance? The paper's paired t-test."""

import logging
import math

from epic.evaluate import mean, read_values
from epic.files import InputError, write_json

log = logging.getLogger(__name__)


def paired_t_test(system: list[float], baseline: list[float]) -> tuple[float, float]:
    """t and p of the paired differences; systems that never differ have t = 0 and p = 1.

    Where every query differs by the same amount, t is infinite and p is 0.
    """
    from scipy.special import stdtr  # scipy.stats says the same, but takes a second to import

    if len(system) != len(baseline) or len(system) < 2:
        raise InputError(f"a paired test needs two or more paired values, not {len(system)} and {len(baseline)}")
    if all(left == right for left, right in zip(system, baseline, strict=True)):
        return 0.0, 1.0
    differences = [left - right for left, right in zip(system, baseline, strict=True)]
    count, centre = len(differences), mean(differences)
    variance = math.fsum((difference - centre) ** 2 for difference in differences) / (count - 1)
    if variance == 0:
        return math.copysign(math.inf, centre), 0.0
    t = centre / math.sqrt(variance / count)
    return t, float(2 * stdtr(count - 1, -abs(t)))


def compare(system_path, baseline_path, metric: str, alpha: float, out) -> None:
    """Write the test of two per-query tables over the same judged queries."""
    system, baseline = read_values(system_path)[metric], read_values(baseline_path)[metric]
    if system.keys() != baseline.keys():
        raise InputError(f"{system_path} and {baseline_path} do not hold the same queries; evaluate both again")
    left, right = list(system.values()), [baseline[query_id] for query_id in system]
    t, p = paired_t_test(left, right)
    difference = mean(left) - mean(right)
    log.info("difference %+.4f, t %.3f, p %.4g over %d queries", difference, t, p, len(left))
    facts = {"metric": metric, "queries": len(left), "system_mean": mean(left), "baseline_mean": mean(right)}
    write_json(
        out,
        facts
        | {"difference": difference, "t": t if math.isfinite(t) else None, "p": p, "alpha": alpha, "significant": p < alpha},
    )
