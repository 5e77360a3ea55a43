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
        ("a: !!int abc\n", "no value: 'abc'"),
        ("? [a, b]\n: c\n", "is no name"),
        ("a: !!python/object/apply:os.system [true]\n", "no tag .* is allowed"),
    ],
)
def test_what_would_hide_or_run_something_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        written(tmp_path, text)


def test_an_empty_file_is_nothing(tmp_path):
    assert written(tmp_path, "").value is None
