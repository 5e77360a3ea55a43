"""Damaged outputs are set aside before a run; whole ones are left alone."""

import os
import shutil

import numpy as np
import pytest

from epic.__main__ import main
from epic.core import seals
from epic.core.run_lock import release, take
from epic.planning import repair
from epic.planning.repair import mend
from epic.vectors.prune import prune
from epic.vectors.store_writer import StoreWriter


@pytest.fixture
def results(tmp_path):
    """Two shards, a store and a row, as a run leaves them."""
    for name in ("encode/paper/1-of-2", "encode/paper/2-of-2", "prune/paper/3"):
        folder = tmp_path / "results/mine" / name
        folder.parent.mkdir(parents=True, exist_ok=True)
        writer = StoreWriter(folder, 3, 100, "0" * 64)
        writer.add(["0", "1"], np.array([[1, 2, 3], [4, 5, 6]]), np.ones((2, 3), np.float16))
        writer.close()
        seals.seal([folder], name.split("/")[0])
    row = tmp_path / "results/mine/rows/bm25.json"
    row.parent.mkdir()
    row.write_text('{"RR@10": 0.25}\n')
    seals.seal([row], "rows")
    return tmp_path / "results"


def left(results):
    return sorted(
        str(path.parent.relative_to(results / "mine")) for path in results.rglob("header.json") if ".seals" not in path.parts
    )


def overwrite(path, content: bytes) -> None:
    """Change a file, and make it as old as it was."""
    state = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_whole_outputs_stay(results):
    assert mend(results) == [] and len(left(results)) == 3


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: os.truncate(folder / "weights.f16", 5),
        lambda folder: (folder / "terms.u16").unlink(),
        lambda folder: (folder / "header.json").unlink(),
        lambda folder: (folder / "header.json").write_text('{"format":'),
        lambda folder: (folder / "weights.f16").write_bytes(bytes(12)),
        lambda folder: overwrite(folder / "weights.f16", bytes(12)),
        lambda folder: overwrite(folder / "sums.u64", bytes(16)),
        lambda folder: (folder.parent / ".seals/2-of-2.json").write_text("half a se"),
    ],
)
def test_what_is_cut_off_missing_or_written_over_is_set_aside_alone(results, damage):
    damage(results / "mine/encode/paper/2-of-2")
    assert mend(results) == [results / "mine/encode/paper/2-of-2"]
    assert left(results) == ["encode/paper/1-of-2", "prune/paper/3"] and mend(results) == []


def test_a_file_changed_by_hand_is_kept_beside_its_seal(results, caplog):
    row = results / "mine/rows/bm25.json"
    row.write_text("my own words\n")
    assert mend(results) == [row] and not row.exists() and not seals.is_sealed(row)
    kept = row.parent / ".seals/bm25.json.damaged"
    assert kept.read_text() == "my own words\n" and f"it was set aside as {kept}, and is made again" in caplog.text


def test_large_outputs_are_read_only_if_they_are_newer_or_were_refused(results, monkeypatch):
    monkeypatch.setattr(repair, "WHOLE", 3)
    store = results / "mine/prune/paper/3"
    overwrite(store / "weights.f16", bytes(12))
    assert mend(results) == []  # as old as its seal, and of the same size
    seals.refuse(store)
    assert mend(results) == [store] and not list((store.parent / ".seals").iterdir())  # too large to keep


def test_a_copy_that_is_newer_than_its_seal_is_compared_once(results, monkeypatch):
    monkeypatch.setattr(repair, "WHOLE", 3)
    store, read = results / "mine/prune/paper/3", []
    seal = store.parent / ".seals/3.json"
    os.utime(seal, (1, 1))
    digest = seals._digest
    monkeypatch.setattr(seals, "_digest", lambda file: (read.append(file.name), digest(file))[1])
    assert mend(results) == [] and {"terms.u16", "weights.f16"} <= set(read) and seal.stat().st_mtime > 1
    read.clear()
    assert mend(results) == [] and not read


