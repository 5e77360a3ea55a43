"""Training on a card, with accumulation, validation and saved states; that one goes on where it was cut off is in test_gpu."""

import pytest
import torch

from epic.rankers import epic as family
from epic.training.resume import State
from epic.training.train import Learner, train
from tests.device.card import ON
from tests.training import settings, without_seconds

LOSS = {"paper": "cross-entropy", "released": "one-minus-softmax"}


class CutOffError(Exception):
    """The job was killed."""


class Interrupted(State):
    """A state after whose second saving the job is killed."""

    def save(self, history, *rest):
        super().save(history, *rest)
        if len(history) == 2:
            raise CutOffError


def learned(mlm_encoder, formulation, examples, validation, folder, kind=State, device=ON, **changes):
    """Train on a card; return the model's weights and the history."""
    from epic.model.epic import EpicModel

    model = EpicModel.from_encoder(mlm_encoder, formulation, seed=7).to(device)
    state = kind(folder, "key")
    history = train(family, model, examples, validation, settings(**changes), LOSS[formulation], 7, state)
    assert next(model.parameters()).device == torch.device(device)
    return {name: weight.detach().cpu() for name, weight in model.state_dict().items()}, without_seconds(history)


def same(left: dict, right: dict) -> bool:
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def test_the_loss_falls_on_a_card_as_it_does_on_the_cpu(mlm_encoder, formulation, examples, validation, tmp_path, card):
    """Not the same numbers: dropout is drawn for padded batches there."""
    examples = examples()
    for device in (ON, "cpu"):
        _, history = learned(mlm_encoder, formulation, examples, validation, tmp_path / device, device=device, patience=9)
        assert history[-1].loss < history[0].loss and (device == "cpu") == (not card.launches["_fused_adam_"])
        card.forget()


def test_a_checkpoint_that_was_trained_on_a_card_is_read_on_the_cpu(
    mlm_encoder, formulation, examples, validation, tmp_path, card
):
    from epic.model.epic import EpicModel

    model = EpicModel.from_encoder(mlm_encoder, formulation, seed=7).to(ON)
    train(family, model, examples(), validation, settings(), LOSS[formulation], 7, State(tmp_path / "state", "key"))
    family.save(model, tmp_path / "checkpoint", lambda digest: "card")
    found = EpicModel.from_pretrained(tmp_path / "checkpoint").state_dict()
    assert same(found, {name: weight.detach().cpu() for name, weight in model.state_dict().items()})


LAUNCHES = {"paper": 500, "released": 525}  # of a step with one micro-batch of two layers, however many triples


def counted(card, mlm_encoder, formulation, examples, **changes):
    """Launches and syncs of one step, after a first one."""
    from epic.model.epic import EpicModel

    model = EpicModel.from_encoder(mlm_encoder, formulation, seed=7).to(ON)
    learner = Learner.of(family, model, settings(**changes), LOSS[formulation])
    for _ in range(2):
        card.forget()
        learner.learn(examples, 1)
    return card.counts


def test_launches_of_a_step_do_not_grow_with_its_triples_and_it_waits_once(mlm_encoder, formulation, examples, card):
    examples = examples().between(0, 16)
    few, many = (
        counted(card, mlm_encoder, formulation, examples[:count], batch_size=count, micro_batch_size=count) for count in (8, 16)
    )
    assert few == many and many[0] <= LAUNCHES[formulation] and many[1] == 1, (card.launches, card.syncs)


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
def test_a_step_waits_once_however_many_micro_batches_it_has(mlm_encoder, formulation, examples, card, precision):
    """In float16, too: Adam itself sees whether gradients overflowed."""
    examples = examples().between(0, 8)
    for size in (8, 2):
        found = counted(card, mlm_encoder, formulation, examples, batch_size=8, micro_batch_size=size, precision=precision)
        assert found[1] == 1, (card.launches, card.syncs)


def test_a_step_that_waits_for_every_micro_batch_would_be_seen(mlm_encoder, formulation, examples, card, monkeypatch):
    from epic.training import train as module

    monkeypatch.setattr(module, "numbers_of", lambda tensors: [tensor.tolist() for tensor in tensors])
    found = counted(card, mlm_encoder, formulation, examples().between(0, 8), batch_size=8, micro_batch_size=2)
    assert found[1] == 4
