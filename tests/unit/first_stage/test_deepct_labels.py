"""Files of DeepCT's labels."""

import pytest

from epic.core.files import InputError
from epic.first_stage.deepct_labels import Labels, line_of, read_labels

LABELS = [Labels("7", 2, {"café": 0.5, "pools": 1.0}), Labels("x-8", 1, {})]


def test_labels_come_back_as_they_were_written(tmp_path):
    (tmp_path / "l.jsonl").write_text("".join(map(line_of, LABELS)))
    assert read_labels(tmp_path / "l.jsonl") == LABELS
    assert line_of(LABELS[0]) == '{"id": "7", "queries": 2, "recall": {"café": 0.5, "pools": 1.0}}\n'


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        '{"id": "7", "queries": 1}',
        '{"id": "a b", "queries": 1, "recall": {}}',
        '{"id": "7", "queries": 1, "recall": {"a": 1.5}}',
        '{"id": "7", "queries": 1, "recall": {"a": "1"}}',
        '{"id": "7", "queries": 1, "recall": ["a"]}',
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(tmp_path, line):
    (tmp_path / "l.jsonl").write_text(line_of(LABELS[0]) + line + "\n")
    with pytest.raises(InputError, match="l.jsonl line 2: expected id, queries and recall.*make it again"):
        read_labels(tmp_path / "l.jsonl")


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "l.jsonl").write_text("")
    with pytest.raises(InputError, match="the file is empty"):
        read_labels(tmp_path / "l.jsonl")
