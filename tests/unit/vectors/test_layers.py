"""Layers: which there are for some numbers of kept terms, and which are read for each."""

import pytest

from epic.vectors.layers import Layer, chain, enough, planned

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
