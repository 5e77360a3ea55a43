"""Query vectors by ONNX Runtime: the same as torch's, from the same weights, and refused when they are others."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
import torch

from epic.files import InputError
from epic.graph import export
from epic.importance import query_vector
from epic.model import Epic
from epic.vectors import query_vector_of
from epic.weigh import graph_session, query_encoder, weigh

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
QUERIES = [
    "cost of a pool",
    "",
    "pool pool x pool",
    "café ü ≠",
    " ".join("abcdefghijklmnopqrstuvwxyz" * 3),
]  # the last: six windows


@pytest.fixture(params=["paper", "released"])
def checkpoint(mlm_encoder, request, tmp_path):
    Epic.from_encoder(mlm_encoder, request.param, seed=7).eval().save_pretrained(tmp_path / "checkpoint")
    export(tmp_path / "checkpoint")
    return tmp_path / "checkpoint"


@pytest.mark.parametrize("threads", [1, 2])
def test_the_graph_equals_torch(checkpoint, threads):
    model, encode = Epic.from_pretrained(checkpoint), query_encoder(checkpoint, CPU | {"threads": threads})
    for text in QUERIES:
        expected, found = query_vector(model, text), encode(text)
        assert found.terms.tolist() == expected.terms.tolist() and found.terms.dtype == np.uint16
        assert found.weights == pytest.approx(expected.weights, abs=1e-5) and found.weights.dtype == np.float32


@torch.inference_mode()
def test_the_graph_equals_the_equations_on_transformers(checkpoint):
    """Independent of our body: transformers' BertModel and equation 1 written out."""
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    from epic.files import read_json

    weights = load_file(checkpoint / "model.safetensors")
    bert = BertModel(BertConfig(**read_json(checkpoint / "config.json")), add_pooling_layer=False).eval()
    bert.load_state_dict({name.removeprefix("body."): value for name, value in weights.items() if name.startswith("body.")})
    ids = Epic.from_pretrained(checkpoint).pieces(["price of pools"])[0]
    f = bert(torch.tensor([[2, *ids, 3]])).last_hidden_state[0, 1:-1]
    theta1 = weights.get("equations.theta1", weights.get("equations.theta1.weight")).flatten()
    w_q = torch.log(1 + torch.log(1 + torch.exp(f @ theta1 + weights.get("equations.theta1.bias", torch.zeros(1)))))
    expected = dict(zip(ids, w_q.tolist(), strict=True))
    found = graph_session(checkpoint, 1).query_vector("price of pools")
    assert dict(zip(found.terms.tolist(), found.weights.tolist(), strict=True)) == pytest.approx(expected, abs=1e-5)


def test_a_repeated_term_adds_up():
    found = query_vector_of(np.array([7, 3, 7]), np.array([0.5, 1.0, 0.25], dtype=np.float32))
    assert found.terms.tolist() == [3, 7] and found.weights.tolist() == [1.0, 0.75]


def test_a_graph_of_other_weights_is_refused(checkpoint, mlm_encoder, tmp_path):
    other = Epic.from_encoder(mlm_encoder, Epic.from_pretrained(checkpoint).formulation, seed=8)
    other.save_pretrained(tmp_path / "other")
    (checkpoint / "model.safetensors").write_bytes((tmp_path / "other" / "model.safetensors").read_bytes())
    with pytest.raises(InputError, match=r"query\.onnx was exported from other weights than .*model\.safetensors"):
        graph_session(checkpoint, 1)


def test_a_damaged_graph_is_refused(checkpoint):
    content = (checkpoint / "query.onnx").read_bytes()
    (checkpoint / "query.onnx").write_bytes(content[: len(content) // 2])
    with pytest.raises(InputError, match=r"query\.onnx: cannot be read .*; delete it and torch is used instead"):
        graph_session(checkpoint, 1)


def test_without_a_graph_torch_encodes_queries(checkpoint):
    with_graph = weigh(query_encoder(checkpoint, CPU), {"q": QUERIES[0]})["q"]
    (checkpoint / "query.onnx").unlink()
    encode = query_encoder(checkpoint, CPU)
    assert isinstance(encode, partial) and encode.func is query_vector
    assert encode(QUERIES[0]).weights == pytest.approx(with_graph.weights, abs=1e-5)


def test_the_graph_holds_no_weights_and_is_the_same_each_time(checkpoint, tmp_path):
    Epic.from_pretrained(checkpoint).save_pretrained(tmp_path / "again")
    export(tmp_path / "again")
    assert (tmp_path / "again" / "query.onnx").read_bytes() == (checkpoint / "query.onnx").read_bytes()
    assert (checkpoint / "query.onnx").stat().st_size < 20_000


def test_encoding_queries_on_a_cpu_does_not_import_torch(checkpoint):
    code = f"import sys; from epic.weigh import query_encoder; query_encoder({str(checkpoint)!r}, {CPU!r})('x'); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert done.stdout.strip() == "False"


def test_an_encoder_that_is_no_bert_in_float32_gets_no_graph(paper_model, tmp_path):
    paper_model.save_pretrained(tmp_path / "double")
    export(tmp_path / "double")
    assert not (tmp_path / "double" / "query.onnx").exists() and graph_session(tmp_path / "double", 1) is None


def test_weights_behind_a_link_are_left_to_torch(checkpoint):
    (checkpoint / "model.safetensors").rename(checkpoint.parent / "elsewhere")
    (checkpoint / "model.safetensors").symlink_to(checkpoint.parent / "elsewhere")
    assert graph_session(checkpoint, 1) is None
    assert len(query_encoder(checkpoint, CPU)("cost of pool").terms) == 3


def test_a_weight_that_is_not_finite_is_refused_with_the_query(checkpoint):
    from safetensors.torch import load_file, save_file

    weights = load_file(checkpoint / "model.safetensors")
    name = next(name for name in weights if name.startswith("equations.theta1"))
    weights[name].view(-1)[0] = float("nan")
    save_file(weights, checkpoint / "model.safetensors")
    export(checkpoint)
    for encode in (query_encoder(checkpoint, CPU), partial(query_vector, Epic.from_pretrained(checkpoint))):
        with pytest.raises(InputError, match="query q7: a query has a weight that is not finite"):
            weigh(encode, {"q7": "cost of a pool"})


def test_the_api_uses_the_graph_until_the_weights_are_others(checkpoint, monkeypatch):
    import copy
    import pickle

    from epic import api

    model = api.Epic.from_pretrained(checkpoint)
    asked = []
    monkeypatch.setattr(api, "query_vector", lambda model, text: asked.append(text) or query_vector(model, text))
    before = model.encode_query("cost of a pool")
    assert asked == [] and model.graph is not None
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), api.Epic.from_pretrained(checkpoint).double().float()):
        assert other.graph is None
        assert other.encode_query("cost of a pool").weights == pytest.approx(before.weights, abs=1e-5)
    assert len(asked) == 3
    with torch.no_grad():
        next(model.body.encoder.layer[-1].output.LayerNorm.parameters()).mul_(2)
    assert model.encode_query("cost of a pool").weights.tolist() != before.weights.tolist() and len(asked) == 4
