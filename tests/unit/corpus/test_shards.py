"""Shards: together they are the collection."""

import pytest

from epic.core.files import InputError
from epic.corpus.shards import parse_shard, shard_bounds


@pytest.mark.parametrize(("total", "shards"), [(0, 1), (5, 2), (7, 7), (3, 8), (8_841_823, 64)])
def test_shards_tile_the_collection(total, shards):
    bounds = [shard_bounds(total, shard, shards) for shard in range(1, shards + 1)]
    assert bounds[0].start == 0 and bounds[-1].stop == total
    assert all(left.stop == right.start for left, right in zip(bounds, bounds[1:], strict=False))


def test_a_shard_that_does_not_exist_is_refused():
    assert parse_shard("3-of-64") == (3, 64)
    with pytest.raises(InputError):
        parse_shard("third")
    with pytest.raises(InputError):
        shard_bounds(10, 3, 2)
