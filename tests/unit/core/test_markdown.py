"""Markdown tables stay tables, whatever their cells say."""

import pandas as pd
import pytest

from epic.core.markdown import as_text, code, markdown_table, plain
from epic.core.visible import one_line
from tests.hostile import TEXTS
from tests.markdown import Page, cells


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


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_read_as_it_stands_in_a_paragraph_a_heading_and_a_cell(text):
    seen = one_line(text)
    for page, tags in ((plain(text), ["p"]), (f"# {plain(text)}", ["h1"]), (f"*{plain(text)}*", ["p", "em"])):
        found = Page(page)
        assert found.text.strip() == seen and found.tags == tags
    found = Page(markdown_table(pd.DataFrame({"x": [text, "z"], text: ["y", "y"]})))
    assert [cell.strip() for cell in found.cells] == ["x", seen, seen, "y", "z", "y"]
    assert set(found.tags) == {"table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.parametrize("text", [*TEXTS, "plain", "a\\|b", "``", "x` y"])
def test_code_is_read_as_it_stands(text):
    assert Page(code(text)).text.strip() == one_line(text)
    found = Page(markdown_table(pd.DataFrame({"a": [code(text), "z"], "b": ["y", "y"]}), marked=["a"]))
    assert [cell.strip() for cell in found.cells] == ["a", "b", one_line(text), "y", "z", "y"]
    assert set(found.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


def test_an_ordinary_text_is_not_cluttered_with_escapes():
    for text in (
        "BM25 + EPIC, r=1000",
        "p < 0.01 & more",
        "nDCG_cut_10",
        "-0.0123",
        "+1.5",
        "0.300",
        "a-b",
        "95 % (±0.1)",
        "x > y",
        "R@1000",
    ):
        assert plain(text) == text
    assert code("path:my#test") == "`path:my#test`"
