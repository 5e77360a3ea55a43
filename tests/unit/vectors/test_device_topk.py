"""Selection and counting by torch: the same as by compiled code, whatever the values."""

import numpy as np
import pytest
import torch

from epic.vectors import device_topk, topk
from epic.vectors.value_counts import Counter

WIDE = 40_000  # more entries than 15 bits can number


def rows(kind: str, width: int) -> np.ndarray:
    """Make float16 rows with many ties, both zeros and, if asked for, every sign and size."""
    draw = np.random.default_rng(5)
    if kind == "ties":
        values = draw.integers(-3, 4, size=(6, width)) / 4
    elif kind == "zeros":
        values = np.where(draw.random((6, width)) < 0.5, 0.0, -0.0)
    else:
        bits = draw.integers(0, 1 << 16, size=(6, width)).astype(np.uint16)
        values = np.where(np.isfinite(bits.view(np.float16)), bits.view(np.float16), np.float16(1))
    values[0] = 0
    return values.astype(np.float16)


@pytest.mark.parametrize("width", [1, 50, 30_522, WIDE])
@pytest.mark.parametrize("kind", ["ties", "zeros", "any"])
@pytest.mark.parametrize("keep", [1, 7, 1000])
def test_selection_equals_the_compiled_one(kind, width, keep):
    values = rows(kind, width)
    found = device_topk.top_terms(torch.from_numpy(values), keep).numpy()
    assert (found == topk.top_terms(values, keep)).all()


def test_selection_by_hand():
    values = torch.tensor([[0.0, -0.0, 2.0, 2.0, -1.0, 2.0, 0.5]], dtype=torch.float16)
    assert device_topk.top_terms(values, 2).tolist() == [[2, 3]]  # three are equal: the lower ids
    assert device_topk.top_terms(values, 5).tolist() == [[0, 2, 3, 5, 6]]  # both zeros are one value
    assert device_topk.top_terms(values, 99).tolist() == [[0, 1, 2, 3, 4, 5, 6]]


@pytest.mark.parametrize("kind", ["ties", "zeros", "any"])
def test_counts_equal_the_compiled_ones(kind):
    values = rows(kind, 999)
    ours, theirs = Counter(), Counter()
    ours.add_counts(device_topk.counts(torch.from_numpy(values)).numpy())
    theirs.add(values)
    assert ours.tenths() == theirs.tenths() and sum(ours.tenths().values()) == values.size
