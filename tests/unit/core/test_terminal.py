"""Columns of text and of numbers."""

from epic.core.terminal import columns


def test_text_stands_to_the_left_and_numbers_to_the_right():
    assert columns([("stage", "jobs", "GB"), ("encode", "64", "9"), ("Zürich", "", "12,000")], texts=1) == [
        "stage   jobs      GB",
        "encode    64       9",
        "Zürich        12,000",
    ]


def test_no_line_ends_in_spaces():
    assert columns([("need", "remedy"), ("Java", "ok")], texts=2) == ["need  remedy", "Java  ok"]
