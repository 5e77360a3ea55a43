"""Our tests of significance against scipy and statsmodels."""

import random

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from epic.evaluation.resampling import bootstrap_interval, randomisation_test, ratio_interval
from epic.evaluation.significance import compare, equivalence_test, holm, paired_t_test
from epic.judging.verdicts import kendall_tau

pytestmark = pytest.mark.parity
RANKS = [0, 0, 0, *(1 / rank for rank in range(1, 11))]


def systems(size, seed=1, lift=0.0):
    draw = random.Random(seed)
    baseline = [draw.choice(RANKS) for _ in range(size)]
    return [1.0 if draw.random() < lift else draw.choice([value, draw.choice(RANKS)]) for value in baseline], baseline


@pytest.mark.parametrize("size", [2, 5, 58, 1000])
def test_the_t_test_agrees_with_scipy(size):
    left, right = systems(size)
    expected = stats.ttest_rel(left, right)
    assert paired_t_test(left, right) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)


@pytest.mark.parametrize(("size", "margin"), [(5, 0.5), (58, 0.1), (1000, 0.02), (1000, 0.001)])
def test_the_equivalence_test_agrees_with_statsmodels(size, margin):
    left, right = systems(size)
    expected, _, _ = ttost_paired(np.array(left), np.array(right), -margin, margin)
    assert equivalence_test(left, right, margin) == pytest.approx(expected, rel=1e-9)


def test_holm_agrees_with_statsmodels():
    draw = random.Random(3)
    for size in (1, 2, 7, 40):
        p_values = [draw.random() ** 4 for _ in range(size)]
        assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1], rel=1e-12)
    assert holm([0.02, 0.02, 0.9]) == pytest.approx(multipletests([0.02, 0.02, 0.9], method="holm")[1])


@pytest.mark.parametrize("size", [58, 1000])
def test_the_bootstrap_interval_agrees_with_scipy_but_for_chance(size):
    left, right = systems(size, lift=0.1)
    differences = np.subtract(left, right)
    expected = stats.bootstrap(
        (differences,), np.mean, confidence_level=0.99, n_resamples=20_000, method="percentile", rng=5
    ).confidence_interval
    width = expected.high - expected.low
    assert bootstrap_interval(differences, 0.99) == pytest.approx([expected.low, expected.high], abs=0.06 * width)


def test_the_interval_of_a_ratio_agrees_with_scipy_but_for_chance():
    draw = np.random.default_rng(3)
    below = draw.gamma(4.0, 5.0, size=200)
    above = below * draw.normal(1.3, 0.1, size=200)
    expected = stats.bootstrap(
        (above, below),
        lambda x, y, axis: x.mean(axis) / y.mean(axis),
        confidence_level=0.95,
        n_resamples=20_000,
        method="percentile",
        paired=True,
        vectorized=True,
        rng=5,
    ).confidence_interval
    width = expected.high - expected.low
    assert ratio_interval(above, below, 0.95) == pytest.approx([expected.low, expected.high], abs=0.06 * width)


@pytest.mark.parametrize(("size", "lift"), [(58, 0.0), (58, 0.2), (400, 0.05)])
def test_the_randomisation_test_agrees_with_scipy_but_for_chance(size, lift):
    left, right = systems(size, seed=4, lift=lift)
    expected = stats.permutation_test(
        (left, right),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=5,
    ).pvalue
    assert randomisation_test(np.subtract(left, right)) == pytest.approx(expected, abs=0.015)


def test_the_effect_size_is_cohens_d_of_the_differences():
    left, right = systems(200, lift=0.1)
    differences = np.subtract(left, right)
    assert compare(left, right, 0.01, None)["effect_size"] == pytest.approx(
        differences.mean() / differences.std(ddof=1), rel=1e-9
    )


def test_kendalls_tau_agrees_with_scipy():
    draw = random.Random(2)
    for size in (2, 5, 12):
        left, right = ([draw.choice([0.1, 0.2, 0.3, 0.4]) for _ in range(size)] for _ in range(2))
        expected = stats.kendalltau(left, right).statistic
        found = kendall_tau(left, right)
        assert (found is None and np.isnan(expected)) or found == pytest.approx(expected, rel=1e-12)
