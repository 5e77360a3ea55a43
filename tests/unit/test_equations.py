"""Equations 1 to 5 against values worked out by hand and against a plain-Python reading of the paper."""

import math

import pytest
import torch

from epic.equations import document_vector, expansion, importance, quality, query_vector, similarity


def softplus(x):
    return math.log(1 + math.exp(x))


def test_importance_of_a_zero_product_is_ln_of_one_plus_ln_two():
    assert importance(torch.zeros(3, dtype=torch.float64), torch.ones(1, 3, dtype=torch.float64)).item() == pytest.approx(
        math.log(1 + math.log(2)), rel=1e-12
    )


def test_importance_is_never_negative_and_grows_without_bound():
    theta, f = torch.ones(1, dtype=torch.float64), torch.tensor([[-800.0], [0.0], [800.0]], dtype=torch.float64)
    low, middle, high = importance(theta, f).tolist()
    assert low == 0.0
    assert 0 < middle < high == pytest.approx(math.log(801), rel=1e-12)


def test_quality_is_the_sigmoid_of_the_cls_product():
    found = quality(torch.tensor([1.0, -1.0], dtype=torch.float64), torch.tensor([[2.0, 1.0], [0.0, 0.0]], dtype=torch.float64))
    assert found.tolist() == pytest.approx([1 / (1 + math.exp(-1)), 0.5], rel=1e-12)


def test_document_vector_by_hand():
    # one passage, two terms, three vocabulary entries: c = 0.5; w = 1, 2
    w, c = torch.tensor([[1.0, 2.0]]), torch.tensor([0.5])
    psi = torch.tensor([[[3.0, -1.0, 0.0], [1.0, -0.25, -4.0]]])
    found = document_vector(w, psi, c, torch.ones(1, 2, dtype=torch.bool))
    assert found.tolist() == [[0.5 * 3.0, 0.5 * -0.5, 0.0]]


def test_padding_does_not_change_a_passage_whose_values_are_all_negative():
    importance_, psi, c = torch.rand(1, 3), -torch.rand(1, 3, 5) - 0.1, torch.rand(1)
    short = document_vector(importance_[:, :2], psi[:, :2], c, torch.ones(1, 2, dtype=torch.bool))
    padded = document_vector(importance_, psi, c, torch.tensor([[True, True, False]]))
    assert torch.equal(short, padded)
    assert (short < 0).all()


def test_a_passage_without_terms_has_the_zero_vector():
    found = document_vector(torch.rand(1, 2), torch.rand(1, 2, 4), torch.rand(1), torch.zeros(1, 2, dtype=torch.bool))
    assert found.tolist() == [[0.0] * 4]


def test_repeated_query_terms_add_up_and_padding_does_not():
    w, terms = torch.tensor([[1.0, 0.5, 0.25, 9.0]]), torch.tensor([[2, 0, 2, 1]])
    found = query_vector(w, terms, torch.tensor([[True, True, True, False]]), vocabulary=4)
    assert found.tolist() == [[0.5, 0.0, 1.25, 0.0]]


def test_all_equations_agree_with_a_plain_python_reading():
    torch.manual_seed(3)
    e, n, m, vocabulary = 4, 3, 5, 6
    f_q, f_d = torch.randn(n, e, dtype=torch.float64), torch.randn(m, e, dtype=torch.float64)
    theta1, theta3, theta4, cls = torch.randn(4, e, dtype=torch.float64)
    Theta2, terms = torch.randn(vocabulary, e, dtype=torch.float64), [4, 1, 4]

    def product(left, right):
        return math.fsum(float(a) * float(b) for a, b in zip(left, right, strict=True))

    c = 1 / (1 + math.exp(-product(theta4, cls)))
    expected = 0.0
    for tau in range(vocabulary):
        phi_q = math.fsum(math.log(1 + softplus(product(theta1, f_q[i]))) for i in range(n) if terms[i] == tau)
        phi_d = c * max(math.log(1 + softplus(product(theta3, f_d[j]))) * product(Theta2[tau], f_d[j]) for j in range(m))
        expected += phi_q * phi_d

    every = torch.ones(1, m, dtype=torch.bool)
    phi_d = document_vector(importance(theta3, f_d)[None], expansion(Theta2, f_d)[None], quality(theta4, cls[None]), every)
    phi_q = query_vector(importance(theta1, f_q)[None], torch.tensor([terms]), every[:, :n], vocabulary)
    assert similarity(phi_q, phi_d).item() == pytest.approx(expected, rel=1e-12)
