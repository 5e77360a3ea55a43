"""Rows of layers: split by rank exactly as pruning does, and merged again."""

import numpy as np
import pytest

from epic.vectors.layer_rows import merged, split
from epic.vectors.layers import chain, planned
from epic.vectors.prune import cut
from epic.vectors.topk import take, top_terms
from tests.vectors import dense


def ties():
    """Vectors with few distinct values, so that ranks are mostly told by the term."""
    return np.random.default_rng(3).integers(-1, 2, size=(40, 60)).astype(np.float16)


CASES = {
    "values of both signs": dense(40, 60),
    "ties": ties(),
    "zeros of both signs": np.where(ties() < 0, np.float16(-0.0), np.float16(0)),
    "negative values only": -np.abs(dense(40, 60, seed=2)),
    "one document": dense(1, 60),
    "no document": dense(0, 60),
}


@pytest.mark.parametrize("keeps", [[3, 20, 30], [10, 11, 12, 60], [5, 20], [7], [50, 100, 1000]], ids=str)
@pytest.mark.parametrize("vectors", CASES.values(), ids=CASES)
def test_layers_hold_byte_for_byte_what_pruning_to_each_number_gives(keeps, vectors):
    layers = planned(keeps, vectors.shape[1])
    terms = top_terms(vectors, layers[-1].keep)
    weights = take(vectors, terms)
    found = dict(zip(layers, split(terms, weights, layers), strict=True))
    for keep in {layer.keep for layer in layers}:
        expected = cut(terms, weights, keep)
        parts = merged([found[layer] for layer in chain(layers, keep)])
        assert [part.tobytes() for part in parts] == [part.tobytes() for part in expected]
        assert [part.dtype for part in parts] == [np.uint16, np.float16]
    for layer, (rows, values) in found.items():
        assert rows.shape == values.shape == (len(vectors), layer.width)
        assert (rows[:, 1:] > rows[:, :-1]).all()
