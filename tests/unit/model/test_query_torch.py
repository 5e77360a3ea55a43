"""Query vectors by torch: equation 1 without its zeros."""

import numpy as np
import pytest
import torch

from epic.model.equations import phi_q
from epic.model.query_torch import query_vector


@torch.inference_mode()
def by_equation(model, text):
    """phi_q over the whole vocabulary, (V,)."""
    q = model.query_tokens(model.pieces([text]))
    return phi_q(model.equations.w_q(q.f)[None], q.ids[None], q.padding().mask(q.f), model.vocabulary)[0].numpy()


@pytest.mark.parametrize("text", ["cost of a pool", "a a b a", "Pools CAFÉ", " ".join("abcdefghijklmnopqrstuvwxyz" * 2)])
def test_the_vector_is_equation_one_at_the_terms_of_the_query(model, text):
    expected, found = by_equation(model, text), query_vector(model, text)
    assert found.terms.tolist() == sorted(set(model.pieces([text])[0])) == np.flatnonzero(expected).tolist()
    assert found.weights == pytest.approx(expected[found.terms], rel=1e-6)
    assert found.terms.dtype == np.uint16 and found.weights.dtype == np.float32


def test_an_empty_query_has_no_terms(model):
    assert [part.tolist() for part in query_vector(model, "")] == [[], []]


def test_nothing_is_kept_for_gradients_and_mixed_precision_is_near(paper_model):
    model = paper_model.float()
    exact = query_vector(model, "cost of a pool")
    model.precision = torch.bfloat16
    mixed = query_vector(model, "cost of a pool")
    assert mixed.weights.dtype == np.float32 and mixed.weights.tolist() != exact.weights.tolist()
    assert mixed.weights == pytest.approx(exact.weights, rel=0.05)
    assert all(parameter.grad is None for parameter in model.parameters())
