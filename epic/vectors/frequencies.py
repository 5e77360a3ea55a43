"""Frequencies of the values in passage vectors, counted over all |V| values, rounded up to one decimal (figure 2)."""

import logging
from pathlib import Path

from epic.core.files import InputError, numbered_lines, read_json, write_text

log = logging.getLogger(__name__)


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
    """Return the share of values that round up to `tenth` tenths or less."""
    return sum(count for key, count in counts.items() if key <= tenth) / sum(counts.values())


def read_frequencies(path) -> dict[int, int]:
    """Read counts by tenth."""
    lines = [line.split("\t") for _, line in numbered_lines(path)][1:]
    return {round(float(value) * 10): int(count) for value, count in lines}
