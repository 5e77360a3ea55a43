"""Weights in files: as they were, refused when damaged, and named by a digest that needs no torch."""

import hashlib
import os
import subprocess
import sys

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from epic.core.files import InputError
from epic.model.checkpoint import load_weights, model_digest, save_weights
from tests.conftest import ROOT


class Small(nn.Module):
    """A parameter that is not contiguous, one of a single number, and a buffer."""

    def __init__(self, seed, width=3):
        super().__init__()
        torch.manual_seed(seed)
        self.table = nn.Parameter(torch.randn(width, 2).T)
        self.scale = nn.Parameter(torch.randn(()))
        self.register_buffer("count", torch.tensor([seed, 2**40]))


def test_weights_come_back_as_they_were(tmp_path):
    one, other = Small(1), Small(2)
    assert not one.table.is_contiguous()
    save_weights(one, tmp_path / "w.safetensors")
    load_weights(other, tmp_path / "w.safetensors")
    assert torch.equal(other.table, one.table) and torch.equal(other.scale, one.scale) and other.count.tolist() == [1, 2**40]


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_weights_can_be_read_by_whoever_can_read_other_new_files(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        save_weights(torch.nn.Linear(2, 1), tmp_path / "w.safetensors")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert (tmp_path / "w.safetensors").stat().st_mode & 0o777 == mode


def test_the_same_weights_are_the_same_bytes(tmp_path):
    for name in "ab":
        save_weights(Small(1), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"<html>not found</html>"),
        lambda path: path.unlink(),
        lambda path: save_weights(Small(1, width=4), path),
        lambda path: save_weights(nn.Linear(2, 2), path),
    ],
)
def test_a_damaged_or_missing_file_or_one_of_another_model_is_refused_by_name(tmp_path, damage):
    save_weights(Small(1), tmp_path / "w.safetensors")
    damage(tmp_path / "w.safetensors")
    with pytest.raises(InputError, match=r"w\.safetensors: not the weights of this model, or damaged \(.+\)"):
        load_weights(Small(2), tmp_path / "w.safetensors")


def test_what_differs_is_said_in_one_line_with_the_file_that_speaks_of_other_weights(tmp_path):
    path = tmp_path / "w.safetensors"
    save_weights(Small(1, width=4), path)
    for described_by, more in (("", ""), ("ranker.json", "; ranker.json speaks of others")):
        with pytest.raises(InputError) as error:
            load_weights(Small(2), path, described_by)
        difference = "has table of the shape (2, 4), expected (2, 3) (1 such)"
        assert str(error.value) == f"{path}: not the weights of this model, or damaged (it {difference}{more})"
    save_weights(nn.Linear(2, 2), path)
    with pytest.raises(InputError, match=r"it has no table \(3 weights are missing\)"):
        load_weights(Small(2), path)
    more = {"table": torch.ones(2, 3), "scale": torch.ones(()), "count": torch.ones(2), "extra": torch.ones(1)}
    save_file(more, path)
    with pytest.raises(InputError, match=r"it has extra, which is unknown \(1 such\)"):
        load_weights(Small(2), path)


def test_the_digest_is_that_of_the_weights_alone_and_needs_no_torch(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "README.md").write_text("a card")
    expected = hashlib.sha256(b"weights").hexdigest()
    assert model_digest(tmp_path) == expected
    code = f"import sys; from epic.model.checkpoint import model_digest; print(model_digest({str(tmp_path)!r}), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected, "False"]
