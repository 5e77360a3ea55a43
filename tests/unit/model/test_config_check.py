"""config.json of a BERT against the weights beside it: every size, before a body is made."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from epic.core.files import InputError
from epic.model.bert import Bert
from epic.model.body import DEFAULTS, bert_of
from epic.model.config_check import described, refuse_odd, refuse_unlike
from epic.model.shapes import shapes_of


@pytest.fixture
def config(tiny_encoder):
    return DEFAULTS | json.loads((tiny_encoder / "config.json").read_text())


def test_the_shapes_of_a_body_are_known_without_making_it_and_nothing_is_drawn(config):
    before = torch.get_rng_state()
    assert described(config) == shapes_of(Bert(config).state_dict())
    torch.set_rng_state(before)
    described(config | {"vocab_size": 1 << 24, "hidden_size": 1 << 24})  # no memory would hold it
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(
    ("key", "odd", "said"),
    [
        (
            "hidden_size",
            12,
            r"says vocab_size 37 and hidden_size 12, but embeddings\.word_embeddings\.weight .* has the shape \(37, 8\)",
        ),
        ("vocab_size", 30522, r"says vocab_size 30522 and hidden_size 8, but embeddings\.word_embeddings\.weight"),
        ("vocab_size", 36, r"says vocab_size 36 and"),
        ("max_position_embeddings", 17, r"says max_position_embeddings 17 and .*position_embeddings\.weight .* \(16, 8\)"),
        ("type_vocab_size", 1, r"says type_vocab_size 1 and .*token_type_embeddings\.weight .* \(2, 8\)"),
        ("intermediate_size", 32, r"says intermediate_size 32 and .*intermediate\.dense\.weight .* \(16, 8\)"),
        ("num_hidden_layers", 1, r"says num_hidden_layers 1, but model\.safetensors has 2"),
        ("num_hidden_layers", 3, r"says num_hidden_layers 3, but model\.safetensors has 2"),
        ("num_hidden_layers", 1 << 24, "says num_hidden_layers 16777216, but"),
        ("num_attention_heads", 3, r"says num_attention_heads 3, which does not divide hidden_size 8"),
    ],
)
def test_a_size_of_other_weights_is_refused_by_its_key(config, key, odd, said):
    with pytest.raises(InputError, match=f"^/x/config.json {said}.*; the two are not one model's: fetch or make them again"):
        refuse_unlike(config | {key: odd}, shapes_of(Bert(config).state_dict()), "/x")


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        *[("hidden_size", odd) for odd in (None, "8", 8.0, True, [8], {}, 0, -8, 1 << 25)],
        ("max_position_embeddings", 2),  # [CLS] and [SEP], and nothing between them
        *[("hidden_dropout_prob", odd) for odd in (None, "0.1", 1.5, -0.1)],
        ("attention_probs_dropout_prob", None),
        *[("classifier_dropout", odd) for odd in ("0", 2)],
        *[("layer_norm_eps", odd) for odd in (None, "1e-12", -1e-12, 1)],
        *[("architectures", odd) for odd in ("BertModel", [1], {"a": 1})],
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_key(config, key, odd):
    with pytest.raises(InputError, match=rf"^/x/config.json: {key} is .*, expected .*; it was damaged: fetch or make it again"):
        refuse_odd(config | {key: odd}, "/x")


def test_a_key_that_is_missing_is_named_and_some_may_be_missing(config):
    with pytest.raises(InputError, match=r"config.json: there is no num_hidden_layers, expected a whole number from 1"):
        refuse_odd({key: value for key, value in config.items() if key != "num_hidden_layers"}, "/x")
    refuse_odd({key: value for key, value in config.items() if key != "architectures"} | {"classifier_dropout": None}, "/x")


def test_weights_that_are_missing_or_of_another_shape_are_named(config):
    shapes = shapes_of(Bert(config).state_dict())
    name = "encoder.layer.1.attention.self.key.bias"
    with pytest.raises(InputError, match=rf"^/x/model.safetensors has no {name} \(1 weights are missing\)"):
        refuse_unlike(config, {key: value for key, value in shapes.items() if key != name}, "/x")
    with pytest.raises(InputError, match=rf"^/x/model.safetensors has {name} of the shape \(9,\), expected \(8,\) \(1 such\)"):
        refuse_unlike(config, shapes | {name: (9,)}, "/x")
    refuse_unlike(config, shapes | {"pooler.dense.weight": (3,), "cls.predictions.bias": (1,)}, "/x")  # others may be there


@pytest.mark.parametrize("prefix", ["", "bert.", "body."])
def test_a_body_is_made_for_its_weights_whatever_their_names_begin_with(tiny_encoder, tmp_path, config, prefix):
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    weights = load_file(tiny_encoder / "model.safetensors")
    old = {f"{prefix}{name}".replace("LayerNorm.weight", "LayerNorm.gamma"): value for name, value in weights.items()}
    save_file(old, folder / "model.safetensors")
    assert bert_of(config, folder, prefix).config == config
    with pytest.raises(InputError, match="says vocab_size 37 and hidden_size 16"):
        bert_of(config | {"hidden_size": 16}, folder, prefix)
