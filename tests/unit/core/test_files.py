"""Outputs are whole or absent."""

import json
import os
import platform

import pytest

from epic.core.files import InputError, numbered_lines, read_json, replacing, scratch, sha256_of, size_of, write_json, write_text


def test_a_failure_leaves_the_old_file_and_no_draft(tmp_path):
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError), replacing(tmp_path / "a.txt") as draft:
        draft.write_text("half")
        raise RuntimeError
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_replaces_a_folder(tmp_path):
    for content in ("one", "two"):
        with replacing(tmp_path / "out") as draft:
            draft.mkdir()
            (draft / content).write_text(content)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["two"]


def test_what_a_dead_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path):
    dead = tmp_path / f".a.txt.{platform.node()}-999999999.part"
    alive = tmp_path / f".a.txt.{platform.node()}-{os.getppid()}.part"
    elsewhere = tmp_path / ".a.txt.other-host-999999999.part"
    for path in (dead, alive, elsewhere):
        path.write_text("draft")
    write_text(tmp_path / "a.txt", "new")
    assert not dead.exists() and alive.exists() and elsewhere.exists()


def test_scratch_is_empty_and_gone_afterwards_whatever_a_killed_job_left(tmp_path):
    dead = tmp_path / f".a.tsv.{platform.node()}-999999999.part"
    dead.mkdir()
    (dead / "vectors.f16").write_bytes(b"gigabytes")
    with pytest.raises(ZeroDivisionError), scratch(tmp_path / "a.tsv") as folder:
        assert folder.parent == tmp_path and list(folder.iterdir()) == [] and not dead.exists()
        (folder / "vectors.f16").write_bytes(b"gigabytes")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_json_refuses_nan_and_a_broken_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="Out of range"):
        write_json(tmp_path / "a.json", {"value": float("nan")})
    (tmp_path / "b.json").write_text('{"half":')
    with pytest.raises(InputError, match="b.json"):
        read_json(tmp_path / "b.json")


def test_json_keeps_order_and_letters(tmp_path):
    write_json(tmp_path / "a.json", {"z": "café", "a": 1})
    text = (tmp_path / "a.json").read_text(encoding="utf-8")
    assert list(json.loads(text)) == ["z", "a"] and "café" in text


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"a\.tsv line 2: not UTF-8"):
        list(numbered_lines(tmp_path / "a.tsv"))


def test_zero_bytes_and_lines_without_end_are_refused_with_their_line(tmp_path, monkeypatch):
    (tmp_path / "a.tsv").write_bytes(b"fine\nnot\0fine\n")
    with pytest.raises(InputError, match=r"a\.tsv line 2: a zero byte"):
        list(numbered_lines(tmp_path / "a.tsv"))
    monkeypatch.setattr("epic.core.files.LONGEST_LINE", 10)
    (tmp_path / "a.tsv").write_bytes(b"12345678\n123456789")
    assert [line for _, line in numbered_lines(tmp_path / "a.tsv")] == ["12345678", "123456789"]
    (tmp_path / "a.tsv").write_bytes(b"fine\n1234567890")
    with pytest.raises(InputError, match=r"a\.tsv line 2: more than 9 bytes"):
        list(numbered_lines(tmp_path / "a.tsv"))


@pytest.mark.parametrize("block", [3, 4, 5, 1000])
@pytest.mark.parametrize(
    "data", [b"", b"\n", b"a", b"a\n", b"\n\n", "\ufeffé\r\nb\r\r\n\u2028c\x85d\n\r\ne".encode(), b"a\rb\n\r"]
)
def test_lines_are_the_same_wherever_blocks_end(tmp_path, monkeypatch, block, data):
    monkeypatch.setattr("epic.core.files.BLOCK", block)
    (tmp_path / "a.tsv").write_bytes(data)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    expected = [line.decode().rstrip("\r") for line in (lines if lines[-1] else lines[:-1])]
    assert list(numbered_lines(tmp_path / "a.tsv")) == list(enumerate(expected, start=1))


@pytest.mark.parametrize("block", [3, 4, 1000])
@pytest.mark.parametrize(
    ("data", "line"),
    [(b"a\nb\n\xff\n", 3), (b"a\n\0", 2), (b"\xc3\nb", 1), (b"a\nb\nc\0", 3), (b"a\n" * 7 + b"\xed\xa0\x80\n", 8)],
)
def test_the_line_that_is_named_is_right_wherever_blocks_end(tmp_path, monkeypatch, block, data, line):
    monkeypatch.setattr("epic.core.files.BLOCK", block)
    (tmp_path / "a.tsv").write_bytes(data)
    with pytest.raises(InputError, match=rf"a\.tsv line {line}: (not UTF-8|a zero byte)"):
        list(numbered_lines(tmp_path / "a.tsv"))


def test_json_that_python_would_let_pass_is_refused_with_its_file(tmp_path):
    for text in ('{"a": NaN}', '{"a": 1e999}', '{"a": 1, "a": 2}', "[" * 100_000, '"\\ud800"'):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(InputError, match=r"a\.json: not valid JSON"):
            read_json(tmp_path / "a.json")


def test_sha256_is_the_known_one(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert sha256_of(tmp_path / "empty").startswith("e3b0c44298fc1c149afbf4c8996fb924")


def test_sizes_of_files_folders_and_of_nothing(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"12345")
    (tmp_path / "c").write_bytes(b"123")
    assert (size_of(tmp_path), size_of(tmp_path / "c"), size_of(tmp_path / "none")) == (8, 3, 0)
