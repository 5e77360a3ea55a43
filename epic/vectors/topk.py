"""Pruning of a vector: float16 first, then the r largest values, ties to the lower term id.

numba has no float16 on the CPU, so the kernels see 16-bit patterns; `_rank` orders patterns by their values.
"""

import numpy as np

from epic.core.kernels import compiled


def top_terms(weights: np.ndarray, keep: int) -> np.ndarray:
    """Return positions of the `keep` largest float16 values of each row (n, V), as (n, keep), ascending in a row.

    Order is (value descending, position ascending); all positions if there are no more than `keep`. No value is NaN.
    """
    chosen = np.empty((len(weights), min(keep, weights.shape[1])), dtype=np.uint16)
    _top(weights.view(np.uint16), chosen)
    return chosen


def take(rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return values of 16 bits at chosen positions of each row: rows (n, V), chosen (n, keep)."""
    taken = np.empty(chosen.shape, dtype=np.uint16)
    _take(rows.view(np.uint16), chosen, taken)
    return taken.view(rows.dtype)


@compiled
def _take(rows, chosen, taken):  # pragma: no cover - compiled
    for row in range(len(rows)):
        for place in range(chosen.shape[1]):
            taken[row, place] = rows[row, chosen[row, place]]


@compiled
def _rank(bits):  # pragma: no cover - compiled
    """Return a number that orders float16 patterns by value; both zeros are one value."""
    if bits == 0x8000:
        return 0x8000
    return 0xFFFF - bits if bits & 0x8000 else bits | 0x8000


@compiled
def _top(rows, chosen):  # pragma: no cover - compiled
    """Write the chosen positions without branches on values: no branch predictor can guess them, and wrong guesses cost more."""
    keep = chosen.shape[1]
    ranks = np.empty(rows.shape[1], dtype=np.uint16)
    found = np.empty(keep + 1, dtype=np.uint16)  # one more, for everything after the last one
    for row in range(len(rows)):
        for term in range(rows.shape[1]):
            ranks[term] = _rank(rows[row, term])
        limit, ties = _limit(ranks, keep)
        place = 0
        for term in range(rows.shape[1]):
            tie = (ranks[term] == limit) & (ties > 0)
            found[place] = term
            place += (ranks[term] > limit) | tie
            ties -= tie
        chosen[row] = found[:keep]


@compiled
def _limit(ranks, keep):  # pragma: no cover - compiled
    """Return the keep-th largest rank, and the number of that rank to keep; by counting high bytes, then low ones."""
    high, left = _last(_counts(ranks, np.int64(-1)), keep)
    low, ties = _last(_counts(ranks, high), left)
    return (high << 8) | low, ties


@compiled
def _counts(ranks, high):  # pragma: no cover - compiled
    """Count each high byte or, among the ranks with the high byte `high`, each low byte."""
    counts = np.zeros(512, dtype=np.int64)  # the upper half takes the ranks that are not counted
    for term in range(len(ranks)):
        rank = np.int64(ranks[term])
        byte = rank >> 8
        counts[byte if high < 0 else (rank & 0xFF) + 256 * (byte != high)] += 1
    return counts


@compiled
def _last(counts, keep):  # pragma: no cover - compiled
    """Return the byte, counted from the largest down, at which `keep` is reached, and the number of it that is needed."""
    for byte in range(255, 0, -1):
        if counts[byte] >= keep:
            return byte, keep
        keep -= counts[byte]
    return 0, keep
