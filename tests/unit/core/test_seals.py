"""Outputs are what was written, or they are refused by name; whoever changes one on purpose says so."""

import json
import os

import pytest

from epic.__main__ import main
from epic.core import seals
from epic.core.files import InputError


@pytest.fixture
def run(tmp_path):
    """A sealed file of two lines."""
    path = tmp_path / "retrieve" / "test.run"
    path.parent.mkdir()
    path.write_text("q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\n")
    seals.seal([path], "retrieve")
    return path


@pytest.fixture
def index(tmp_path):
    """A sealed folder with a file in a folder of its own, an array of rows, and a file without a byte."""
    folder = tmp_path / "index" / "bm25"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "segment.cfs").write_bytes(bytes(range(256)))
    (folder / "terms.u16").write_bytes(bytes(64))
    (folder / "write.lock").touch()
    seals.seal([folder], "index")
    return folder


def keeping_times(path, content: bytes) -> None:
    """Change a file's bytes, not its times."""
    state = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_an_output_as_it_was_written_passes(run, index):
    seals.check([run, str(index), index / "deep" / "segment.cfs"])


def test_a_seal_counts_bytes_and_lines(run):
    facts = json.loads((run.parent / ".seals" / "test.run.json").read_text())
    assert facts["stage"] == "retrieve" and facts["files"][""]["bytes"] == 40 and facts["files"][""]["lines"] == 2


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("place", [0, 20, 39])
def test_every_flipped_bit_is_refused_though_size_and_times_are_kept(run, place, bit):
    content = bytearray(run.read_bytes())
    content[place] ^= 1 << bit
    keeping_times(run, bytes(content))
    with pytest.raises(
        InputError, match=r"test\.run has other content than was written by the stage retrieve; make it again: snakemake "
    ):
        seals.check([run])


def test_a_file_cut_at_the_end_of_a_line_is_refused_with_what_was_written(run):
    keeping_times(run, run.read_bytes()[:20])
    with pytest.raises(InputError, match=r"test\.run has 20 bytes; 40 bytes in 2 lines were written by the stage retrieve"):
        seals.check([run])


def test_an_empty_or_missing_file_is_refused(run, index):
    keeping_times(run, b"")
    with pytest.raises(InputError, match="has 0 bytes"):
        seals.check([run])
    (index / "deep" / "segment.cfs").unlink()
    with pytest.raises(InputError, match=r"segment\.cfs is missing; 256 bytes were written by the stage index"):
        seals.check([index])


def test_a_file_inside_a_sealed_folder_is_compared_alone(index):
    (index / "deep" / "segment.cfs").write_bytes(bytes(256))
    seals.check([index / "write.lock"])
    for path in (index / "deep" / "segment.cfs", index / "deep", index):
        with pytest.raises(InputError, match="other content"):
            seals.check([path])


def test_arrays_of_rows_are_read_whole_only_where_that_is_asked_for(index):
    (index / "terms.u16").write_bytes(bytes(63) + b"1")
    seals.check([index])
    with pytest.raises(InputError, match=r"terms\.u16 has other content"):
        seals.check([index], whole=True)
    (index / "terms.u16").write_bytes(bytes(62))
    with pytest.raises(InputError, match=r"terms\.u16 has 62 bytes"):
        seals.check([index])


def test_what_has_no_seal_is_not_compared(tmp_path, run):
    (tmp_path / "own.tsv").write_text("1\tmine\n")
    seals.check([tmp_path / "own.tsv", tmp_path / "absent"])
    (run.parent / ".seals" / "test.run.json").unlink()
    run.write_text("changed on purpose")
    seals.check([run])


def test_a_change_on_purpose_is_accepted_by_a_command(run, capsys):
    run.write_text("changed on purpose\n")
    assert main(["accept", str(run)]) == 0 and "kept as it is" in capsys.readouterr().out
    seals.check([run])
    run.write_text("changed by chance\n")
    with pytest.raises(InputError, match="has 18 bytes; 19 bytes in 1 line were written by the stage retrieve"):
        seals.check([run])


def test_changed_vectors_and_what_was_never_sealed_are_not_accepted(index, tmp_path, capsys):
    (index / "terms.u16").write_bytes(bytes(63) + b"1")
    assert main(["accept", str(index)]) == 1 and "vectors cannot be changed by hand" in capsys.readouterr().err
    assert main(["accept", str(tmp_path / "none")]) == 1 and "has no seal" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "{", "[]", '{"stage": "x"}', '{"files": {"": {}}}', "nul\0"])
def test_a_damaged_seal_is_refused_by_its_name(run, content):
    (run.parent / ".seals" / "test.run.json").write_text(content)
    with pytest.raises(InputError, match=r"\.seals/test\.run\.json: not "):
        seals.check([run])


def test_bytes_reach_the_disk_before_the_name_and_the_seal_comes_last(tmp_path, monkeypatch):
    from epic.core.files import write_text

    done, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda handle: (done.append(os.readlink(f"/proc/self/fd/{handle}")), fsync(handle)))
    monkeypatch.setattr(os, "replace", lambda old, new: (done.append(f"-> {new}"), replace(old, new)))
    write_text(tmp_path / "row.json", "{}")
    seals.seal([tmp_path / "row.json"], "rows")
    names = [name.replace(str(tmp_path), "").replace(".seals/.row.json.json", "SEAL") for name in done]
    assert ".part" in names[0] and names[1] == "-> /row.json" and names[2] == ""
    assert names.index("-> /.seals/row.json.json") > 3 and names[-1] == "/.seals"
