"""Parts of a shard that wait for the rest: whole, or not taken."""

import pytest

from epic.first_stage.generated_parts import Parts, key_of

KEY, OTHER = "a" * 64, "b" * 64
QUERIES = [["what is é", ""], ["", ""], ["a b", "c\u2028d"]]


def test_what_was_written_is_read(tmp_path):
    parts = Parts(tmp_path, KEY, 2)
    assert parts.read(range(4, 7)) is None
    parts.write(range(4, 7), QUERIES)
    assert parts.read(range(4, 7)) == QUERIES and parts.read(range(4, 6)) is None
    assert Parts(tmp_path, OTHER, 2).read(range(4, 7)) is None
    assert [path.name for path in (tmp_path / KEY[:16]).iterdir()] == ["000000000004-000000000007.txt"]


@pytest.mark.parametrize("cut", [-1, 70, 10, 0])
def test_a_part_that_was_cut_off_is_not_taken(tmp_path, cut):
    parts = Parts(tmp_path, KEY, 2)
    parts.write(range(4, 7), QUERIES)
    (path,) = (tmp_path / KEY[:16]).iterdir()
    path.write_bytes(path.read_bytes()[:cut])
    assert parts.read(range(4, 7)) is None
    path.write_bytes(b"\xff" + path.read_bytes())
    assert parts.read(range(4, 7)) is None


def test_a_key_stands_for_settings_and_the_bytes_of_inputs(tmp_path):
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "weights").write_text("1")
    (tmp_path / "manifest").write_text("m")
    files = [tmp_path / "g", tmp_path / "manifest"]
    key = key_of([{"seed": 1}, "code"], files)
    assert key == key_of([{"seed": 1}, "code"], files) and len(key) == 64
    assert key != key_of([{"seed": 2}, "code"], files)
    (tmp_path / "g" / "weights").write_text("2")
    assert key != key_of([{"seed": 1}, "code"], files)
