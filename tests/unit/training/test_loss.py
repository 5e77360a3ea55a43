"""The losses by hand, and against torch's own."""

import math

import pytest
import torch
import yaml

from epic.experiment.check import SCHEMA
from epic.training.loss import LOSSES, binary_cross_entropy, cross_entropy, hinge, one_minus_softmax


def test_both_losses_by_hand():
    scores = torch.tensor([[2.0, 1.0], [0.0, 0.0]], dtype=torch.float64)
    assert cross_entropy(scores).tolist() == pytest.approx([math.log(1 + math.exp(-1)), math.log(2)], rel=1e-12)
    assert one_minus_softmax(scores).tolist() == pytest.approx([1 - 1 / (1 + math.exp(-1)), 0.5], rel=1e-12)


def test_hinge_and_binary_cross_entropy_by_hand():
    scores = torch.tensor([[2.0, 0.5], [0.25, 0.0], [0.0, 3.0]], dtype=torch.float64)
    assert hinge(scores).tolist() == [0.0, 0.75, 4.0]
    expected = [(math.log(1 + math.exp(-a)) + math.log(1 + math.exp(b))) / 2 for a, b in scores.tolist()]
    assert binary_cross_entropy(scores).tolist() == pytest.approx(expected, rel=1e-12)


def test_hinge_and_binary_cross_entropy_agree_with_torch():
    scores = torch.randn(7, 2, dtype=torch.float64)
    theirs = torch.nn.functional.margin_ranking_loss(*scores.T, torch.ones(7), margin=1.0, reduction="none")
    assert torch.allclose(hinge(scores), theirs, rtol=1e-12)
    wanted = torch.tensor([[1.0, 0.0]], dtype=torch.float64).expand(7, 2)
    theirs = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted, reduction="none").mean(1)
    assert torch.allclose(binary_cross_entropy(scores), theirs, rtol=1e-12)


def test_cross_entropy_agrees_with_torch():
    scores = torch.randn(5, 2, dtype=torch.float64)
    theirs = torch.nn.functional.cross_entropy(scores, torch.zeros(5, dtype=torch.long), reduction="none")
    assert torch.allclose(cross_entropy(scores), theirs, rtol=1e-12)


def test_both_losses_stay_finite_and_right_where_a_softmax_overflows():
    scores = torch.tensor([[-1000.0, 1000.0], [1000.0, -1000.0]])
    assert cross_entropy(scores).tolist() == [2000.0, 0.0] and one_minus_softmax(scores).tolist() == [1.0, 0.0]
    assert binary_cross_entropy(scores).tolist() == [1000.0, 0.0]


def test_only_the_difference_counts_and_each_triple_has_its_own_loss():
    scores = torch.tensor([[0.3, -0.4]], dtype=torch.float64)
    for loss in LOSSES.values():
        if loss is not binary_cross_entropy:  # it judges each passage by itself
            assert loss(scores).item() == pytest.approx(loss(scores + 7).item(), rel=1e-12)
        assert loss(scores).item() < loss(scores.flip(1)).item()
        assert loss(torch.empty(0, 2)).shape == (0,)


def test_an_experiment_may_name_each_of_them_or_none():
    model = yaml.safe_load(SCHEMA.read_text())["properties"]["models"]["items"]
    assert set(model["properties"]["loss"]["enum"]) == {*LOSSES, None}
