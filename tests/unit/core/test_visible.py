"""Characters that nobody sees are written out."""

import unicodedata

import pytest

from epic.core.visible import one_line, visible
from tests.hostile import TEXTS, unseen


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\u202eb", r"a\u202eb"),
        ("\x1b[31m\x07\x00", r"\u001b[31m\u0007\u0000"),
        ("\u2066x\u2069", r"\u2066x\u2069"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("Zürich 日本 עברית 👨\u200d👩", "Zürich 日本 עברית 👨\u200d👩"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("", ""),
    ],
)
def test_a_character_is_written_out_if_nobody_sees_it(text, said):
    assert visible(text) == said and visible(said) == said


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_unseen_is_left(text):
    assert not unseen(visible(text)) and not unseen(one_line(text)) and "\n" not in one_line(text)


def test_every_direction_and_control_of_unicode_is_known():
    bidirectional = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI", "B"}
    for number in range(0x110000):
        character = chr(number)
        if unicodedata.bidirectional(character) in bidirectional or unicodedata.category(character) in ("Cc", "Cs"):
            assert visible(character) != character or character in "\n\t", hex(number)


def test_blanks_of_any_kind_become_one():
    assert one_line("  a \r\n\tb\u2028\u3000c\x85 ") == "a b c"
