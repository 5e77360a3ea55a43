"""DeepCT's model: what it reads and cuts, what it starts from, what it refuses. Parity with transformers is in tests/parity."""

import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from epic.core.files import InputError
from epic.model.term_weights import load_term_weights


@pytest.fixture
def model(tiny_encoder):
    return load_term_weights(tiny_encoder, 16, seed=3).eval()


def test_a_passage_is_cut_at_its_positions_and_an_empty_one_is_a_dot(model, tiny_encoder):
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert model.pieces(["a b", "", " \n", " ".join(letters * 30)]) == [[5, 6], [1], [1], list(range(5, 19))]  # . is unknown here
    assert [len(ids) for ids in load_term_weights(tiny_encoder, 3, seed=3).pieces(["a b c", "pools"])] == [1, 1]
    assert model.tokens(model.pieces(["pools café"])[0]) == ["pool", "##s", "café"]


def test_a_weight_for_each_word_piece_whatever_stands_beside_it(model):
    texts = ["price of a pool", "", "x", "a b c d e f g h i j k l m n o p"]
    pieces = model.pieces(texts)
    with torch.inference_mode():
        together = model(pieces)  # (N,)
        alone = torch.cat([model([ids]) for ids in pieces])  # (N,)
    assert together.shape == (sum(map(len, pieces)),) and torch.allclose(together, alone, atol=1e-6)


def test_the_linear_unit_starts_from_the_seed_and_dropout_is_for_training(tiny_encoder, model):
    unit = model.classifier.weight
    assert torch.equal(unit, load_term_weights(tiny_encoder, 16, seed=3).classifier.weight)
    assert not torch.equal(unit, load_term_weights(tiny_encoder, 16, seed=4).classifier.weight)
    assert unit.shape == (1, 8) and unit.abs().max() <= 0.04 and float(model.classifier.bias.detach()) == 0.0
    pieces = model.pieces(["a b c"])
    assert torch.equal(model(pieces), model(pieces))
    model.train()
    assert not torch.equal(model(pieces), model(pieces))


def test_what_was_saved_is_loaded_without_a_seed(model, tmp_path):
    model.classifier.bias.data.fill_(0.5)
    model.save(tmp_path / "out")
    again = load_term_weights(tmp_path / "out", 16).eval()
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["architectures"] == ["BertForTokenClassification"] and config["id2label"] == {"0": "weight"}


def changed(encoder, folder, change):
    """A copy of an encoder with other weights."""
    shutil.copytree(encoder, folder)
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")
    return folder


def test_a_published_model_is_taken_over_and_its_old_names_are_understood(tiny_encoder, tmp_path, model):
    def publish(weights):
        for name in list(weights):
            old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
            weights[f"bert.{old}"] = weights.pop(name)
        weights |= {"classifier.weight": torch.full((1, 8), 0.25), "classifier.bias": torch.tensor([0.125])}

    folder = changed(tiny_encoder, tmp_path / "published", publish)
    for seed in (None, 3):
        found = load_term_weights(folder, 16, seed).eval()
        assert found.classifier.weight.unique().tolist() == [0.25] and found.classifier.bias.tolist() == [0.125]
        assert torch.equal(found.bert.words.weight, model.bert.words.weight)


def test_a_model_that_would_be_random_is_refused_and_one_of_other_labels_starts_anew(tiny_encoder, tmp_path):
    other = {"classifier.weight": torch.ones(9, 8), "classifier.bias": torch.ones(9)}
    folder = changed(tiny_encoder, tmp_path / "ner", lambda weights: weights.update(other))
    for path in (tiny_encoder, folder):
        with pytest.raises(InputError, match="no classifier of tokens with one label.*name a DeepCT model, or train it"):
            load_term_weights(path, 16)
    assert load_term_weights(folder, 16, seed=1).classifier.weight.shape == (1, 8)


