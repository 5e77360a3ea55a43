"""Candidates are scored on the way where all rows are asked for; what was made one way stays as it is."""

import pytest

from epic.experiment.check import load_experiments
from epic.experiment.one_pass import in_one_pass
from tests.conftest import ROOT

SMOKE = load_experiments([ROOT / "workflow" / "experiments"])["smoke"]
ROW = ["results/smoke/rows/epic-bm25-r100.md"]


@pytest.fixture
def asked(tmp_path):
    """Ask whether a model of smoke is encoded in one pass, with the results in a folder."""
    return lambda targets, settings=SMOKE: in_one_pass("smoke", settings, "paper", targets, tmp_path)


def test_all_rows_are_worth_a_pass_and_one_row_is_not(asked):
    assert asked(["smoke"]) and asked(["results/smoke/table.md"]) and asked(["results/smoke/models/paper.md"])
    assert not asked(["results/smoke/models/released.md"])
    assert not asked(ROW) and not asked([])  # no target is the paper


def test_a_shard_that_was_made_one_way_stays_as_it_is(asked, tmp_path):
    shard = tmp_path / "smoke" / "encode" / "paper" / "2-of-2"
    shard.mkdir(parents=True)
    assert asked(["smoke"])  # a folder without a header is none
    (shard / "header.json").touch()
    assert not asked(["smoke"]) and not asked(ROW)
    (shard / "scored.json").touch()
    assert asked(["smoke"]) and asked(ROW)


def test_where_only_candidates_are_encoded_they_are_always_scored(asked):
    assert asked(ROW, SMOKE | {"encode": SMOKE["encode"] | {"passages": "candidates"}})
