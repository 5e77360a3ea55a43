"""YAML with lines: every value knows where it stands, and nothing overwrites anything."""

import pytest

from epic.core.files import InputError
from epic.experiment.yaml_lines import read_yaml

TEXT = """# a comment
title: a
rows:
  - {id: x, keep: [1, 2]}
  - id: y
    note: >-
      two
      lines
"""


def written(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    return read_yaml(tmp_path / "mine.yaml")


def test_values_are_those_of_yaml_and_every_one_has_its_line(tmp_path):
    found = written(tmp_path, TEXT)
    assert found.value == {"title": "a", "rows": [{"id": "x", "keep": [1, 2]}, {"id": "y", "note": "two lines"}]}
    assert found.line(("title",)) == 2 and found.line(("rows", 0, "keep", 1)) == 4 and found.line(("rows", 1, "note")) == 6


def test_a_place_that_does_not_exist_has_the_line_of_what_is_around_it(tmp_path):
    found = written(tmp_path, TEXT)
    assert found.line(("rows", 1, "label")) == 5 and found.line(("train", "patience")) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"mine\.yaml line 3: not valid YAML: key 'a' is given twice"),
        ("a: {b: 1, b: 2}\n", "key 'b' is given twice"),
        ("a: [1\n", "not valid YAML"),
        ("a: &x [1]\nb: *x\n", "anchors and aliases are not allowed"),
        ("a: 1\ntitle: 2020-13-45\n", r"line 2: not valid YAML: no value: '2020-13-45'"),
        ("a: !!int abc\n", "no tag .* is allowed"),
        ("? [a, b]\n: c\n", "is no name"),
        ("? 1.5\n: c\n", "is no name"),
        ("a: !!timestamp x\n", "no tag .* is allowed"),
        ("a: ! x\n", "no tag .* is allowed"),
        ("a: 1\nb: 010\n", r"line 2: not valid YAML: '010' can be read as one number or another; write it in decimals"),
        ("a: 1:30\n", "'1:30' can be read"),
        ("a: 0x10\n", "'0x10' can be read"),
        ("a: 1_000\n", "'1_000' can be read"),
        ("a: 0b11\n", "'0b11' can be read"),
        ("a: " + "9" * 100_000 + "\n", "too long for a number"),
        ("a: 0x" + "F" * 100_000 + "\n", "too long for a number"),
        ("a: " + "[" * 100_000, "more than 20 deep"),
        ("- " * 5_000 + "a", "more than 20 deep"),
        ("a: " + "{b: " * 5_000, "more than 20 deep"),
        ("a: &a [x, x]\n" + "".join(f"a{n}: &a{n} [*a, *a]\n" for n in range(200)), r"line 1: not valid YAML: anchors"),
        ("a: x\n" * 200_001, "more than 1000000 bytes"),
        ("a: \x00\n", "characters are not allowed"),
        ("a: !!python/object/apply:os.system [true]\n", "no tag .* is allowed"),
    ],
)
def test_what_would_hide_or_run_something_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        written(tmp_path, text)


def test_an_empty_file_is_nothing(tmp_path):
    assert written(tmp_path, "").value is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5e-5", 5e-5), ("1e3", 1000.0), ("2.5E6", 2.5e6), ("-1e-3", -1e-3), (".5e1", 5.0), ("5.0e-5", 5e-5), ("3", 3), ("-7", -7), ("0", 0), ("0.5", 0.5),
        ("'5e-5'", "5e-5"), ('"010"', "010"), ("1e", "1e"), ("e5", "e5"), ("2e5 words", "2e5 words"), ("12345678901234567890e1234567890", "12345678901234567890e1234567890"),
    ],
)  # fmt: skip
def test_a_number_is_what_people_take_for_one(tmp_path, text, value):
    found = written(tmp_path, f"a: {text}\n").value["a"]
    assert found == value and type(found) is type(value)


def test_a_folder_or_a_file_that_cannot_be_decoded_is_refused_by_name(tmp_path):
    (tmp_path / "mine.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(InputError, match=r"mine\.yaml: not valid YAML: .*utf-8"):
        read_yaml(tmp_path / "mine.yaml")
    (tmp_path / "other.yaml").mkdir()
    with pytest.raises(InputError, match=r"other\.yaml: not valid YAML: .*directory"):
        read_yaml(tmp_path / "other.yaml")


def test_twenty_levels_are_read(tmp_path):
    assert str(written(tmp_path, "[" * 20 + "]" * 20).value).count("[") == 20