def test_a_classifier_of_whole_texts_is_no_linear_unit_of_words(tiny_encoder, tmp_path):
    unit = {"classifier.weight": torch.full((1, 8), 0.25), "classifier.bias": torch.tensor([0.125])}
    folder = changed(tiny_encoder, tmp_path / "ranker", lambda weights: weights.update(unit))
    config = json.loads((folder / "config.json").read_text()) | {"architectures": ["BertForSequenceClassification"]}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="no classifier of tokens with one label"):
        load_term_weights(folder, 16)
    assert load_term_weights(folder, 16, seed=1).classifier.weight.unique().tolist() != [0.25]


@pytest.mark.parametrize(
    ("weights", "config", "said"),
    [
        ({}, {"hidden_size": 16}, r"config\.json says vocab_size 37 and hidden_size 16"),
        ({}, {"num_hidden_layers": 1}, r"config\.json says num_hidden_layers 1, but model\.safetensors has 2"),
        ({}, {"max_position_embeddings": 512}, r"config\.json says max_position_embeddings 512"),
        ({}, {"num_attention_heads": 3}, "num_attention_heads 3, which does not divide hidden_size 8"),
        ({}, {"vocab_size": "37"}, r"config\.json: vocab_size is '37', expected a whole number"),
        ({}, {"model_type": "distilbert"}, r"the encoder is model_type distilbert, hidden_act gelu; DeepCT starts from model_type bert"),
        ({}, {"model_type": None}, r"the encoder is model_type None, hidden_act gelu; DeepCT starts from"),
        ({"encoder.layer.0.output.dense.bias": torch.ones(9)}, {}, r"output\.dense\.bias of the shape \(9,\), expected \(8,\)"),
    ],
)  # fmt: skip
def test_a_config_json_of_other_weights_is_refused_in_one_line(tiny_encoder, tmp_path, weights, config, said):
    folder = changed(tiny_encoder, tmp_path / "encoder", lambda found: found.update(weights))
    facts = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(facts | config))
    with pytest.raises(InputError, match=said) as error:
        load_term_weights(folder, 16, seed=1)
    assert str(folder) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_file_that_is_missing_or_cut_is_refused_by_its_name(tiny_encoder, tmp_path, name):
    for number, damage in enumerate((lambda path: path.unlink(), lambda path: path.write_bytes(path.read_bytes()[:40]))):
        folder = shutil.copytree(tiny_encoder, tmp_path / str(number))
        damage(folder / name)
        with pytest.raises(InputError, match=f"{folder}/{name}: "):
            load_term_weights(folder, 16, seed=1)


def test_an_encoder_of_one_segment_is_enough(tiny_encoder, tmp_path):
    one = {"embeddings.token_type_embeddings.weight": torch.ones(1, 8)}
    folder = changed(tiny_encoder, tmp_path / "encoder", lambda found: found.update(one))
    facts = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(facts | {"type_vocab_size": 1}))
    assert load_term_weights(folder, 16, seed=1)([[5, 6]]).shape == (2,)


def test_an_encoder_that_does_not_fit_is_refused(tiny_encoder, tmp_path):
    with pytest.raises(InputError, match="the encoder has 16 positions, the weighter's max_pieces is 128; lower it"):
        load_term_weights(tiny_encoder, 128, seed=1)
    folder = changed(tiny_encoder, tmp_path / "part", lambda weights: weights.pop("encoder.layer.1.output.dense.bias"))
    with pytest.raises(InputError, match=r"has no encoder.layer.1.output.dense.bias \(1 weights are missing\)"):
        load_term_weights(folder, 16, seed=1)
    folder = shutil.copytree(tiny_encoder, tmp_path / "other")
    facts = json.loads((folder / "tokenizer.json").read_text())
    facts["model"]["continuing_subword_prefix"] = "@@"
    (folder / "tokenizer.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="DeepCT joins word-pieces that continue a word with ##"):
        load_term_weights(folder, 16, seed=1)
    folder = shutil.copytree(tiny_encoder, tmp_path / "relu")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    with pytest.raises(
        InputError, match=r"config\.json: the encoder is model_type bert, hidden_act relu; DeepCT starts from model_type bert"
    ):
        load_term_weights(folder, 16, seed=1)
