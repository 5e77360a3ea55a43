"""Which files a job with passage vectors reads, by name."""

import pytest

from epic.core.files import InputError
from epic.experiment import vector_inputs
from epic.experiment.check import load_experiments
from epic.experiment.wanted import Shards, output
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]
CANDIDATES = {"encode": SMOKE["encode"] | {"passages": "candidates"}}


def test_vectors_stores_and_what_counts_them():
    assert list(vector_inputs.stores(PAPER, "authors")) == [2000, 1000, 100]
    assert vector_inputs.counting(SMOKE)["shards"] == Shards("tokenise.pieces", {"encoder": "minilm"})
    assert vector_inputs.counting(SMOKE | CANDIDATES)["shards"] == []  # nobody counts the others
    assert vector_inputs.vectors_and_stores(SMOKE, "released")["paces"] == Shards("encode.pace", {"model": "released"})
    with pytest.raises(InputError, match="there is no model nope; there are paper, released"):
        vector_inputs.shards(SMOKE, "nope")
    assert vector_inputs.precomputing(SMOKE, "paper") == output("train.checkpoint", model="paper")
    pairs = SMOKE | {"models": [SMOKE["models"][0] | {"family": "tests.fake_ranker"}]}
    for asked in (vector_inputs.precomputing, vector_inputs.shards):
        with pytest.raises(InputError, match="model paper is of a family that precomputes nothing: it has no vectors"):
            asked(pairs, "paper")


def test_candidates_are_the_hits_of_every_first_stage_that_a_model_re_ranks_as_deep_as_a_cut_off_may_be():
    validation, test = vector_inputs.candidates(SMOKE, "paper")
    stages = [run.wildcards["first_stage"] for run in test["runs"]]
    assert (validation["name"], test["name"]) == ("validation", "test") and stages == ["bm25", "doctttttquery"]
    assert test["vectors"] == output("weigh.vectors", model="paper", query_set="test")
    assert (validation["depth"], validation["timed"]) == (200, (0, 0)) and test["timed"] == (
        8,
        120,
    )  # 2 + 6 queries, 100 + 20 hits
    assert [found["depth"] for found in vector_inputs.candidates(PAPER, "authors")] == [200] * 5  # of dev-small's thousand, too
    assert len(vector_inputs.candidate_files(SMOKE, "paper")) == 6
    pruned = SMOKE | {"rows": [row for row in SMOKE["rows"] if row.get("keep") != "full"]}
    assert [found["timed"] for found in vector_inputs.candidates(pruned, "paper")] == [(0, 0), (0, 0)]
    with pytest.raises(InputError, match="there is no model nope"):
        vector_inputs.candidates(SMOKE, "nope")


def test_where_only_candidates_are_encoded_a_list_of_them_is_made_of_all_runs_that_any_model_re_ranks():
    assert vector_inputs.encoded_passages(SMOKE) == [] and vector_inputs.encoded_passages(SMOKE | CANDIDATES) == output(
        "passages.positions"
    )
    found = vector_inputs.candidate_runs(SMOKE)
    assert len(found["runs"]) == len(found["depths"]) == 4 and found["depths"] == [200] * 4  # and no deeper than the runs
    shallow = SMOKE | {"tune": {"max_cutoff": 3}, "latency": SMOKE["latency"] | {"hits": 5}}
    assert vector_inputs.candidate_runs(shallow)["depths"] == [3, 3, 25, 25]  # all that is timed is there, too
    assert {found["timed"][1] for found in vector_inputs.candidates(shallow, "paper")} == {0, 25}
