"""Layers: which there are, that they split vectors by rank exactly as pruning does, and that they merge again."""

import numpy as np
import pytest

from epic.vectors.layer_rows import merged, split
from epic.vectors.layers import Layer, chain, enough, planned
from epic.vectors.prune import cut
from epic.vectors.topk import take, top_terms
from tests.vectors import dense

PAPER = [Layer(100, 0, "100"), Layer(1000, 0, "1000"), Layer(2000, 1000, "2000")]


def test_the_paper_s_layers_are_ranks_1_to_100_1_to_1000_and_1001_to_2000():
    assert planned([100, 1000, 2000], 30_522) == PAPER
    assert [layer.width for layer in PAPER] == [100, 1000, 1000]
    assert sum(4 * layer.width for layer in PAPER) == 8400  # bytes of a passage, for 8000 in one plain store of 2000


@pytest.mark.parametrize(
    ("keeps", "vocabulary", "layers"),
    [
        ([5], 10, [(5, 0)]),
        ([1, 4, 17], 99, [(1, 0), (4, 0), (17, 0)]),
        ([1, 3, 11], 99, [(1, 0), (3, 1), (11, 3)]),
        ([2, 3, 4], 99, [(2, 0), (3, 2), (4, 3)]),
        ([100, 1000, 2000], 256, [(100, 0), (256, 100)]),  # no layer holds more than the vocabulary
        ([100, 1000, 2000], 7, [(7, 0)]),
    ],
)
def test_a_layer_is_whole_if_the_next_smaller_one_is_at_most_a_quarter_of_it(keeps, vocabulary, layers):
    assert [layer[:2] for layer in planned(keeps, vocabulary)] == layers


def test_a_number_of_terms_is_read_from_its_layer_and_from_those_that_it_extends():
    assert chain(PAPER, 100) == (PAPER[0],) and chain(PAPER, 1000) == (PAPER[1],) and chain(PAPER, 2000) == (PAPER[1], PAPER[2])
    assert chain(planned([2, 3, 4], 9), 4) == tuple(planned([2, 3, 4], 9))
    assert chain(PAPER, 500) == () and enough(PAPER, 500) == 1000 and enough(PAPER, 1001) == 2000


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
