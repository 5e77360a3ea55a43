"""TK on a card: trained with sparse gradients, cut off, gone on; scored with few launches, whatever the number of passages.

What a real card must do runs there as well (`pytest -m gpu`).
"""

import pytest
import torch

from epic.model.device import prepare
from epic.rankers import tk
from epic.training.resume import State
from epic.training.train import Learner, train
from tests.device.card import ON
from tests.device.test_gpu import job, place  # noqa: F401 - fixtures
from tests.device.test_training import CutOffError, Interrupted
from tests.device.work import CPU, QUERIES, RUN, Passages
from tests.tk import entry, write_vocabulary
from tests.training import settings, without_seconds


@pytest.fixture
def folder(tmp_path):
    return write_vocabulary(tmp_path / "v")


def learned(folder, examples, validation, state, kind=State, device=ON, **changes):
    """Train TK on a card."""
    ranker = tk.create(folder, entry(), None, device)
    history = train(tk, ranker, examples, validation, settings(**changes), "hinge", 7, kind(state, "key"))
    return {name: value.cpu() for name, value in ranker.state_dict().items()}, without_seconds(history)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_training_that_was_cut_off_ends_with_the_same_bits(folder, examples, validation, tmp_path, place, precision):  # noqa: F811
    examples, changes = examples(), {"precision": precision, "patience": 9, "device": prepare(place, 1)}
    whole, expected = learned(folder, examples, validation, tmp_path / "whole", **changes)
    with pytest.raises(CutOffError):
        learned(folder, examples, validation, tmp_path / "cut", Interrupted, **changes)
    weights, history = learned(folder, examples, validation, tmp_path / "cut", **changes)
    assert len(history) == 3 and history == expected and all(torch.equal(value, whole[name]) for name, value in weights.items())


def test_both_optimizers_run_on_the_card(folder, examples, validation, tmp_path, card):
    learned(folder, examples(), validation, tmp_path / "state")
    assert card.launches["_fused_adam_"] and card.launches["_coalesce"]


def test_launches_of_a_step_do_not_grow_with_its_triples_and_it_waits_for_the_losses_and_the_words(folder, examples, card):
    ranker, found, some = tk.create(folder, entry(), None, ON), [], examples().between(0, 16)
    learner = Learner.of(tk, ranker, settings(batch_size=16, micro_batch_size=16), "hinge")
    for count in (6, 6, 16):  # the first makes Adam's memory
        card.forget()
        learner.learn(some[:count], 1)
        found.append(card.counts)
    assert found[1] == found[2] and found[2][0] <= 450 and found[2][1] == 2, (card.launches, card.syncs)


def test_a_batch_of_passages_is_scored_with_as_many_launches_as_one_passage_and_waited_for_once(folder, card):
    ranker, found = tk.create(folder, entry(), None, ON), []
    for hits in (RUN["q"][3:4], RUN["q"]):
        tk.score(ranker, {"r": hits, "q": hits}, QUERIES, Passages(), 1000)  # once, for what is made once
        card.forget()
        tk.score(ranker, {"r": hits, "q": hits}, QUERIES, Passages(), 1000)
        found.append(card.counts)
    assert found[0][1] == found[1][1] == 1 and found[1][0] <= found[0][0] + 40, found  # what is padded is copied once more


def test_scores_are_those_of_a_cpu(folder, tmp_path, job):  # noqa: F811
    made = tk.create(folder, entry(), None, "cpu")
    with torch.no_grad():
        made.tk.kernels.log_sums.weight.mul_(300)
    tk.save(made, tmp_path / "checkpoint", str)
    expected, found = (
        tk.score(tk.load(tmp_path / "checkpoint", compute), RUN, QUERIES, Passages(), 24) for compute in (CPU, job)
    )
    for query_id, hits in expected.items():
        tight = {"rel": 1e-4, "abs": 1e-5} if job["precision"] == "float32" else {"rel": 0.05, "abs": 0.05}
        assert [hit.score for hit in found[query_id]] == pytest.approx([hit.score for hit in hits], **tight)
