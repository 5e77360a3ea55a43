"""Weights of word-pieces become term frequencies: a table of cases worked out by hand."""

import pytest

from epic.first_stage.deepct_counts import Form, first_pieces, frequencies, rewritten, words_of

LINEAR, SQRT, ALL = Form(100, "linear", False), Form(100, "sqrt", False), Form(100, "linear", True)
CASES = [  # word-pieces, their weights, the form, how often each word stands in the text
    (["pool"], [0.5], LINEAR, {"pool": 50}),
    (["pool"], [1.237], LINEAR, {"pool": 124}),  # more than 1 is not cut
    (["a", "b", "c", "d"], [0.005, 0.015, 0.025, 0.035], LINEAR, {"b": 2, "c": 2, "d": 4}),  # half to even: 0.5, 1.5, 2.5, 3.5
    (["a", "b"], [0.0050049, 0.005006], LINEAR, {"b": 1}),  # five decimals first: 0.00500 and 0.00501
    (["a", "b"], [-0.3, 0.01], LINEAR, {"b": 1}),
    (["a", "b"], [-0.3, 0.01], ALL, {"a": 1, "b": 1}),
    (["a", "b", "c"], [0.004, 0.0, 0.2], ALL, {"a": 1, "b": 1, "c": 20}),
    (["a", "b"], [0.25, -1.0], SQRT, {"a": 50}),
    (["a"], [0.00003], SQRT, {"a": 1}),  # 100 * sqrt(0.00003) = 0.5477
    (["a"], [0.00002], SQRT, {}),  # 0.4472
    (["a", "b", "a", "a"], [0.1, 0.2, 0.3, 0.2], LINEAR, {"a": 30, "b": 20}),  # the highest, where the word first stands
    (["a", "a"], [-1.0, 0.3], ALL, {"a": 30}),
    (["pool", "##s", "cost", "##l", "##y"], [0.1, 0.9, 0.2, 0.9, 0.9], LINEAR, {"pools": 10, "costly": 20}),
    (["pool", "##s", "pool"], [0.1, 0.9, 0.2], LINEAR, {"pools": 10, "pool": 20}),
    (["caf", "##é", "東", "京"], [0.02, 0.5, 0.03, 0.04], LINEAR, {"café": 2, "東": 3, "京": 4}),
    (["[CLS]", "a", "[UNK]", "[SEP]", "[PAD]"], [1.0, 0.01, 0.02, 1.0, 1.0], LINEAR, {"a": 1, "[UNK]": 2}),  # as DeepCT has it
    (["a", "."], [0.0, 0.03], LINEAR, {".": 3}),
    ([], [], LINEAR, {}),
    (["a"], [0.2], Form(10, "linear", False), {"a": 2}),
]


@pytest.mark.parametrize(("pieces", "weights", "form", "expected"), CASES)
def test_weights_become_frequencies(pieces, weights, form, expected):
    found = frequencies(pieces, weights, form)
    assert found == expected and list(found) == list(expected)


def test_a_text_has_each_word_as_often_as_it_weighs():
    assert rewritten(["pool", "##s", "cost", "pool", "##s"], [0.02, 0, 0.01, 0.03, 0], LINEAR) == "pools pools pools cost"
    assert rewritten(["pool"], [0.004], LINEAR) == ""


def test_pieces_are_joined_to_as_many_words_as_there_are_first_pieces():
    pieces = ["a", "##b", "##c", "d", "e", "##f"]
    assert first_pieces(pieces) == [0, 3, 4] and words_of(pieces) == ["abc", "d", "ef"]
    assert first_pieces(["##s", "##s"]) == [0] and words_of(["##s", "##s"]) == ["##ss"] and words_of([]) == []
