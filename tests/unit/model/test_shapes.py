"""Shapes of weights: read without their numbers, compared in words."""

import pytest
import torch
from safetensors.torch import save_file

from epic.core.files import InputError
from epic.model.shapes import difference, shapes_in, shapes_of, surplus_layer


def test_shapes_are_those_of_the_tensors(tmp_path):
    tensors = {"a": torch.ones(2, 3), "b": torch.tensor(1.0), "c": torch.ones(0, 4)}
    save_file(tensors, tmp_path / "w")
    assert shapes_in(tmp_path / "w") == shapes_of(tensors) == {"a": (2, 3), "b": (), "c": (0, 4)}


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-1], lambda data: b"\xff" * 40, lambda data: data[:30], None]
)
def test_a_damaged_or_missing_file_is_refused_by_its_name(tmp_path, damage):
    save_file({"a": torch.ones(2, 3)}, tmp_path / "w")
    if damage:
        (tmp_path / "w").write_bytes(damage((tmp_path / "w").read_bytes()))
    else:
        (tmp_path / "w").unlink()
    with pytest.raises(InputError, match=f"^{tmp_path}/w: not the weights of this model, or damaged"):
        shapes_in(tmp_path / "w")


def test_a_difference_is_said_with_the_first_name_and_how_many_there_are():
    expected = {"a": (2, 3), "b": (4,), "c": ()}
    assert difference(expected, expected) == difference(expected, expected | {"d": ()}) == ""
    assert difference(expected, {"a": (2, 3)}) == "has no b (2 weights are missing)"
    assert difference(expected, expected | {"b": (1, 4), "c": (1,)}) == "has b of the shape (1, 4), expected (4,) (2 such)"
    assert difference(expected, expected | {"d": (), "e": ()}, more=False) == "has d, which is unknown (2 such)"


@pytest.mark.parametrize(
    ("unused", "expected"),
    [
        ([], None),
        (["pooler.dense.weight", "encoder.layer.1.bias"], None),  # a part of a layer that is there
        (["encoder.layer.2.bias"], "encoder.layer.2.bias"),
        (["encoder.layer.11.bias", "lm_head.bias"], "encoder.layer.11.bias"),
        (["decoder.block.1.layer.0.bias"], "decoder.block.1.layer.0.bias"),  # as T5 names them
        (["model.encoder.layers.4.bias"], "model.encoder.layers.4.bias"),
    ],
)
def test_a_layer_that_nothing_uses_is_found(unused, expected):
    used = ["encoder.layer.0.weight", "encoder.layer.1.weight", "decoder.block.0.layer.0.bias", "model.encoder.layers.3.bias"]
    assert surplus_layer(unused, used) == expected
