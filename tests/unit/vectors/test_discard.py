"""Vectors that are not kept: shards and stores without them, refused by whoever would read them."""

import json

import pytest

from epic.analysis.costs import write_costs
from epic.core.files import InputError
from epic.vectors.discard import discard_vectors
from epic.vectors.frequencies import gather
from epic.vectors.prune import prune
from epic.vectors.store import Store
from epic.vectors.throughput import write_pace
from tests.vectors import encoded

AGAIN = "snakemake results/mine/models/paper.md --cores all --forcerun encode"


@pytest.fixture
def made(paper_model, documents, tmp_path):
    """Two shards and a store."""
    shards = encoded(paper_model, documents, tmp_path, 2)
    prune(shards, 10, len(documents), tmp_path / "store")
    for shard in shards:
        write_pace(1.0, {"device": "cpu"}, shard, f"{shard}.pace.json")
    return shards, tmp_path / "store"


def costs(made, out):
    shards, store = made
    write_costs([f"{shard}.pace.json" for shard in shards], shards[0], {10: store}, out)
    return json.loads(out.read_text())


def test_what_only_counts_does_not_need_the_vectors_and_finds_the_same(made, tmp_path):
    shards, store = made
    gather(shards, tmp_path / "before.tsv")
    before = costs(made, tmp_path / "before.json")
    discard_vectors([*shards, store], AGAIN, tmp_path / "discarded.json")
    gather(shards, tmp_path / "after.tsv")
    assert (tmp_path / "before.tsv").read_bytes() == (tmp_path / "after.tsv").read_bytes()
    assert costs(made, tmp_path / "after.json") == before
    found = json.loads((tmp_path / "discarded.json").read_text())
    assert found["again"] == AGAIN and found["bytes"] > 7 * 4 * 10


def test_who_reads_vectors_is_refused_with_the_command_that_makes_them_again(made, documents, tmp_path):
    shards, store = made
    discard_vectors([*shards, store], AGAIN, tmp_path / "discarded.json")
    with pytest.raises(InputError, match=AGAIN):
        Store(store)
    with pytest.raises(InputError, match=AGAIN):
        prune(shards, 5, len(documents), tmp_path / "other")