def test_what_is_being_written_or_has_no_seal_is_left_alone(results):
    (results / "mine/encode/paper/.1-of-2.node7-123.part").mkdir()
    shutil.rmtree(results / "mine/prune/paper/.seals")
    os.truncate(results / "mine/prune/paper/3/terms.u16", 0)
    assert mend(results) == [] and len(left(results)) == 3
    assert (results / "mine/encode/paper/.1-of-2.node7-123.part").exists()


def test_an_output_that_was_removed_is_no_damage(results):
    shutil.rmtree(results / "mine/prune/paper/3")
    assert mend(results) == []


def test_all_bytes_are_compared_by_a_command(results, capsys):
    assert main(["verify", str(results / "mine"), str(results / "mine/rows/bm25.json"), str(results / "mine/prune/paper/3")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("mine: 4 outputs, as they were written") and said[1].endswith(
        "bm25.json: 1 output, as it was written"
    )
    assert said[2].endswith("prune/paper/3: 2 vectors of 3 terms, as they were written")
    overwrite(results / "mine/encode/paper/1-of-2/weights.f16", bytes(12))
    assert main(["verify", str(results / "mine")]) == 1
    assert "1-of-2/weights.f16 has other content than was written by the stage encode" in capsys.readouterr().err
    assert main(["verify", str(results.parent / "nothing")]) == 1 and "has no seal" in capsys.readouterr().err


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


def test_the_command_says_what_it_set_aside(results, caplog):
    shutil.rmtree(results / "mine/prune")
    os.truncate(results / "mine/encode/paper/1-of-2/terms.u16", 0)
    assert main(["mend", str(results)]) == 0
    assert "1-of-2/terms.u16 has 0 bytes; 12 bytes were written; it was set aside as" in caplog.text
    assert "made again where it is needed" in caplog.text


def test_nothing_is_set_aside_under_a_run_that_is_at_work(results, capsys, monkeypatch):
    monkeypatch.chdir(results.parent)
    row = results / "mine/rows/bm25.json"
    row.write_text("changed\n")
    take("results")
    assert main(["mend", "results"]) == 1 and row.exists()
    assert f"at work in this folder: process {os.getpid()}" in capsys.readouterr().err
    release("results")
    assert main(["mend", "results"]) == 0 and not row.exists()


@pytest.fixture
def layered(tmp_path):
    """Two shards of two layers, and a store that names them, as a run leaves them."""
    shards = [tmp_path / f"results/mine/encode/paper/{number}-of-2" for number in (1, 2)]
    shards[0].parent.mkdir(parents=True)
    for start, folder in enumerate(shards):
        writer = StoreWriter(folder, [2, 3], 100, "0" * 64, start)
        writer.add([str(start)], np.array([[1, 2, 3]]), np.ones((1, 3), np.float16))
        writer.close()
    prune(shards, 3, 2, tmp_path / "results/mine/prune/paper/3")
    seals.seal(shards, "encode")
    seals.seal([tmp_path / "results/mine/prune/paper/3"], "prune")
    return tmp_path / "results"


@pytest.mark.parametrize("name", ["2/weights.f16", "3/terms.u16", "3/sums.u64"])
def test_a_damaged_layer_sets_its_shard_aside_and_the_store_that_names_it_stays(layered, name):
    shard = layered / "mine/encode/paper/2-of-2"
    overwrite(shard / name, bytes((shard / name).stat().st_size))
    assert main(["verify", str(layered / "mine/prune/paper/3")]) == 1 and main(["verify", str(shard)]) == 1
    assert mend(layered) == [shard]
    assert left(layered) == ["encode/paper/1-of-2", "prune/paper/3"] and mend(layered) == []


def test_a_store_that_names_shards_is_verified_in_them(layered, capsys):
    assert main(["verify", str(layered / "mine/prune/paper/3"), str(layered / "mine")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].endswith("prune/paper/3: 2 vectors of 3 terms, as they were written")
    assert said[1].endswith("mine: 3 outputs, as they were written")
