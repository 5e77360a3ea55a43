"""Shards: contiguous parts of a collection, each a job's, named as Snakemake scatters them."""

import re

from epic.core.files import InputError


def parse_shard(name: str) -> tuple[int, int]:
    """Parse `3-of-64` as (3, 64)."""
    match = re.fullmatch(r"(\d+)-of-(\d+)", name)
    if not match:
        raise InputError(f"{name} is not a shard; expected something like 3-of-64")
    return int(match[1]), int(match[2])


def shard_bounds(total: int, shard: int, shards: int) -> range:
    """Return the rows of shard `shard` (1-based) of `shards`; together they tile 0..total."""
    if not 1 <= shard <= shards:
        raise InputError(f"shard {shard} is not within 1..{shards}")
    return range(total * (shard - 1) // shards, total * shard // shards)
