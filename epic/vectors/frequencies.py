"""Frequencies of the values in passage vectors, counted over all |V| values, rounded up to one decimal (figure 2)."""

import logging
import re
from pathlib import Path

from epic.core.files import InputError, numbered_lines, read_json, write_text

log = logging.getLogger(__name__)
HEADER = "value\tcount"
LINE = re.compile(r"(-?[0-9]{1,6}\.[0-9])\t([1-9][0-9]{0,17})")  # float16 ends at 65504; a count fits 64 bits
TENTH = re.compile(r"0|-?[1-9][0-9]{0,6}")


def gather(shards, out) -> None:
    """Add up the counts of all shards; every value of every passage must have been counted."""
    total: dict[int, int] = {}
    expected = 0
    for shard in shards:
        expected += _values_of(Path(shard) / "header.json")
        for tenth, count in _counts_of(Path(shard) / "frequencies.json").items():
            total[int(tenth)] = total.get(int(tenth), 0) + count
    if not total or sum(total.values()) != expected:
        shown = ", ".join(map(str, shards)) if len(shards) < 4 else f"{shards[0]} and {len(shards) - 1} more"
        raise InputError(f"{shown}: {sum(total.values())} values were counted, {expected} expected; encode again")
    lines = [f"{HEADER}\n", *(f"{tenth / 10:.1f}\t{total[tenth]}\n" for tenth in sorted(total))]
    write_text(out, "".join(lines))
    log.info("%.1f %% of the values are 0.1 or below", 100 * share_up_to(total, 1))


def _values_of(header: Path) -> int:
    """Return the number of values that a shard has, by its header."""
    facts = read_json(header)
    sizes = [facts.get(key) for key in ("documents", "vocabulary")] if isinstance(facts, dict) else []
    if not sizes or any(type(size) is not int or size < 0 for size in sizes):
        raise InputError(f"{header}: expected the numbers of documents and of the vocabulary; encode again")
    return sizes[0] * sizes[1]


def _counts_of(path: Path) -> dict[str, int]:
    """Read the counts of a shard by tenth."""
    counts = read_json(path)
    if not isinstance(counts, dict) or not all(TENTH.fullmatch(key) and type(n) is int and n > 0 for key, n in counts.items()):
        raise InputError(f"{path}: expected counts by tenths; encode again")
    return counts


def share_up_to(counts: dict[int, int], tenth: int) -> float:
    """Return the share of values that round up to `tenth` tenths or less."""
    return sum(count for key, count in counts.items() if key <= tenth) / sum(counts.values())


def read_frequencies(path) -> dict[int, int]:
    """Read counts by tenth."""
    counts: dict[int, int] = {}
    for number, line in numbered_lines(path):
        if number == 1 and line == HEADER:
            continue
        found = LINE.fullmatch(line)
        tenth = round(float(found[1]) * 10) if found else None
        if number == 1 or tenth is None or tenth in counts:
            raise InputError(f"{path} line {number}: expected value and count, found {line[:60]!r}; make it again")
        counts[tenth] = int(found[2])
    if not counts:
        raise InputError(f"{path}: the file is empty, no values were counted; make it again")
    return counts
