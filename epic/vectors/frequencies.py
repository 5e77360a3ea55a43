"""How often each value occurs in passage vectors, counted over all |V| values, rounded up to one decimal (figure 2)."""

import logging
from pathlib import Path

import numpy as np

from epic.compiled import compiled
from epic.files import InputError, numbered_lines, read_json, write_text

log = logging.getLogger(__name__)


class Counter:
    """Counts every float16 value by its bits, so that counting is one pass and exact."""

    def __init__(self):
        self._by_bits = np.zeros(65_536, dtype=np.int64)

    def add(self, weights: np.ndarray) -> None:
        """Count float16 values."""
        _count(weights.view(np.uint16), self._by_bits)

    def tenths(self) -> dict[int, int]:
        """Counts by the tenth that values are rounded up to; negative ones too."""
        occurring = np.flatnonzero(self._by_bits)
        values = occurring.astype(np.uint16).view(np.float16).astype(np.float64)
        tenths: dict[int, int] = {}
        for tenth, count in zip(np.ceil(values * 10).astype(int).tolist(), self._by_bits[occurring].tolist(), strict=True):
            tenths[tenth] = tenths.get(tenth, 0) + count
        return tenths


@compiled
def _count(rows, counts):  # pragma: no cover - compiled
    for row in range(len(rows)):
        for place in range(rows.shape[1]):
            counts[rows[row, place]] += 1


def gather(shards, out) -> None:
    """Add up the counts of all shards; every value of every passage must have been counted."""
    total: dict[int, int] = {}
    expected = 0
    for shard in shards:
        header = read_json(Path(shard) / "header.json")
        expected += header["documents"] * header["vocabulary"]
        for tenth, count in read_json(Path(shard) / "frequencies.json").items():
            total[int(tenth)] = total.get(int(tenth), 0) + count
    if sum(total.values()) != expected:
        raise InputError(f"{sum(total.values())} values were counted, {expected} expected; encode again")
    lines = ["value\tcount\n", *(f"{tenth / 10:.1f}\t{total[tenth]}\n" for tenth in sorted(total))]
    write_text(out, "".join(lines))
    log.info("%.1f %% of the values are 0.1 or below", 100 * share_up_to(total, 1))


def share_up_to(counts: dict[int, int], tenth: int) -> float:
    """The share of values that round up to `tenth` tenths or less."""
    return sum(count for key, count in counts.items() if key <= tenth) / sum(counts.values())


def read_frequencies(path) -> dict[int, int]:
    """Counts by tenth."""
    lines = [line.split("\t") for _, line in numbered_lines(path)][1:]
    return {round(float(value) * 10): int(count) for value, count in lines}
