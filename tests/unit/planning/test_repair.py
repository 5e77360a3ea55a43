"""Damaged vectors are removed before a run; whole ones are left alone."""

import os
import shutil

import numpy as np
import pytest

from epic.__main__ import main
from epic.core.run_lock import release, take
from epic.planning.repair import mend
from epic.vectors.store import StoreWriter


@pytest.fixture
def results(tmp_path):
    """Two shards and a store, as a run leaves them."""
    for name in ("encode/paper/1-of-2", "encode/paper/2-of-2", "prune/paper/3"):
        folder = tmp_path / "results/mine" / name
        folder.parent.mkdir(parents=True, exist_ok=True)
        writer = StoreWriter(folder, 3, 100, "0" * 64)
        writer.add(["0", "1"], np.array([[1, 2, 3], [4, 5, 6]]), np.ones((2, 3), np.float16))
        writer.close()
    (tmp_path / "results/mine/encode/paper/1-of-2.pace.json").write_text("{}")
    return tmp_path / "results"


def left(results):
    return sorted(str(path.parent.relative_to(results / "mine")) for path in results.rglob("header.json"))


def test_whole_vectors_stay(results):
    assert mend(results) == [] and len(left(results)) == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: os.truncate(folder / "weights.f16", 5),
        lambda folder: (folder / "terms.u16").unlink(),
        lambda folder: (folder / "header.json").unlink(),
        lambda folder: (folder / "header.json").write_text('{"format":'),
        lambda folder: (folder / "weights.f16").write_bytes(bytes(12)),
    ],
)
def test_what_is_cut_off_missing_or_written_over_is_removed_alone(results, damage):
    damage(results / "mine/encode/paper/2-of-2")
    assert mend(results) == [results / "mine/encode/paper/2-of-2"]
    assert left(results) == ["encode/paper/1-of-2", "prune/paper/3"]


def test_a_copy_that_is_newer_than_its_header_is_compared_once(results, monkeypatch):
    folder = results / "mine/prune/paper/3"
    (folder / "terms.u16").write_bytes((folder / "terms.u16").read_bytes())
    os.utime(folder / "header.json", (1, 1))
    compared = []
    monkeypatch.setattr("epic.vectors.store.Store.verify", lambda store: compared.append(store.path))
    assert mend(results) == [] and compared == [folder]
    assert mend(results) == [] and compared == [folder]


def test_what_is_being_written_or_of_another_version_is_left_alone(results, caplog):
    (results / "mine/encode/paper/.1-of-2.node7-123.part").mkdir()
    header = results / "mine/prune/paper/3/header.json"
    header.write_text(header.read_text().replace("epic-vectors-2", "epic-vectors-3"))
    assert mend(results) == [] and len(left(results)) == 3 and "another version" in caplog.text
    assert (results / "mine/encode/paper/.1-of-2.node7-123.part").exists()


def test_a_draft_that_nothing_was_written_to_for_a_day_is_removed_wherever_it_was_made(results, caplog):
    old, new = results / "mine/prune/paper/.3.node7-123.part", results / "mine/prune/paper/.3.node8-124.part"
    for draft in (old, new):
        draft.mkdir()
        (draft / "weights.f16").write_bytes(b"1")
        os.utime(draft, (1, 1))
    os.utime(old / "weights.f16", (1, 1))
    table = results / "mine/.table.md.node7-123.part"
    table.write_text("half")
    os.utime(table, (1, 1))
    assert mend(results) == [] and not old.exists() and not table.exists() and new.exists() and len(left(results)) == 3
    assert ".3.node7-123.part: left by a job that was killed" in caplog.text


def test_without_results_there_is_nothing_to_do(tmp_path):
    assert mend(tmp_path / "none") == []


def test_the_command_says_what_it_removed(results, caplog):
    shutil.rmtree(results / "mine/prune")
    os.truncate(results / "mine/encode/paper/1-of-2/terms.u16", 0)
    assert main(["mend", str(results)]) == 0
    assert "1-of-2/terms.u16: 0 bytes, the header promises 12" in caplog.text and "made again where it is needed" in caplog.text


def test_nothing_is_removed_under_a_run_that_is_at_work(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    damaged = tmp_path / "results/smoke/prune/paper/20"
    damaged.mkdir(parents=True)
    take("results")
    assert main(["mend", "results"]) == 1 and damaged.exists()
    assert f"at work in this folder: process {os.getpid()}" in capsys.readouterr().err
    release("results")
    assert main(["mend", "results"]) == 0
