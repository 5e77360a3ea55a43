"""JSON Schema as experiments need it: what a plain validator lets pass."""

import math

import pytest

from epic.experiment.strict_schema import Validator, is_number, odd_texts, words_of


def errors(schema, value):
    return [words_of(error) for error in Validator(schema).iter_errors(value)]


def test_dollar_is_the_very_end_of_a_text():
    assert errors({"pattern": "^[a-z]+$"}, "ab") == []
    assert errors({"pattern": "^[a-z]+$"}, "ab\n") == ["'ab\\n' does not match '^[a-z]+$'"]
    assert errors({"pattern": "^[a-z]+"}, "ab\n") == [] and errors({"pattern": "^x$"}, 5) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, True), (1.5, True), (10**400, True), (True, False), (math.nan, False), (math.inf, False), ("1", False), (None, False)],
)
def test_a_number_is_finite_and_no_truth_value(value, expected):
    assert is_number(value) is expected and (not errors({"type": "number"}, value)) is expected


def test_a_whole_number_is_whole():
    assert errors({"type": "integer"}, 3) == [] and errors({"type": "integer"}, 3.0) and errors({"type": "integer"}, True)


def test_a_bound_or_a_pattern_says_why_and_nothing_else_does():
    schema = {"type": "integer", "maximum": 3, "because": "there are three"}
    assert errors(schema, 4) == ["4 is greater than the maximum of 3 (there are three)"]
    assert errors(schema, "x") == ["'x' is not of type 'integer'"]
    named = {"type": "string", "pattern": "^[a-z]$", "because": "names are short"}
    assert errors(named, "AB") == ["'AB' does not match '^[a-z]$' (names are short)"] and errors(named, 3) == [
        "3 is not of type 'string'"
    ]
    assert errors({"type": "number"}, math.nan) == ["nan is no finite number"]
    assert len(errors({"enum": ["a"]}, "x" * 100_000)[0]) <= 300


def test_odd_texts_are_found_with_their_place():
    said = {
        "a": ["fine", "not\tfine"],
        "note": "two\nlines ",
        "b\0": 1,
        "texts": {"queries": ["می\u200c", "a\x1b"]},
        "c": 5,
        "d": "",
    }
    assert [place for place, _ in odd_texts(said)] == [("a", 1), (), ("texts", "queries", 1), ("d",)]
