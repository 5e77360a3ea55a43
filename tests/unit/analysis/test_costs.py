"""Costs of pre-computing: summed over shards, measured on disk, and the paper's own arithmetic."""

import json

import pytest

from epic.analysis.costs import write_costs
from epic.corpus.msmarco import PASSAGES
from epic.vectors.prune import prune
from epic.vectors.throughput import write_pace
from tests.vectors import encoded

COMPUTE = {"device": "cpu", "threads": 1, "precision": "float32"}


def test_costs_are_summed_over_shards_and_measured_on_disk(paper_model, documents, tmp_path):
    shards = encoded(paper_model, documents, tmp_path, 2)
    for shard, seconds in zip(shards, (2.0, 5.0), strict=True):
        write_pace(seconds, COMPUTE, shard, f"{shard}.pace.json")
    prune(shards, 10, 7, tmp_path / "store")  # no layer: it is written out
    prune(shards, 1000, 7, tmp_path / "wide")  # a layer: it lies in the shards
    write_costs(
        [f"{shard}.pace.json" for shard in shards],
        shards[0],
        {1000: tmp_path / "wide", 10: tmp_path / "store"},
        tmp_path / "costs.json",
    )
    found = json.loads((tmp_path / "costs.json").read_text())
    assert found["passages"] == 7 and found["seconds"] == 7.0 and found["passages_per_second"] == 1.0
    assert found["ms_marco_hours"] == pytest.approx(PASSAGES / 3600) and found["compute"] == COMPUTE
    full, wide, pruned = found["stores"]
    vocabulary = found["vocabulary"]
    assert full["keep"] == "full" and full["bytes_per_passage"] == 2 * vocabulary and not full["measured"]
    assert wide["bytes_per_passage"] == 4 * vocabulary and wide["measured"]  # the vocabulary is smaller than 1000
    assert pruned["keep"] == 10 and pruned["bytes_per_passage"] == 40.0 and pruned["measured"]
    assert pruned["ms_marco_gib"] == pytest.approx(40 * PASSAGES / 2**30)
    assert pruned["vocabulary_reduced_by"] == pytest.approx(1 - 10 / vocabulary)


def test_the_papers_arithmetic():
    """At r=1000 MS MARCO takes 32.9 GiB, not the 34 of the text; unpruned 502.7."""
    assert (
        pytest.approx(32.94, abs=0.01) == 4000 * PASSAGES / 2**30
        and pytest.approx(502.67, abs=0.01) == 2 * 30522 * PASSAGES / 2**30
    )
