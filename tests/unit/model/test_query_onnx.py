"""Query vectors by ONNX Runtime: the same as torch's, from the same weights, and refused when they are others."""

import numpy as np
import pytest
import torch

from epic.core.files import InputError
from epic.model.epic import EpicModel
from epic.model.query_onnx import Session
from epic.model.query_torch import query_vector
from epic.model.weigh import graph_session, query_encoder

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
QUERIES = [
    "cost of a pool",
    "",
    "pool pool x pool",
    "café ü ≠",
    " ".join("abcdefghijklmnopqrstuvwxyz" * 3),
]  # the last: six windows


@pytest.mark.parametrize("threads", [1, 2])
def test_the_graph_equals_torch(checkpoint, threads):
    model, encode = EpicModel.from_pretrained(checkpoint), query_encoder(checkpoint, CPU | {"threads": threads})
    for text in QUERIES:
        expected, found = query_vector(model, text), encode(text)
        assert found.terms.tolist() == expected.terms.tolist() and found.terms.dtype == np.uint16
        assert found.weights == pytest.approx(expected.weights, abs=1e-5) and found.weights.dtype == np.float32


@torch.inference_mode()
def test_the_graph_equals_the_equations_on_transformers(checkpoint):
    """Independent of our body: transformers' BertModel and equation 1 written out."""
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    from epic.core.files import read_json

    weights = load_file(checkpoint / "model.safetensors")
    bert = BertModel(BertConfig(**read_json(checkpoint / "config.json")), add_pooling_layer=False).eval()
    bert.load_state_dict({name.removeprefix("body."): value for name, value in weights.items() if name.startswith("body.")})
    ids = EpicModel.from_pretrained(checkpoint).pieces(["price of pools"])[0]
    f = bert(torch.tensor([[2, *ids, 3]])).last_hidden_state[0, 1:-1]
    theta1 = weights.get("equations.theta1", weights.get("equations.theta1.weight")).flatten()
    w_q = torch.log(1 + torch.log(1 + torch.exp(f @ theta1 + weights.get("equations.theta1.bias", torch.zeros(1)))))
    expected = dict(zip(ids, w_q.tolist(), strict=True))
    found = graph_session(checkpoint, 1).query_vector("price of pools")
    assert dict(zip(found.terms.tolist(), found.weights.tolist(), strict=True)) == pytest.approx(expected, abs=1e-5)


def test_a_graph_of_other_weights_is_refused(checkpoint, mlm_encoder, tmp_path):
    other = EpicModel.from_encoder(mlm_encoder, EpicModel.from_pretrained(checkpoint).formulation, seed=8)
    other.save_pretrained(tmp_path / "other")
    (checkpoint / "model.safetensors").write_bytes((tmp_path / "other" / "model.safetensors").read_bytes())
    with pytest.raises(InputError, match=r"query\.onnx was exported from other weights than .*model\.safetensors"):
        graph_session(checkpoint, 1)


def test_a_damaged_graph_is_refused(checkpoint):
    content = (checkpoint / "query.onnx").read_bytes()
    (checkpoint / "query.onnx").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"query\.onnx: cannot be read .*; move it away, and torch is used instead"):
        graph_session(checkpoint, 1)


def test_windows_of_a_long_query_are_encoded_one_by_one_and_their_terms_add_up(checkpoint):
    session = Session(checkpoint, 1)
    letters = "abcdefghijklmnopqrstuvwxyz"  # two windows of 13 letters
    whole, halves = (
        session.query_vector(" ".join(letters)),
        [session.query_vector(" ".join(half)) for half in (letters[:13], letters[13:])],
    )
    assert whole.terms.tolist() == [term for half in halves for term in half.terms.tolist()] and len(whole.terms) == 26
    assert whole.weights == pytest.approx(np.concatenate([half.weights for half in halves]), rel=1e-5)
    assert session.query_vector("").terms.shape == session.query_vector("").weights.shape == (0,)
