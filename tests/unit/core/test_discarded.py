"""Vectors that were removed after use: what stays is whole, and says how to get the rest again."""

import json
import os

import pytest

from epic.core import discarded, seals
from epic.core.files import InputError

AGAIN = "snakemake results/mine/models/paper.md --cores all --forcerun encode"


@pytest.fixture
def shard(tmp_path):
    """A sealed folder with arrays, one of them deeper, and small files."""
    folder = tmp_path / "1-of-2"
    (folder / "top-100").mkdir(parents=True)
    for name, size in (("terms.u16", 40), ("weights.f16", 40), ("sums.u64", 16), ("top-100/terms.u16", 8)):
        (folder / name).write_bytes(bytes(size))
    for name in ("header.json", "frequencies.json"):
        (folder / name).write_text("{}\n")
    seals.seal([folder], "encode")
    return folder


def test_arrays_go_and_small_files_stay_as_they_were_sealed(shard):
    assert not discarded.was_discarded(shard)
    discarded.refuse_discarded(shard)
    assert discarded.discard(shard, AGAIN) == 104
    left = {path.relative_to(shard).as_posix() for path in shard.rglob("*") if path.is_file()}
    assert left == {"header.json", "frequencies.json", discarded.MARK} and discarded.was_discarded(shard)
    assert seals.difference_of(shard) is None
    seals.check([shard, shard / "frequencies.json"], whole=True)
    (shard / "frequencies.json").write_text("{ }\n")
    assert "frequencies.json has" in seals.difference_of(shard)


def test_who_asks_for_them_is_told_the_command(shard):
    discarded.discard(shard, AGAIN)
    with pytest.raises(InputError, match=f"its vectors were removed after use; make them again: {AGAIN}"):
        discarded.refuse_discarded(shard)
    assert discarded.again_of(shard) == AGAIN


def test_sizes_are_known_afterwards(shard):
    before = discarded.size_in(shard, "weights.f16")
    discarded.discard(shard, AGAIN)
    assert discarded.size_in(shard, "weights.f16") == before == 40 and discarded.size_in(shard, "header.json") == 3


def test_removing_twice_tells_the_same_bytes(shard):
    assert discarded.discard(shard, AGAIN) == discarded.discard(shard, AGAIN) == 104


@pytest.mark.parametrize("calls", range(1, 6))
def test_a_job_that_is_killed_in_between_leaves_nothing_that_looks_damaged(shard, monkeypatch, calls):
    """Killed before the seal, then before each of the four files is removed."""
    done = []

    def dying(function):
        def step(*arguments):
            done.append(function)
            if len(done) == calls:
                raise KeyboardInterrupt
            return function(*arguments)

        return step

    with monkeypatch.context() as patch:
        patch.setattr(seals, "seal_without", dying(seals.seal_without))
        patch.setattr(discarded.os, "unlink", dying(os.unlink))
        with pytest.raises(KeyboardInterrupt):
            discarded.discard(shard, AGAIN)
    assert seals.difference_of(shard) is None
    assert discarded.discard(shard, AGAIN) == 104 and not list(shard.rglob("*.u16"))


def test_a_folder_without_a_seal_gets_none(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "terms.u16").write_bytes(bytes(4))
    assert discarded.discard(tmp_path / "old", AGAIN) == 4 and not seals.is_sealed(tmp_path / "old")


@pytest.mark.parametrize("content", ["[]", "{}", '{"again": "x", "files": {"a": "b"}}'])
def test_a_mark_that_is_none_is_refused(shard, content):
    (shard / discarded.MARK).write_text(content)
    with pytest.raises(InputError, match=r"discarded\.json: expected what was removed"):
        discarded.refuse_discarded(shard)


def test_a_mark_holds_bytes_by_file(shard):
    discarded.discard(shard, AGAIN)
    found = json.loads((shard / discarded.MARK).read_text())
    assert found["files"] == {"sums.u64": 16, "terms.u16": 40, "top-100/terms.u16": 8, "weights.f16": 40}
