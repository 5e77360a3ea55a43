"""Products by oneDNN: the same numbers, rows that fill a multiple up, and only where nothing else would be changed."""

from unittest.mock import patch

import pytest
import torch
from torch import nn
from torch.nn.functional import linear

from epic.model import products
from epic.model.epic import EpicModel
from epic.model.products import ENOUGH, ROWS, Linear, filled, product, rows_to_add
from epic.vectors.phi import document_vectors
from tests.vectors import one_step


def multiplied(rows, **kinds):
    """x, weight and bias, and whether their product is oneDNN's."""
    draw = torch.Generator().manual_seed(3)
    x, weight, bias = (torch.randn(*shape, generator=draw) for shape in ((rows, 48), (70, 48), (70,)))
    with patch.object(products, "linear", wraps=linear) as usual:
        found = product(x.to(**kinds), weight.to(**kinds), bias.to(**kinds))
    assert torch.allclose(found.double(), x.double() @ weight.double().T + bias.double(), atol=1e-5 if not kinds else 0.2)
    return not usual.called


@torch.inference_mode()
def test_many_rows_are_multiplied_by_onednn_and_few_or_odd_numbers_of_them_are_not():
    assert multiplied(ENOUGH) and multiplied(ENOUGH + 3 * ROWS)
    assert not any(multiplied(rows) for rows in (0, 1, ENOUGH - ROWS, ENOUGH + 1))
    assert not multiplied(ENOUGH, dtype=torch.bfloat16)
    with torch.autocast("cpu", torch.bfloat16):
        assert rows_to_add(ENOUGH + 1, torch.zeros(1)) == 0


def test_training_multiplies_as_torch_does():
    assert not multiplied(ENOUGH) and rows_to_add(ENOUGH + 1, torch.zeros(1)) == 0
    layer, x = Linear(48, 70), torch.randn(ENOUGH, 48)
    assert torch.equal(layer(x), nn.Linear.forward(layer, x)) and layer(x).requires_grad


@torch.inference_mode()
def test_rows_are_filled_up_with_zeros_to_a_multiple_if_they_are_many():
    for rows in (0, 1, ENOUGH - 1):
        assert len(filled(torch.ones(rows, 4))) == rows
    x = filled(torch.ones(ENOUGH + 1, 4))
    assert len(x) == ENOUGH + ROWS and x[: ENOUGH + 1].all() and not x[ENOUGH + 1 :].any()
    assert len(filled(torch.ones(ENOUGH, 4))) == ENOUGH


@pytest.mark.parametrize("formulation", ["paper", "released"])
@pytest.mark.parametrize("count", [60, 67])
def test_vectors_of_a_large_batch_are_those_of_small_ones_which_are_multiplied_the_usual_way(mlm_encoder, formulation, count):
    model = EpicModel.from_encoder(mlm_encoder, formulation, seed=7).eval()
    texts = ["price of a pool", "a b c d e f g h i j k l m n", "café pools", "x"]
    pieces = model.pieces([texts[place % 4] + " pool" * (place % 9) for place in range(count)])
    assert sum(map(len, pieces)) > ENOUGH
    with patch.object(torch.backends.mkldnn, "is_available", lambda: False):
        usual = [document_vectors(model, [ids], 5)[0] for ids in pieces]
    found = document_vectors(model, pieces, 5)
    assert all(one_step(*pair) for pair in zip(found, usual, strict=True))
