"""Files of tensors: the bytes that safetensors writes, and their sha256 without reading them again."""

import hashlib
import weakref

import pytest
import torch
from safetensors.torch import load_file, save_file

from epic.training import tensor_file
from epic.training.tensor_file import KINDS, write_tensors


@pytest.fixture
def tensors():
    torch.manual_seed(3)
    found = {f"of.{kind}": (torch.randn(3, 5) * 9).to(kind) for kind in KINDS}
    square = torch.randn(4, 4)
    return found | {
        "b": torch.randn(1000), "a": torch.randn(1000), "step": torch.tensor(7.0), "none": torch.empty(0, 3), "Ünï": torch.ones(1),
        "turned": square.T, "needs gradients": torch.nn.Parameter(torch.ones(2)),
    }  # fmt: skip


@pytest.mark.parametrize("at_once", [7, 1 << 24])
def test_the_file_is_the_one_that_safetensors_writes_and_its_sum_is_returned(tensors, tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(tensor_file, "AT_ONCE", at_once)
    found = write_tensors(tensors, tmp_path / "ours")
    save_file({name: value.detach().contiguous() for name, value in tensors.items()}, tmp_path / "theirs")
    assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert found == hashlib.sha256((tmp_path / "ours").read_bytes()).hexdigest()
    assert all(torch.equal(value, tensors[name]) for name, value in load_file(tmp_path / "ours").items())


def test_a_file_without_tensors_is_read_again(tmp_path):
    write_tensors({}, tmp_path / "empty")
    assert load_file(tmp_path / "empty") == {}


def test_tensors_go_to_the_cpu_one_at_a_time(tensors, tmp_path, monkeypatch):
    """A state of two gigabytes on a card must not be held in memory, too."""
    there, moved = set(), []

    class OnCard(torch.Tensor):
        """A tensor of a card that is counted while its copy lives."""

        def cpu(self):
            moved.append(len(there))
            copy = self.as_subclass(torch.Tensor).clone()
            there.add(key := object())
            weakref.finalize(copy, there.discard, key)
            return copy

    write_tensors({name: value.detach().as_subclass(OnCard) for name, value in tensors.items()}, tmp_path / "ours")
    assert len(moved) == len(tensors) and max(moved) <= 1  # the one before goes when the next has come
