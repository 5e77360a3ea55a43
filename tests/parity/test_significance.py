"""Our paired t-test against scipy.stats."""

import random

import pytest
from scipy.stats import ttest_rel

from epic.significance import paired_t_test


@pytest.mark.parity
def test_the_t_test_agrees_with_scipy_stats():
    draw = random.Random(1)
    for size in (2, 5, 58, 1000):
        left, right = ([draw.choice([0, 0.1, 0.25, 0.5, 1]) for _ in range(size)] for _ in range(2))
        if left == right:
            continue
        expected = ttest_rel(left, right)
        assert paired_t_test(left, right) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
