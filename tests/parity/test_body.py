"""Encoders that are not BERT run through transformers, and start from their own masked-language-model heads."""

import json

import pytest
import torch

from epic.core.files import InputError
from epic.model.bert import Bert, Packed
from epic.model.body import Other, body_of, load_pretrained
from epic.model.epic import EpicModel
from tests.conftest import WORDS

pytestmark = pytest.mark.parity
SIZES = {"vocab_size": len(WORDS), "pad_token_id": 0}
KINDS = {
    "distilbert": {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 16, "max_position_embeddings": 16},
    "roberta": {
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 16,
        "type_vocab_size": 1,
    },
    "mpnet": {
        "pad_token_id": 1,
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 16,
    },
    "bert": {
        "hidden_act": "relu",
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 16,
        "max_position_embeddings": 16,
    },
}


@pytest.fixture(params=KINDS)
def other(request, tiny_encoder, tmp_path):
    """A random masked language model of another kind, as transformers saves it."""
    from transformers import AutoConfig, AutoModelForMaskedLM

    torch.manual_seed(3)
    model = AutoModelForMaskedLM.from_config(AutoConfig.for_model(request.param, **(SIZES | KINDS[request.param]))).eval()
    for name, parameter in model.named_parameters():
        if "bias" in name:
            parameter.data.normal_()
    model.save_pretrained(tmp_path / "encoder")
    (tmp_path / "encoder" / "tokenizer.json").write_bytes((tiny_encoder / "tokenizer.json").read_bytes())
    return tmp_path / "encoder", model.double()


@torch.inference_mode()
def test_an_encoder_of_another_kind_gives_the_states_and_logits_of_transformers(other):
    folder, theirs = other
    body, head = load_pretrained(folder)
    assert isinstance(body, Other) and head.learned
    windows = [[2, 5, 6, 7, 3], [2, 3], [2, *range(5, 5 + body.window), 3]]
    packed = Packed.of(windows, "cpu")
    for window, states in zip(windows, body.double().eval()(packed, 0).split([len(window) for window in windows]), strict=True):
        expected = theirs.base_model(input_ids=torch.tensor([window])).last_hidden_state[0]
        assert torch.allclose(states, expected, rtol=1e-9, atol=1e-10)
    released = EpicModel.from_encoder(folder, "released", seed=1).double().eval()
    tokens = released.query_tokens([[5, 6, 7]])
    found = released.equations.psi(released.equations.hidden(tokens.f), slice(0, len(WORDS)))
    logits = theirs(input_ids=torch.tensor([[2, 5, 6, 7, 3]])).logits[0, 1:-1]
    if "relu" not in json.dumps(body.config):  # the head's activation is GELU in ours, as in the released code
        assert torch.allclose(found, torch.log1p(torch.nn.functional.softplus(logits)), rtol=1e-8, atol=1e-9)


def test_weights_that_are_missing_are_refused_and_not_made_up(other):
    from safetensors.torch import load_file, save_file

    folder, _ = other
    weights = load_file(folder / "model.safetensors")
    gone = next(name for name in weights if "layer.0." in name)
    save_file({name: value for name, value in weights.items() if name != gone}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"model\.safetensors has no .*\(1 weights are missing\)"):
        load_pretrained(folder)


def altered(folder, **config):
    """The same folder with other keys of config.json."""
    facts = json.loads((folder / "config.json").read_text()) | config
    (folder / "config.json").write_text(json.dumps(facts))
    return folder


@pytest.mark.parametrize(
    ("key", "size"), [("vocab_size", 99), ("max_position_embeddings", 99), ("layers", 1), ("width", 16), ("vocab_size", "x")]
)
def test_a_config_json_of_other_weights_is_refused_in_one_line(other, key, size):
    folder = other[0]
    facts = json.loads((folder / "config.json").read_text())
    of_kind = {"layers": ("n_layers", "num_hidden_layers"), "width": ("dim", "hidden_size")}.get(key, (key,))
    with pytest.raises(InputError) as error:
        load_pretrained(altered(folder, **{name: size for name in of_kind if name in facts}))
    said = str(error.value)
    assert str(folder) in said and "\n" not in said
    assert any(
        words in said for words in ("are config.json and weights one model's?", "of a layer that config.json does not know")
    )


@pytest.mark.parametrize("kind", ["gpt2", "t5", "bart", "llama"])
def test_a_model_that_is_no_masked_language_model_s_encoder_is_refused_by_its_kind(tiny_encoder, tmp_path, kind):
    for name in ("tokenizer.json", "model.safetensors"):
        (tmp_path / name).write_bytes((tiny_encoder / name).read_bytes())
    (tmp_path / "config.json").write_text(json.dumps(SIZES | {"model_type": kind, "hidden_size": 8}))
    with pytest.raises(InputError, match=f"config.json: its model_type is {kind}, which is no masked language model"):
        load_pretrained(tmp_path)


def test_it_trains_saves_and_comes_back(other, tmp_path):
    for formulation in ("paper", "released"):
        model = EpicModel.from_encoder(other[0], formulation, seed=1)
        text = " ".join("abcdefghijklmnopqrstuvwxyz" * 3)
        score = model.similarities(model.query_tokens(model.pieces(["a b"])), model.passage_tokens(model.pieces([text, ""])))
        score.sum().backward()
        assert model.body.words.weight.grad.abs().sum() > 0
        model.save_pretrained(tmp_path / formulation)
        before, after = model.state_dict(), EpicModel.from_pretrained(tmp_path / formulation).state_dict()
        assert before.keys() == after.keys() and all(torch.equal(before[name], after[name]) for name in before)


def test_bert_with_gelu_is_our_own_body(tiny_encoder):
    assert isinstance(load_pretrained(tiny_encoder)[0], Bert)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "no-such-model"}, "no encoder of the type no-such-model"),
        ({"hidden_size": 8}, "names no model_type"),
        (
            {"model_type": "albert", "embedding_size": 4, "hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16},
            "narrower than its layers",
        ),
    ],
)
def test_what_is_no_encoder_for_epic_is_refused(config, message):
    with pytest.raises(InputError, match=message):
        body_of(config | SIZES)
