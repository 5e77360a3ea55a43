"""Two computations of the same vectors, as on a card and on a CPU: how many lists of the strongest terms differ, and how far."""

from typing import NamedTuple

import numpy as np

from epic.vectors.topk import take, top_terms


class Agreement(NamedTuple):
    """The lists of the strongest terms that were compared, those whose order differs, and those that are not equal.

    Equal: the weight of each term in either list, and sorted weights, differ by at most one float16 step, and terms of only one
    list are within one step of its last weight.
    """

    lists: int
    reordered: int
    beyond: int


def agreement(expected: np.ndarray, found: np.ndarray, keep: int) -> Agreement:
    """Compare the `keep` strongest terms of passages: float16 vectors (n, V) that were computed in two ways."""
    ours, theirs = (_ranked(vectors, keep) for vectors in (expected, found))
    same = (ours[0] == theirs[0]).all(axis=1)  # (n,)
    equal = _within_a_step(ours[1], theirs[1]).all(axis=1)  # (n,)
    for terms in (ours[0], theirs[0]):  # a term's own weight, whatever its place
        mine, other = (np.take_along_axis(vectors, terms.astype(np.int64), 1).astype(np.float32) for vectors in (expected, found))
        equal &= _within_a_step(mine, other).all(axis=1)  # (n,)
    for row in np.flatnonzero(equal & ~same):
        equal[row] = all(_only_at_the_end(mine[row], weights[row], other[row]) for mine, weights, other in _both(ours, theirs))
    return Agreement(len(expected), int((~same).sum()), int((~equal).sum()))


def _ranked(vectors: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """Return terms and weights (n, keep), the strongest first, ties by term."""
    terms = top_terms(vectors, keep)  # (n, keep)
    weights = take(vectors, terms).astype(np.float32)  # (n, keep)
    order = np.argsort(-weights, axis=1, kind="stable")  # terms are ascending, so ties stay by term
    return np.take_along_axis(terms, order, 1), np.take_along_axis(weights, order, 1)


def _both(ours, theirs):
    return (ours[0], ours[1], theirs[0]), (theirs[0], theirs[1], ours[0])


def _only_at_the_end(terms: np.ndarray, weights: np.ndarray, others: np.ndarray) -> bool:
    """Tell whether the terms that only one list has could as well have been left out of it."""
    alone = weights[~np.isin(terms, others)]
    return bool(_within_a_step(alone, np.full_like(alone, weights[-1])).all())


def _within_a_step(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    larger = np.maximum(np.abs(left), np.abs(right)).astype(np.float16)
    return np.abs(left - right) <= np.spacing(larger).astype(np.float32)
