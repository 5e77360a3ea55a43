"""The cost of a weighter's jobs, against values worked out by hand."""

import copy

import pytest

from epic.experiment.check import load_experiments
from epic.planning import weighters
from epic.planning.amounts import Collection, Given, Job
from epic.planning.cards import Speed, card_named
from epic.planning.estimates import FORMULAS
from epic.planning.rates import BERT_BASE, MINILM, START, START_TORCH
from tests.conftest import ROOT
from tests.weighting import TRAIN

MSMARCO = Collection(8_841_823, 346, {"train": 808_731})


@pytest.fixture
def settings():
    smoke = copy.deepcopy(load_experiments([ROOT / "workflow" / "experiments"])["smoke"])
    encoder = smoke["models"][0]["encoder"]
    weigh = {"scale": 100, "form": "linear", "keep_all": False, "token_budget": 4096}
    smoke["weighters"] = [{"id": "w", "encoder": encoder, "max_pieces": 128, "train": TRAIN | {"epochs": 3}, "weigh": weigh}]
    return smoke


def cost(settings, rule, gpus=0, **wildcards):
    given = Given(MSMARCO, Speed(card_named("A100")))
    return FORMULAS[rule](Job(rule, {"weighter": "w", **wildcards}, gpus=gpus), settings, given)


def test_labels_are_of_the_passages_that_are_relevant_to_a_query(settings):
    found = cost(settings, "recall")
    assert found.written == pytest.approx(532_761 * 60) and START + 100 < found.seconds < START + 150


def test_training_goes_so_often_over_the_labelled_passages_and_leaves_a_state(settings):
    found = cost(settings, "regress")
    assert found.seconds == pytest.approx(START_TORCH + 3 * 532_761 / 16.2 * 83 / 74)
    assert found.written == 5 * MINILM.weights and found.scratch == 4 * MINILM.weights
    settings["weighters"][0]["encoder"] = settings["weighters"][0]["encoder"] | {"source": "bert-base-uncased"}
    slower = cost(settings, "regress")
    assert (slower.seconds - START_TORCH) / (found.seconds - START_TORCH) == pytest.approx(0.340 / 0.079)
    settings["weighters"][0]["train"] = None
    assert cost(settings, "regress") == (BERT_BASE.weights, START_TORCH, 0.0, 0.0)


def test_every_shard_weighs_its_part_and_cut_passages_take_less(settings):
    shard, whole = (cost(settings, "reweigh", scatteritem=name) for name in ("1-of-4", "1-of-1"))
    assert 4 * shard.written == whole.written == 8_841_823 * (1750 + 32)
    assert 4 * (shard.seconds - START_TORCH) == pytest.approx(whole.seconds - START_TORCH)
    settings["weighters"][0]["max_pieces"] = 42
    assert cost(settings, "reweigh", scatteritem="1-of-1").seconds < 0.6 * whole.seconds


def test_a_card_is_faster(settings):
    for rule in ("regress", "reweigh"):
        assert cost(settings, rule, gpus=1).seconds < cost(settings, rule).seconds / 10


def test_the_plan_knows_these_formulas():
    assert FORMULAS["recall"] is weighters.recall and FORMULAS["reweigh"] is weighters.reweigh
