"""Equations 1 to 5 against values worked out by hand; tests/parity holds them against an independent implementation."""

import math

import pytest
import torch
from torch import nn

from epic.model.equations import Paper, Released, damped, phi_d, phi_q, sim
from epic.model.mlm_head import head_of

CONFIG = {"model_type": "bert", "layer_norm_eps": 1e-12}


def made(kind, embeddings=None):
    """A formulation of two dimensions and three vocabulary entries."""
    words = nn.Embedding(3, 2).double()
    if embeddings is not None:
        words.weight.data = torch.tensor(embeddings, dtype=torch.float64)
    return kind(words, head_of({}, CONFIG, words.weight.detach())).double().eval()


def vector(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_damping_by_hand():
    assert damped(vector(0.0)).item() == pytest.approx(math.log(1 + math.log(2)), rel=1e-12)
    low, middle, high = damped(vector(-800.0, 1.0, 800.0)).tolist()
    assert low == 0.0 and high == pytest.approx(math.log(801), rel=1e-12)
    assert middle == pytest.approx(math.log(1 + math.log(1 + math.e)), rel=1e-12)


def test_paper_importance_and_quality_by_hand():
    paper = made(Paper)
    for name, value in (("theta1", (1.0, 2.0)), ("theta3", (0.0, -1.0)), ("theta4", (1.0, -1.0))):
        getattr(paper, name).data = vector(*value)
    f = vector([1.0, 0.5], [0.0, 0.0])
    assert paper.w_q(f).tolist() == pytest.approx([math.log(1 + math.log(1 + math.e**2)), math.log(1 + math.log(2))], rel=1e-12)
    assert paper.w_d(f).tolist() == pytest.approx(
        [math.log(1 + math.log(1 + math.e**-0.5)), math.log(1 + math.log(2))], rel=1e-12
    )
    assert paper.c(vector([2.0, 1.0], [0.0, 0.0])).tolist() == pytest.approx([1 / (1 + math.exp(-1)), 0.5], rel=1e-12)


def test_paper_expansion_is_linear_without_bias_and_may_be_negative():
    paper = made(Paper, [[1.0, 0.0], [0.0, -2.0], [3.0, 1.0]])
    f = vector([1.0, 1.0])
    assert paper.psi(paper.hidden(f), slice(0, 3)).tolist() == [[1.0, -2.0, 4.0]]
    assert paper.psi(paper.hidden(f), torch.tensor([2, 1])).tolist() == [[4.0, -2.0]]


def test_released_layers_have_biases_and_the_expansion_is_damped():
    released = made(Released, [[1.0, 0.0], [0.0, -2.0], [3.0, 1.0]])
    for layer, weight, bias in (
        (released.theta1, (1.0, 0.0), 0.5),
        (released.theta3, (0.0, 1.0), -1.0),
        (released.theta4, (1.0, 1.0), 2.0),
    ):
        layer.weight.data, layer.bias.data = vector(weight), vector(bias)
    f = vector([0.5, 1.0])
    assert released.w_q(f).item() == pytest.approx(math.log(1 + math.log(1 + math.e)), rel=1e-12)
    assert released.w_d(f).item() == pytest.approx(math.log(1 + math.log(2)), rel=1e-12)
    assert released.c(f).item() == pytest.approx(1 / (1 + math.exp(-3.5)), rel=1e-12)
    released.bias.data = vector(0.0, 1.0, -4.0)
    found = released.psi(vector([1.0, 1.0]), slice(0, 3))[0].tolist()  # logits 1, -2 + 1, 4 - 4
    assert found == pytest.approx([math.log(1 + math.log(1 + math.exp(x))) for x in (1.0, -1.0, 0.0)], rel=1e-12)


def test_released_transform_is_dense_gelu_layernorm():
    released = made(Released)
    released.dense.weight.data, released.dense.bias.data = vector([2.0, 0.0], [0.0, 1.0]), vector(0.0, -1.0)
    released.norm.weight.data, released.norm.bias.data = vector(3.0, 3.0), vector(0.5, 0.0)
    x = [1.0 * 0.5 * (1 + math.erf(1.0 / math.sqrt(2))), 0.0]  # GELU of 2 * 0.5 and of 1 - 1
    half = (x[0] - x[1]) / 2  # the LayerNorm of two values is +1 and -1, but for eps
    assert released.hidden(vector([0.5, 1.0]))[0].tolist() == pytest.approx([3.0 * half / abs(half) + 0.5, -3.0], rel=1e-9)


def test_dropout_stands_before_both_importances_only_and_only_in_training():
    released, f = made(Released), torch.ones(4000, 2, dtype=torch.float64)
    calm = released.w_q(f)
    assert torch.equal(calm, released.w_q(f))
    released.train()
    torch.manual_seed(1)
    for noisy in (released.w_q(f), released.w_d(f)):
        assert len(noisy.unique()) == 4  # each of two dimensions kept or dropped
    assert len(released.c(f).unique()) == 1 and len(released.hidden(f).unique(dim=0)) == 1
    kept = (nn.Dropout(0.1).double()(f) > 0).double().mean().item()
    assert kept == pytest.approx(0.9, abs=0.02) and released.dropout.p == 0.1
    paper = made(Paper).train()
    assert len(paper.w_q(f).unique()) == 1


def test_passages_have_segment_one_in_the_released_code_only():
    assert (Paper.segment, Released.segment) == (0, 1)


def test_the_released_expansion_is_tied_to_the_word_embeddings_and_the_papers_is_not():
    words = nn.Embedding(3, 2)
    head = head_of({}, CONFIG, words.weight.detach())
    released, paper = Released(words, head), Paper(words, head)
    with torch.no_grad():
        words.weight.add_(1.0)
    h = torch.ones(1, 2)
    assert released.psi(h, slice(0, 3)).tolist() == damped(h @ words.weight.T - 5.0).tolist()
    assert paper.psi(h, slice(0, 3)).tolist() == (h @ (words.weight - 1.0).T).tolist()
    assert not any("tied" in name or "words" in name for name in released.state_dict())


def test_document_vector_by_hand():
    # one passage, two terms, three vocabulary entries: c = 0.5; w = 1, 2
    w, c = torch.tensor([[1.0, 2.0]]), torch.tensor([0.5])
    psi = torch.tensor([[[3.0, -1.0, 0.0], [1.0, -0.25, -4.0]]])
    found = phi_d(w, psi, c, torch.ones(1, 2, dtype=torch.bool))
    assert found.tolist() == [[0.5 * 3.0, 0.5 * -0.5, 0.0]]


def test_padding_does_not_change_a_passage_whose_values_are_all_negative():
    w, psi, c = torch.rand(1, 3), -torch.rand(1, 3, 5) - 0.1, torch.rand(1)
    short = phi_d(w[:, :2], psi[:, :2], c, torch.ones(1, 2, dtype=torch.bool))
    padded = phi_d(w, psi, c, torch.tensor([[True, True, False]]))
    assert torch.equal(short, padded)
    assert (short < 0).all()


@pytest.mark.parametrize("width", [0, 2])
def test_a_passage_without_terms_has_the_zero_vector(width):
    found = phi_d(torch.rand(1, width), torch.rand(1, width, 4), torch.rand(1), torch.zeros(1, width, dtype=torch.bool))
    assert found.tolist() == [[0.0] * 4]


def test_repeated_query_terms_add_up_and_padding_does_not():
    w, terms = torch.tensor([[1.0, 0.5, 0.25, 9.0]]), torch.tensor([[2, 0, 2, 1]])
    found = phi_q(w, terms, torch.tensor([[True, True, True, False]]), vocabulary=4)
    assert found.tolist() == [[0.5, 0.0, 1.25, 0.0]]


def test_similarity_is_the_dot_product():
    assert sim(torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, -1.0]])).tolist() == [1.0]
