"""Amounts: shards, candidates and distinct passages, by hand."""

import pytest

from epic.experiment.check import load_experiments
from epic.planning.amounts import (
    Given,
    Job,
    candidate_pairs,
    dense_bytes,
    distinct_passages,
    passages_encoded,
    reranked,
    share_of,
)
from epic.planning.cards import NO_CARD
from tests.conftest import ROOT
from tests.unit.planning.test_estimates import MSMARCO

GIVEN = Given(MSMARCO, NO_CARD)


@pytest.fixture(scope="module")
def paper():
    return load_experiments([ROOT / "workflow" / "experiments"])["paper"]


def test_a_shard_is_its_part_and_any_other_job_is_for_all():
    assert share_of(Job("encode", {"scatteritem": "3-of-64"})) == 1 / 64 and share_of(Job("tokenise", {})) == 1


def test_candidates_go_down_to_the_deepest_cutoff_of_the_sets_that_are_tuned_or_tested_on(paper):
    assert reranked(paper) == ["bm25", "doctttttquery"]  # of four first stages
    assert candidate_pairs(paper, GIVEN, ["bm25"]) == 200 * (200 + 6980 + 55_578 + 43 + 54)  # of 1000 hits of dev-small
    assert candidate_pairs(paper, GIVEN, reranked(paper)) == 2 * candidate_pairs(paper, GIVEN, ["bm25"])


def test_distinct_passages_are_at_most_the_pairs_and_at_most_the_collection():
    assert distinct_passages(10, GIVEN) == pytest.approx(10, rel=1e-5) and distinct_passages(1e12, GIVEN) == 8_841_823


def test_all_passages_or_only_candidates_are_encoded(paper):
    assert passages_encoded(paper, GIVEN) == 8_841_823
    few = paper | {"encode": paper["encode"] | {"passages": "candidates"}}
    pairs = 2 * 200 * (200 + 6980 + 43 + 54 + 55_578)  # dev-judged is timed, but its runs have no more hits
    assert passages_encoded(few, GIVEN) == distinct_passages(pairs, GIVEN) < 8_841_823
    timed = few | {"latency": few["latency"] | {"query_set": "dev-small"}}
    assert passages_encoded(timed, GIVEN) == distinct_passages(pairs + 2 * 20 * 6980, GIVEN)  # twenty hits more


def test_whole_vectors_are_of_the_candidates_of_unpruned_rows_that_are_timed(paper):
    assert dense_bytes(paper, GIVEN, "paper") == 2 * 30_522 * distinct_passages(2 * 2000 * 120, GIVEN)
    pruned = paper | {"rows": [row for row in paper["rows"] if row.get("keep") != "full"]}
    assert dense_bytes(pruned, GIVEN, "paper") == 0
