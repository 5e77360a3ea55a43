"""Agreement of two computations: order, steps and sets, by hand."""

import numpy as np

from epic.vectors.agreement import Agreement, agreement


def vectors(*rows):
    return np.array(rows, dtype=np.float16)


STEP = float(np.spacing(np.float16(1.0)))  # between 1 and 2


def test_the_same_vectors_agree():
    found = np.random.default_rng(1).normal(size=(5, 50)).astype(np.float16)
    assert agreement(found, found.copy(), 10) == Agreement(5, 0, 0)


def test_neighbours_that_change_places_within_a_step_are_reordered_but_equal():
    ours, theirs = vectors([3, 1 + STEP, 1, 0]), vectors([3, 1, 1 + STEP, 0])
    assert agreement(ours, theirs, 3) == Agreement(1, 1, 0)


def test_a_term_that_comes_in_at_the_end_within_a_step_is_equal():
    ours, theirs = vectors([3, 1 + STEP, 1, 0]), vectors([3, 1, 1 + STEP, 0])
    assert agreement(ours, theirs, 2) == Agreement(1, 1, 0)


def test_a_weight_that_is_two_steps_off_is_beyond():
    ours, theirs = vectors([3, 1, 0]), vectors([3, 1 + 2 * STEP, 0])
    assert agreement(ours, theirs, 2) == Agreement(1, 0, 1)


def test_a_term_in_place_of_another_is_beyond_though_the_weights_are_the_same():
    ours, theirs = vectors([3, 2, 1, 0]), vectors([3, 0, 1, 2])
    assert agreement(ours, theirs, 3) == Agreement(1, 1, 1)  # both lists have 3, 2, 1, one for another term
    assert agreement(np.vstack([ours, ours]), np.vstack([theirs, ours]), 3) == Agreement(2, 1, 1)


def test_only_the_strongest_terms_are_compared():
    assert agreement(vectors([3, 2, 1, 0.5]), vectors([3, 2, 0, 1]), 2) == Agreement(1, 0, 0)


def test_two_terms_with_each_other_s_weights_are_beyond_though_both_lists_have_them():
    assert agreement(vectors([5, 1, 0]), vectors([1, 5, 0]), 2) == Agreement(1, 1, 1)
