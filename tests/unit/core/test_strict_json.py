"""JSON as it is read here: what Python's own reader would let pass is refused."""

import pytest

from epic.core.strict_json import parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, -2.5, 1e-400, true, null, "\\u00e9\\ud83d\\ude00"]}', {"a": [1, -2.5, 0.0, True, None, "é😀"]}),
        ('"\\\\ud800 and \\\\u0000"', "\\ud800 and \\u0000"),  # a backslash and letters
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
    ],
)
def test_values_are_those_of_json(text, value):
    assert parse_json(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[NaN]", "NaN is no number of JSON"),
        ('{"a": -Infinity}', "-Infinity is no number of JSON"),
        ("[1e999]", "the number 1e999 is too large"),
        ("[" + "9" * 100_000 + "]", "digits"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is given twice"),
        ('["\\ud800"]', "surrogates not allowed"),
        ('{"\\udc00": 1}', "surrogates not allowed"),
        ('[{"a": "x\\u0000"}]', "a text holds a zero byte"),
        ("[1] 2", "Extra data"),
        ("", "Expecting value"),
    ],
)
def test_what_json_does_not_know_or_no_file_can_hold_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_json(text)
