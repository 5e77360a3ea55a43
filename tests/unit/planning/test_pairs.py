"""The work of rankers that score pairs: sizes against models that are counted, paces against what was measured, and the plan."""

import copy

import pytest

from epic.experiment.check import load_experiments
from epic.planning import cards, flop, rates
from epic.planning.amounts import Job
from epic.planning.estimates import cost
from epic.planning.pairs import work_of
from epic.planning.plan import Place, cost_table, plan
from tests.conftest import ROOT
from tests.unit.planning.test_estimates import MSMARCO

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
PAPER, SMOKE = EXPERIMENTS["paper"], EXPERIMENTS["smoke"]


def model(name, settings=PAPER):
    return copy.deepcopy(next(model for model in settings["models"] if model["id"] == name))


def test_epic_scores_no_pairs_and_a_family_of_ones_own_counts_as_a_small_cross_encoder():
    assert work_of(model("paper")) is None
    own = work_of(model("paper") | {"family": "tests.fake_ranker", "encoder": None})
    assert own.pair_seconds == pytest.approx(10.9e-3) and own.weights == rates.MINILM.weights


def test_duet_s_weights_and_pace_are_those_of_its_published_sizes():
    work = work_of(model("duet"))
    assert work.weights == pytest.approx(8 * 4 * 33_299_701, rel=0.01)
    assert work.pair_seconds == pytest.approx(8 * 0.74e-3, rel=0.01) and work.triple_seconds == pytest.approx(1 / 145, rel=0.01)
    smaller = work_of(model("duet", SMOKE))
    assert smaller.pair < work.pair / 100 and smaller.weights < work.weights / 10


@pytest.mark.parametrize(("name", "pair", "triples"), [("tk1", 0.43e-3, 305), ("tk3", 1.03e-3, 133)])
def test_tk_s_pace_is_the_measured_one_and_its_words_are_most_of_its_weights(name, pair, triples):
    work = work_of(model(name))
    assert work.pair_seconds == pytest.approx(pair, rel=0.01) and 1 / work.triple_seconds == pytest.approx(triples, rel=0.01)
    assert work.weights == pytest.approx(4 * 120_101_022, rel=0.01)


def test_bert_large_takes_as_many_operations_as_its_layers_have_weights():
    work = work_of(model("bert"))
    tokens, weights = flop.QUERY + flop.PASSAGE + 1, 24 * 12 * 1024**2
    assert work.pair == pytest.approx(tokens * 2 * weights, rel=0.05) and work.weights == 1_340_000_000
    assert rates.encoder_named("castorini/monobert-large-msmarco-finetune-only") is rates.BERT_LARGE
    assert pytest.approx(3.5, abs=0.1) == rates.LARGER


def job(rule, gpus=0, **wildcards):
    return Job(rule, wildcards, 4, gpus)


def test_members_are_trained_one_after_the_other_and_more_triples_take_longer():
    seconds = cost(job("train", model="duet"), PAPER, MSMARCO, cards.NO_CARD).seconds
    one = copy.deepcopy(PAPER)
    next(entry for entry in one["models"] if entry["id"] == "duet")["settings"]["members"] = 1
    assert seconds / cost(job("train", model="duet"), one, MSMARCO, cards.NO_CARD).seconds == pytest.approx(8, rel=0.35)
    assert cost(job("train", 1, model="bert"), PAPER, MSMARCO, cards.NO_CARD).seconds == rates.START_TORCH  # not trained


def test_a_fixed_cut_off_counts_for_every_query():
    deep = cost(job("rerank", 1, row="bert-large-rescored", query_set="dev-small"), PAPER, MSMARCO, cards.NO_CARD).seconds
    work = work_of(model("bert")).pair / cards.NO_CARD.encoding("tf32")
    assert deep == pytest.approx(6980 * 1000 * work, rel=0.05)


def test_the_plan_says_what_each_system_takes():
    jobs = [
        job("train", 1, model="tk1"),
        job("rerank", 1, row="tk-1", query_set="dev-small"),
        job("rerank", 1, row="bert-large-rescored", query_set="dev-small"),
        job("index", first_stage="bm25"),
        job("data"),
    ]
    found = plan(jobs, PAPER, MSMARCO, Place(cores=8, gpus=1))
    assert [(system.name, system.jobs) for system in found.systems] == [("tk1", 2), ("bert", 1), ("bm25", 1)]
    assert sum(system.gpu_seconds for system in found.systems) == pytest.approx(sum(stage.gpu_seconds for stage in found.stages))
    table = cost_table(found, Place(cores=8, gpus=1))
    assert "of these, by system" in table and "\n  bert " in table
    assert "by system" not in cost_table(plan(jobs[-1:], PAPER, MSMARCO, Place(1, None)), Place(1, None))
