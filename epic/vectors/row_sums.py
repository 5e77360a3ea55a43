"""A checksum for each stored vector, so that the rows of a query can be compared as they are read, without reading the rest.

The sum of (1 + term + 2^16 weight bits) F_i over the entries i of a row, modulo 2^64, where F_i are fixed odd numbers: one
changed bit always changes it, and several leave it as it is once in 2^64 times or so. It finds damage, not an attacker.
"""

import numpy as np

from epic.core.kernels import compiled

GOLDEN, MIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9  # as in the generator SplitMix64


@compiled
def _row_sums(terms, bits, rows, factors, out):  # pragma: no cover - compiled
    for place in range(len(rows)):
        row = rows[place]
        total = np.uint64(0)
        for position in range(terms.shape[1]):
            word = np.uint64(1) + np.uint64(terms[row, position]) + (np.uint64(bits[row, position]) << np.uint64(16))
            total += word * factors[position]
        out[place] = total


def factors(keep: int) -> np.ndarray:
    """Return the odd numbers F_i (keep,) of a row's entries."""
    number = np.arange(1, keep + 1, dtype=np.uint64) * np.uint64(GOLDEN)  # (keep,)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(MIX)  # (keep,)
    return number | np.uint64(1)


def row_sums(terms: np.ndarray, weights: np.ndarray, rows: np.ndarray, odd: np.ndarray) -> np.ndarray:
    """Return the checksums (m,) of some rows of terms and weights (n, keep); odd: `factors(keep)`."""
    out = np.empty(len(rows), dtype=np.uint64)  # (m,)
    _row_sums(terms, weights.view(np.uint16), rows, odd, out)
    return out
