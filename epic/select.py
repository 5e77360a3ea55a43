"""Pruning a vector: float16 first, then the r largest values, ties to the lower term id."""

import numpy as np


def top_terms(weights: np.ndarray, keep: int) -> np.ndarray:
    """Positions of the `keep` largest float16 values of one vector, ascending.

    Order is (value descending, position ascending); all positions where there are no more than `keep`.
    """
    if keep >= len(weights):
        return np.arange(len(weights))
    threshold = np.partition(weights, len(weights) - keep)[len(weights) - keep]  # the keep-th largest value
    above = weights > threshold
    ties = np.flatnonzero(weights == threshold)[: keep - np.count_nonzero(above)]
    above[ties] = True
    return np.flatnonzero(above)
