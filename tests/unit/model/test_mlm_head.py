"""The masked-language-model head of every kind of encoder, and what stands in where there is none."""

import pytest
import torch
from torch import nn

from epic.core.files import InputError
from epic.model.equations import Released
from epic.model.mlm_head import head_of

CONFIG = {"model_type": "bert", "layer_norm_eps": 1e-12}


def test_without_a_head_the_transform_only_centres_and_scales():
    words = nn.Embedding(5, 16).double()
    head = head_of({}, CONFIG, words.weight.detach())
    assert not head.learned and torch.equal(head.decoder, words.weight) and (head.bias < 0).all()
    f = torch.randn(7, 16, dtype=torch.float64)
    expected = torch.nn.functional.layer_norm(f, (16,), eps=1e-12)
    assert torch.allclose(Released(words, head).double().hidden(f), expected, atol=1e-9)


def named(*names, size=2):
    """Weights of one number each, counted from 1: matrices for what ends in .weight but for LayerNorms, vectors else."""
    shapes = [(size, size) if name.endswith("dense.weight") or "transform.weight" in name else (size,) for name in names]
    return {name: torch.full(shape, float(place)) for place, (name, shape) in enumerate(zip(names, shapes, strict=True), start=1)}


HEADS = {
    "bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
    "distilbert": ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
    "roberta": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    "mpnet": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    "some-bert": ("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
}


@pytest.mark.parametrize("kind", HEADS)
def test_a_learned_head_is_found_under_the_names_of_its_kind(kind):
    dense, norm, bias = HEADS[kind]
    weights = named(f"{dense}.weight", f"{dense}.bias", f"{norm}.weight", f"{norm}.bias", bias)
    embeddings = torch.full((2, 2), 9.0)
    head = head_of(weights, {"model_type": kind, "layer_norm_eps": 1e-5}, embeddings)
    assert [part.flatten()[0].item() for part in head[:6]] == [1.0, 2.0, 3.0, 4.0, 9.0, 5.0]  # tied: the embeddings decode
    assert head.learned and head.eps == 1e-5 and head.decoder is embeddings


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("bert", "cls.predictions.decoder.weight"),
        ("distilbert", "vocab_projector.weight"),
        ("camembert", "lm_head.decoder.weight"),
    ],
)
def test_a_decoder_of_its_own_goes_before_the_word_embeddings(kind, name):
    matrix = torch.full((3, 2), 7.0)
    assert head_of({name: matrix}, {"model_type": kind}, torch.ones(3, 2)).decoder is matrix


def test_a_head_of_another_kind_is_not_taken_for_one_s_own():
    weights = named(
        "lm_head.dense.weight", "lm_head.dense.bias", "lm_head.layer_norm.weight", "lm_head.layer_norm.bias", "lm_head.bias"
    )
    assert not head_of(weights, {"model_type": "bert"}, torch.ones(3, 2)).learned


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"cls.predictions.transform.dense.bias": None},
            r"has no cls\.predictions\.transform\.dense\.bias \(1 weights are missing\)",
        ),
        ({"cls.predictions.bias": None}, r"has no cls\.predictions\.bias"),
        ({"cls.predictions.bias": torch.ones(4)}, r"has cls\.predictions\.bias of the shape \(4,\), expected \(2,\)"),
        ({"cls.predictions.transform.dense.weight": torch.ones(2, 3)}, r"of the shape \(2, 3\), expected \(2, 2\)"),
        ({"cls.predictions.decoder.weight": torch.ones(5, 2)}, r"decoder\.weight of the shape \(5, 2\), expected \(2, 2\)"),
    ],
)
def test_a_head_that_lacks_a_part_or_is_of_another_encoder_is_refused(change, said):
    dense, norm, bias = HEADS["bert"]
    weights = named(f"{dense}.weight", f"{dense}.bias", f"{norm}.weight", f"{norm}.bias", bias) | change
    with pytest.raises(InputError, match=f"{said}.*in the masked-language-model head; fetch it anew"):
        head_of({name: value for name, value in weights.items() if value is not None}, {"model_type": "bert"}, torch.ones(2, 2))
    with pytest.raises(InputError, match=r"decoder\.weight of the shape \(5, 2\)"):  # nothing else of it
        head_of({"cls.predictions.decoder.weight": torch.ones(5, 2)}, {"model_type": "bert"}, torch.ones(2, 2))


def test_what_stands_in_for_a_head_has_the_shapes_and_the_precision_of_the_embeddings():
    head = head_of({}, {"model_type": "bert"}, torch.ones(3, 2, dtype=torch.float64))
    assert head.dense.tolist() == [[1.0, 0.0], [0.0, 1.0]] and head.dense_bias.tolist() == [10.0, 10.0]
    assert head.norm.tolist() == [1.0, 1.0] and head.norm_bias.tolist() == [0.0, 0.0] and head.bias.tolist() == [-5.0] * 3
    assert {part.dtype for part in head[:6]} == {torch.float64} and head.eps == 1e-12
