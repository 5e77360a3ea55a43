"""Weights as torch pickles them: tensors, and nothing that runs."""

import os
import pickle

import pytest
import torch
from safetensors.torch import load_file

from epic.core.files import InputError
from epic.model.torch_weights import write_safetensors


def test_tensors_are_the_same_and_ties_become_copies(tmp_path):
    shared = torch.arange(6.0).reshape(2, 3)
    torch.save({"a": shared, "b": shared, "c": shared.T, "d": torch.ones(2, dtype=torch.bfloat16)}, tmp_path / "w.bin")
    write_safetensors(tmp_path / "w.bin", tmp_path / "w.safetensors")
    found = load_file(tmp_path / "w.safetensors")
    assert found.keys() == {"a", "b", "c", "d"} and torch.equal(found["c"], shared.T) and torch.equal(found["b"], shared)
    assert found["d"].dtype == torch.bfloat16


class _Hostile:
    def __reduce__(self):
        return os.mkdir, ("was-run",)


@pytest.mark.parametrize("content", [_Hostile(), {"a": _Hostile()}, {"a": 1}, {1: torch.ones(1)}, [torch.ones(1)]])
def test_a_file_with_anything_but_tensors_is_refused_and_runs_nothing(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    torch.save(content, tmp_path / "w.bin")
    with pytest.raises(InputError, match=r"w\.bin: not the weights of a model"):
        write_safetensors(tmp_path / "w.bin", tmp_path / "w.safetensors")
    assert not (tmp_path / "was-run").exists() and not (tmp_path / "w.safetensors").exists()


@pytest.mark.parametrize(
    "odd",
    [torch.zeros(1).expand(10**6, 10**6), torch.eye(3).to_sparse(), torch.tensor([1.0, torch.nan]), torch.full((2,), torch.inf)],
)
def test_tensors_that_are_no_weights_are_refused_by_name(tmp_path, odd):
    torch.save({"fine": torch.ones(2), "odd": odd}, tmp_path / "w.bin")
    with pytest.raises(
        InputError, match=r"w\.bin: not the weights of a model: odd is sparse, not finite, or no more than a shape"
    ):
        write_safetensors(tmp_path / "w.bin", tmp_path / "w.safetensors")


def test_a_file_that_names_its_numbers_over_and_over_is_refused(tmp_path):
    shared = torch.ones(10_000)
    torch.save({str(number): shared for number in range(100)}, tmp_path / "w.bin")
    with pytest.raises(InputError, match="names the same numbers more than 8 times"):
        write_safetensors(tmp_path / "w.bin", tmp_path / "w.safetensors")


@pytest.mark.parametrize("content", [b"", b"text", pickle.dumps({"a": 1}), b"PK\x03\x04cut"])
def test_a_file_that_is_no_pickle_of_torchs_is_refused(tmp_path, content):
    (tmp_path / "w.bin").write_bytes(content)
    with pytest.raises(InputError, match=r"w\.bin: not the weights of a model"):
        write_safetensors(tmp_path / "w.bin", tmp_path / "w.safetensors")
