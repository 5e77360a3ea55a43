"""Counts of every value of passage vectors while they are encoded, before any is pruned.

They are apart from `frequencies`, which adds them up and shows them: its wording must not be a reason to encode again.
"""

import numpy as np

from epic.core.kernels import compiled


class Counter:
    """A counter of float16 values by their bits, so that counting is one pass and exact."""

    def __init__(self):
        self._by_bits = np.zeros(65_536, dtype=np.int64)

    def add(self, weights: np.ndarray) -> None:
        """Count float16 values."""
        self.add_counts(counts_of(weights))

    def add_counts(self, by_bits: np.ndarray) -> None:
        """Add counts of values by their bits, (65536,)."""
        self._by_bits += by_bits

    def tenths(self) -> dict[int, int]:
        """Return counts by the tenth that values are rounded up to; negative ones too."""
        occurring = np.flatnonzero(self._by_bits)
        values = occurring.astype(np.uint16).view(np.float16).astype(np.float64)
        tenths: dict[int, int] = {}
        for tenth, count in zip(np.ceil(values * 10).astype(int).tolist(), self._by_bits[occurring].tolist(), strict=True):
            tenths[tenth] = tenths.get(tenth, 0) + count
        return tenths


def counts_of(weights: np.ndarray) -> np.ndarray:
    """Count float16 values by their bits, (65536,)."""
    counts = np.zeros(65_536, dtype=np.int64)
    _count(weights.view(np.uint16), counts)
    return counts


@compiled
def _count(rows, counts):  # pragma: no cover - compiled
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            counts[rows[row, place]] += 1
