"""Rules between sizes: kept where all numbers are known, and refused where they are no rules."""

import pytest

from epic.experiment.fits import names_in, unmet

RULES = [
    {"at": "query", "holds": "query >= window", "says": "{query} has no window of {window}; raise it"},
    {"at": "passage", "holds": "passage >= window + 2 * pool - 1", "says": "raise it to { window + 2*pool - 1 }"},
    {"at": "encoder", "holds": "passage % 4 < encoder.rows", "says": "{encoder.rows} rows"},
]


def test_rules_that_hold_are_silent_and_others_say_what_is_wrong_and_where():
    assert list(unmet(RULES, {"query": 3, "window": 3, "pool": 2, "passage": 6}, {"rows": 3})) == []
    found = list(unmet(RULES, {"query": 2, "window": 3, "pool": 2, "passage": 5}, {"rows": 1}))
    assert found == [
        (("settings", "query"), "2 has no window of 3; raise it"),
        (("settings", "passage"), "raise it to 6"),
        (("encoder",), "1 rows"),
    ]


@pytest.mark.parametrize(
    ("settings", "encoder"),
    [
        ({"query": 1}, {}),
        ({"query": 1, "window": None}, {}),
        ({"query": 1, "window": "3"}, {}),
        ({"query": 1, "window": 3.5}, {}),
        ({"query": 1, "window": True}, {}),
        ({"passage": 3}, {"rows": "many"}),
        ({"passage": 3, "rows": 0}, {}),  # the encoder's rows are no setting
    ],
)
def test_a_rule_counts_once_all_its_numbers_are_known(settings, encoder):
    assert list(unmet(RULES, settings, encoder)) == []


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        ("a < b", True),
        ("a <= b", True),
        ("a > b", False),
        ("a >= b", False),
        ("a == b", False),
        ("b - a == 3", True),
        ("b % a == 1", True),
    ],
)
def test_comparisons_and_operations_are_those_of_whole_numbers(holds, expected):
    rule = {"at": "a", "holds": holds, "says": "no"}
    assert (list(unmet([rule], {"a": 2, "b": 5}, {})) == []) == expected and names_in(rule) == {"a", "b"}


@pytest.mark.parametrize(
    ("holds", "says"),
    [
        ("a", "no"),
        ("a < b < c", "no"),
        ("a != b", "no"),
        ("a < f(b)", "no"),
        ("a < b[0]", "no"),
        ("a < 'b'", "no"),
        ("a < 1.5", "no"),
        ("a < b ** c", "no"),
        ("a < True", "no"),
        ("a < model.size", "no"),
        ("a < encoder.b.c", "no"),
        ("a < __import__('os').name", "no"),
        ("a <", "no"),
        ("a < b", "{f(a)}"),
        ("a < b", "{}"),
    ],
)
def test_what_is_no_comparison_of_sums_is_no_rule(holds, says):
    with pytest.raises((ValueError, SyntaxError)):
        names_in({"at": "a", "holds": holds, "says": says})
