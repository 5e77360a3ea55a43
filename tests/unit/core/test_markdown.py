"""Markdown tables stay tables, whatever their cells say."""

import pandas as pd
import pytest

from epic.core.markdown import as_text, markdown_table
from tests.markdown import cells


def test_text_stands_to_the_left_and_numbers_to_the_right():
    frame = pd.DataFrame({"method": ["BM25", "Zürich, 日本"], "ours": ["0.300", "12.3000a"]})
    assert markdown_table(frame, right=["ours"]).splitlines() == [
        "| method     |     ours |",
        "|:-----------|---------:|",
        "| BM25       |    0.300 |",
        "| Zürich, 日本 | 12.3000a |",
    ]


@pytest.mark.parametrize(
    "text", ["a | b", "|", "`x|y`", "two\nlines", "a\r\nb", "**bold**", "1e5", "0.300", "007", "nan", "NA", "None", "", "-1"]
)
def test_a_text_stays_in_its_cell(text):
    head, rule, line, last = cells(markdown_table(pd.DataFrame({"x": [text, "z"], text: ["y", "y"]})))
    said = " ".join(text.splitlines())
    assert head == ["x", said] and len(rule) == 2 and line == [said, "y"] and last == ["z", "y"]


def test_numbers_keep_their_digits():
    table = markdown_table(pd.DataFrame({"x": ["0.300", "1.0"], "id": ["007", "1e5"]}), right=["x"])
    assert cells(table)[2:] == [["0.300", "007"], ["1.0", "1e5"]]


def test_where_there_is_no_value_there_is_a_dash():
    table = markdown_table(pd.DataFrame({"a": [None, "x"], "b": [float("nan"), 1.5], "c": [None, None]}))
    assert cells(table)[2:] == [["-", "-", "-"], ["x", "1.5", "-"]]
    assert as_text(pd.Series([0.25, None]), "+.1f").tolist() == ["+0.2", "-"]
    assert as_text(pd.Series([3500, 0.365]), "g").tolist() == ["3500", "0.365"]
    assert as_text(pd.Series([None, None]), "g").tolist() == ["-", "-"]


def test_an_empty_table_has_a_header():
    head, rule = cells(markdown_table(pd.DataFrame({"a": [], "b | c": []}), right=["a"]))
    assert head == ["a", "b | c"] and set("".join(rule)) <= set("-:")


def test_a_frame_is_not_altered():
    frame = pd.DataFrame({"a|b": ["x|y", None]})
    markdown_table(frame)
    assert frame.columns.tolist() == ["a|b"] and frame["a|b"].tolist()[0] == "x|y"
