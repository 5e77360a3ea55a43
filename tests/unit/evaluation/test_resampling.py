"""Bootstrap intervals and the randomisation test, by hand."""

import numpy as np
import pytest

from epic.evaluation.resampling import bootstrap_interval, randomisation_test, ratio_interval


def test_the_randomisation_test_by_hand():
    # one of three queries differs: swapped or not, the sum is as large as the observed one
    assert randomisation_test([0.5, 0.0, 0.0]) == 1.0
    # ten queries all won by the same: two of 1024 sign patterns are as extreme
    assert randomisation_test([0.5] * 10) == pytest.approx(2 / 1024, abs=0.0015)


def test_the_bootstrap_interval_by_hand():
    # two queries, 0 and 1: the mean is 0 or 1 in a quarter of the draws each
    assert bootstrap_interval([0.0, 1.0], 0.99) == [0.0, 1.0]
    assert bootstrap_interval([0.25, 0.25, 0.25], 0.99) == [0.25, 0.25]
    assert ratio_interval(np.array([2.0, 2.0]), np.array([1.0, 1.0]), 0.95) == [2.0, 2.0]


def test_the_interval_does_not_depend_on_the_size_of_the_pieces(monkeypatch):
    values = np.linspace(0, 1, 300)
    whole = bootstrap_interval(values, 0.99)
    monkeypatch.setattr("epic.evaluation.resampling.CELLS", 1000)
    assert bootstrap_interval(values, 0.99) == pytest.approx(whole, abs=0.02)
