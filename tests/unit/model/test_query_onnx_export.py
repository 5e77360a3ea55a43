"""The exported graph: no weights in it, the same bytes each time, and for BERT in float32 alone."""

import onnx
import torch
from safetensors.torch import save_file

from epic.core.files import sha256_of
from epic.model.epic import EpicModel
from epic.model.query_onnx_export import export, places_of
from epic.model.weigh import graph_session


def test_the_graph_holds_no_weights_and_is_the_same_each_time(checkpoint, tmp_path):
    EpicModel.from_pretrained(checkpoint).save_pretrained(tmp_path / "again")
    export(tmp_path / "again")
    assert (tmp_path / "again" / "query.onnx").read_bytes() == (checkpoint / "query.onnx").read_bytes()
    assert (checkpoint / "query.onnx").stat().st_size < 20_000


def test_an_encoder_that_is_no_bert_in_float32_gets_no_graph(paper_model, tmp_path):
    paper_model.save_pretrained(tmp_path / "double")
    export(tmp_path / "double")
    assert not (tmp_path / "double" / "query.onnx").exists() and graph_session(tmp_path / "double", 1) is None


def test_every_float32_tensor_is_found_at_its_bytes(tmp_path):
    tensors = {
        "a": torch.arange(6.0).view(2, 3),
        "b.c": torch.tensor([9.0]),
        "half": torch.ones(2).half(),
        "whole": torch.ones(2).long(),
    }
    save_file(tensors, tmp_path / "w.safetensors", metadata={"format": "pt"})
    data, places = (tmp_path / "w.safetensors").read_bytes(), places_of(tmp_path / "w.safetensors")
    assert {name: (shape, length) for name, (shape, _, length) in places.items()} == {"a": ([2, 3], 24), "b.c": ([1], 4)}
    for name, (_, first, length) in places.items():
        assert data[first : first + length] == tensors[name].numpy().tobytes()


def test_the_graph_says_whose_it_is_and_takes_every_weight_from_the_file_beside_it(checkpoint):
    graph = onnx.load(checkpoint / "query.onnx", load_external_data=False)
    facts = {entry.key: entry.value for entry in graph.metadata_props}
    assert facts == {"model": sha256_of(checkpoint / "model.safetensors"), "window": "14"}  # 16 positions, two of them special
    places, weights = places_of(checkpoint / "model.safetensors"), {}
    for tensor in graph.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            weights[tensor.name] = {entry.key: entry.value for entry in tensor.external_data}
            assert (list(tensor.dims), weights[tensor.name]["offset"]) == (places[tensor.name][0], str(places[tensor.name][1]))
    assert {entry["location"] for entry in weights.values()} == {"model.safetensors"}
    passages = {name for name in places if "Theta2" in name or "theta3" in name or "theta4" in name}
    assert passages and not passages & set(weights) and "body.encoder.layer.1.output.dense.bias" in weights
    onnx.checker.check_model(str(checkpoint / "query.onnx"))


def test_why_there_is_no_graph_is_said(paper_model, tmp_path, caplog):
    caplog.set_level("INFO")
    paper_model.save_pretrained(tmp_path / "double")
    export(tmp_path / "double")
    assert "double has no graph of its query side: it is for BERT in float32 alone" in caplog.text
