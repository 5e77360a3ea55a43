"""The optimizer by hand: rates, their course, decay, clipping, sparse embeddings; and that it is resumed as it was."""

import math

import pytest
import torch
from torch import nn

from epic.training.history import Iteration
from epic.training.optimizer import Optimizer, factor_at, halvings, steps_of
from tests.training import settings

UNSCALED = torch.amp.GradScaler("cpu", enabled=False)


class Net(nn.Module):
    """Sparse and dense weights, one of them new."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.words = nn.Embedding(5, 2, sparse=True)
        self.old = nn.Linear(2, 1)
        self.LayerNorm = nn.LayerNorm(2)
        self.attended = nn.LayerNorm(2)  # another name than BERT's
        self.new = nn.Parameter(torch.ones(2))

    def forward(self, ids):
        return self.old(self.attended(self.LayerNorm(self.words(ids))) * self.new).sum()


def optimizer_of(net, **changes):
    return Optimizer(net, settings(**changes), ("new",), ("words",))


def steps(net, optimizer, count, factor=1.0, ids=(1, 3)):
    for _ in range(count):
        net(torch.tensor(ids)).backward()
        optimizer.step(UNSCALED, factor)


def test_the_first_step_of_adam_is_the_rate_and_new_layers_have_their_own():
    net, before = Net(), Net()
    steps(net, optimizer_of(net), 1)
    assert (net.new - before.new).abs().tolist() == pytest.approx([0.02, 0.02], rel=1e-4)
    assert (net.old.weight - before.old.weight).abs().max().item() == pytest.approx(0.01, rel=1e-4)


def test_only_rows_of_an_embedding_that_occurred_are_changed_and_their_moments_too():
    net, before = Net(), Net()
    optimizer = optimizer_of(net)
    steps(net, optimizer, 2)
    changed = (net.words.weight != before.words.weight).any(dim=1)  # (5,)
    assert changed.tolist() == [False, True, False, True, False]
    (moments,) = optimizer.parts[1].state.values()
    assert (moments["exp_avg"] != 0).any(dim=1).tolist() == changed.tolist()


def test_a_factor_scales_every_rate():
    net, half, before = Net(), Net(), Net()
    steps(net, optimizer_of(net), 1)
    steps(half, optimizer_of(half), 1, factor=0.5)
    for mine, theirs, start in zip(net.parameters(), half.parameters(), before.parameters(), strict=True):
        assert torch.allclose((mine - start) / 2, theirs - start, atol=1e-7)


def test_halving_leaves_sparse_embeddings_their_rate_as_in_tk_s_code():
    net = Net()
    optimizer = optimizer_of(net)
    net(torch.tensor([1, 3])).backward()
    optimizer.step(UNSCALED, 0.5, halved=0.25)
    dense, sparse = ([group["lr"] for group in part.param_groups] for part in optimizer.parts)
    assert dense == [0.01 * 0.5 * 0.25, 0.02 * 0.5 * 0.25] and sparse == [0.01 * 0.5]


def test_weight_decay_spares_biases_and_layer_norm():
    net, before = Net(), Net()
    optimizer = optimizer_of(net, weight_decay=0.5)
    for weight in net.parameters():
        weight.grad = torch.zeros_like(weight) if weight is not net.words.weight else None
    optimizer.step(UNSCALED, 1.0)
    assert torch.allclose(net.old.weight, before.old.weight * (1 - 0.01 * 0.5))
    assert torch.allclose(net.new, before.new * (1 - 0.02 * 0.5))
    for name in ("old.bias", "LayerNorm.weight", "LayerNorm.bias", "attended.weight", "attended.bias"):
        assert torch.equal(net.get_parameter(name), before.get_parameter(name))


def test_gradients_are_clipped_by_the_norm_of_all_together():
    net = Net()
    optimizer, seen = optimizer_of(net, clip=1.0), []
    for weight in optimizer.dense:
        weight.grad = torch.full_like(weight, 3.0)
    optimizer.parts[0].register_step_pre_hook(lambda *_: seen.append([weight.grad.clone() for weight in optimizer.dense]))
    optimizer.step(UNSCALED, 1.0)
    assert math.sqrt(sum((gradient**2).sum().item() for gradient in seen[0])) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("changes", [{}, {"weight_decay": 0.01, "clip": 0.5}])
def test_what_is_saved_goes_on_as_if_nothing_had_happened(changes):
    through, stopped = Net(), Net()
    whole = optimizer_of(through, **changes)
    steps(through, whole, 2)
    steps(through, whole, 3, ids=(0, 1))
    first = optimizer_of(stopped, **changes)
    steps(stopped, first, 2)
    second = optimizer_of(stopped, **changes)
    second.restore({name: value.clone() for name, value in first.state().items()})
    steps(stopped, second, 3, ids=(0, 1))
    assert all(torch.equal(*pair) for pair in zip(through.parameters(), stopped.parameters(), strict=True))
    assert whole.state().keys() == second.state().keys()
    assert all(torch.equal(value, second.state()[name]) for name, value in whole.state().items())


def test_rates_rise_to_the_end_of_the_warm_up_and_fall_to_nothing():
    scheduled = settings(schedule={"warm_up": 4, "steps": 10})
    assert [factor_at(step, scheduled) for step in (0, 1, 3, 4, 9, 10, 11)] == pytest.approx([0, 0.25, 0.75, 0.6, 0.1, 0, 0])
    assert [factor_at(step, settings()) for step in (0, 99)] == [1, 1]
    assert factor_at(0, settings(schedule={"warm_up": 0, "steps": 2})) == 1


def history(*values):
    return [Iteration(place, 8 * place, 0.0, 0.0, value, 0.0) for place, value in enumerate(values, start=1)]


def test_rates_are_halved_after_more_than_so_many_validations_without_a_new_best():
    waiting = settings(halve_after=1)
    found = [halvings(history(*[0.5, 0.5, 0.4, 0.6, 0.1, 0.6, 0.1, 0.2][:count]), waiting) for count in range(9)]
    assert found == [0, 0, 0, 1, 1, 1, 2, 2, 3]
    assert halvings(history(0.5, 0.1, 0.1, 0.1), settings()) == 0
    assert halvings(history(0.5, 0.50004, 0.50004), waiting) == 1 and halvings(history(0.5, 0.5, 0.50006), waiting) == 0


def test_halving_agrees_with_torch():
    values = [0.5, 0.5, 0.4, 0.6, 0.1, 0.6, 0.1, 0.2, 0.2, 0.2, 0.7, 0.70006, 0.1, 0.1, 0.7002]
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    theirs = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=2)
    for count, value in enumerate(values, start=1):
        theirs.step(value)
        assert 0.5 ** halvings(history(*values[:count]), settings(halve_after=2)) == optimizer.param_groups[0]["lr"]


def test_steps_are_batches_and_the_last_one_of_an_iteration_may_be_smaller():
    assert steps_of(history(0.1, 0.2), settings()) == 4
    assert steps_of([*history(0.1), Iteration(2, 13, 0.0, 0.0, 0.2, 0.0)], settings()) == 2 + 2
