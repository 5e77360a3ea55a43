"""Counting float16 values by the tenth that they round up to."""

import numpy as np
import pytest

from epic.vectors.frequencies import share_up_to
from epic.vectors.value_counts import Counter


def test_values_are_rounded_up_by_hand():
    counter = Counter()
    counter.add(np.array([[0.0, 0.05, 0.25], [-0.05, -0.75, 1.0]], dtype=np.float16))
    assert counter.tenths() == {0: 2, 1: 1, 3: 1, -7: 1, 10: 1}
    assert share_up_to(counter.tenths(), 1) == pytest.approx(4 / 6)


def test_both_zeros_count_as_one_and_counts_of_blocks_add_up():
    counter = Counter()
    assert counter.tenths() == {}
    counter.add(np.array([[0.0, -0.0]], dtype=np.float16))
    counter.add(np.empty((0, 5), dtype=np.float16))
    counter.add(np.array([[-0.0], [0.5]], dtype=np.float16))
    assert counter.tenths() == {0: 3, 5: 1}


def test_a_value_is_rounded_up_as_float16_holds_it():
    """0.1 is a little less in float16 and 0.2 too; 0.3 is a little more, and goes up to 0.4."""
    counter = Counter()
    counter.add(np.array([[0.1, 0.2, 0.3, 65_504, -65_504]], dtype=np.float16))
    assert counter.tenths() == {1: 1, 2: 1, 4: 1, 655_040: 1, -655_040: 1}
