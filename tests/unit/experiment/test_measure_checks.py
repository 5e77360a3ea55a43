"""Rules about measures: the table's is computed, and none is deeper than the hits of a set."""

import copy

import pytest

from epic.experiment.check import load_experiments
from epic.experiment.measure_checks import measure_problems
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])


@pytest.mark.parametrize(
    ("name", "hits", "wrong"), [("R@200", 200, False), ("R@201", 200, True), ("R@hits", 5, False), ("P@9", 5, False)]
)
def test_recall_is_of_hits_that_were_asked_for_on_every_test_set(name, hits, wrong):
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["evaluate"]["measures"].append(name)
    for query_set in settings["query_sets"]:
        query_set["hits"] = hits if query_set["purpose"] == "test" else 1
    found = [place for place, _ in measure_problems(settings) if place[0] == "evaluate"]
    assert found == [("evaluate", "measures", 4)] * wrong


def test_a_measure_that_weighs_the_grades_may_be_of_graded_judgments():
    settings = copy.deepcopy(EXPERIMENTS["smoke"])
    settings["query_sets"][2]["relevance"] = 2
    assert [place for place, _ in measure_problems(settings)] == [("evaluate", "headline")]
    settings["evaluate"]["measure"] = "nDCG@10"
    assert list(measure_problems(settings)) == []
