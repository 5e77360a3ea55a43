"""The largest values of a vector: ties to the lower term id, both zeros one value."""

import numpy as np
import pytest

from epic.vectors.topk import take, top_terms


def by_definition(weights, keep):
    """The keep largest by (value descending, id ascending), ids ascending."""
    return sorted(sorted(range(len(weights)), key=lambda term: (-weights[term], term))[:keep])


@pytest.mark.parametrize("keep", [1, 2, 3, 5, 6, 9])
def test_the_largest_are_kept_and_ties_go_to_the_lower_id(keep):
    draw = np.random.default_rng(keep)
    for _ in range(50):
        weights = draw.integers(-2, 3, size=6).astype(np.float16) / 2
        assert top_terms(weights[None], keep)[0].tolist() == by_definition(weights.tolist(), keep)


def test_both_zeros_are_one_value_and_large_rows_are_selected_as_defined():
    assert top_terms(np.array([[-0.0, 0.0, -0.0, -1.0]], dtype=np.float16), 2).tolist() == [[0, 1]]
    bits = np.random.default_rng(3).integers(0, 65_536, size=(20, 3000)).astype(np.uint16)
    rows = np.where(bits & 0x7C00 == 0x7C00, 0, bits).astype(np.uint16).view(np.float16)  # every finite value, negative ones too
    for keep in (1, 7, 1500, 2999, 3000, 5000):
        for row, found in zip(rows, top_terms(rows, keep), strict=True):
            assert found.tolist() == by_definition(row.tolist(), keep)
        assert (take(rows, top_terms(rows, keep)) == np.take_along_axis(rows, top_terms(rows, keep).astype(int), axis=1)).all()


def test_by_hand_with_ties_across_the_limit_and_negative_values():
    rows = np.array([[0.5, 2.0, 0.5, -1.0, 0.5], [-3.0, -1.0, -2.0, -1.0, -9.0]], dtype=np.float16)
    assert top_terms(rows, 3).tolist() == [[0, 1, 2], [1, 2, 3]]
    assert take(rows, top_terms(rows, 3)).tolist() == [[0.5, 2.0, 0.5], [-1.0, -2.0, -1.0]]


def test_no_rows_and_a_single_term():
    assert top_terms(np.empty((0, 4), dtype=np.float16), 2).shape == (0, 2)
    assert top_terms(np.array([[7.0]], dtype=np.float16), 9).tolist() == [[0]]


def test_taking_keeps_the_kind_of_the_values():
    terms, chosen = np.array([[3, 60_000, 9]], dtype=np.uint16), np.array([[0, 1]], dtype=np.uint16)
    assert take(terms, chosen).dtype == np.uint16 and take(terms, chosen).tolist() == [[3, 60_000]]
