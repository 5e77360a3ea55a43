"""Published lists of words: ids from 1 on, and idf."""

import pytest

from epic.core.files import InputError
from epic.corpus.word_lists import read_idf, read_ids, refuse_strangers


@pytest.fixture
def listed(tmp_path):
    """Write a list and return its path."""

    def written(content):
        (tmp_path / "list.tsv").write_text(content, encoding="utf-8")
        return tmp_path / "list.tsv"

    return written


def test_words_come_in_the_order_of_their_ids(listed):
    assert read_ids(listed("b\t2\na\t1\nc\t3\n")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a\t1\nb\t3\n", "line 2: the id 3, but none has the id 2; ids are 1, 2 and so on"),
        ("a\t0\nb\t1\n", "line 1: '0' is no id"),
        ("a\t1\nb\t1\n", "line 2: the id 1 came in line 1; give each word its own"),
        ("a\t1\na\t2\n", "line 2: the word 'a' came in line 1"),
        ("a\t1\nb\tx\n", "line 2: 'x' is no id"),
        ("a\t1\nb\t01\n", "line 2: '01' is no id"),
        ("a\t1\nb\t9999999999999999999\n", "is no id"),
        ("a\t1\nb 2\n", "line 2: expected word TAB id, the word without blanks; found 'b 2'"),
        ("a\t1\nb c\t2\n", "line 2: expected word TAB id"),
        ("a\t1\n\t2\n", "line 2: expected word TAB id"),
        ("a\t1\n\nb\t2\n", "line 2: expected word TAB id"),
        ("", "the file is empty; expected a line word TAB id"),
    ],
)
def test_a_vocabulary_with_gaps_repeats_or_damage_is_refused_with_its_line(listed, content, says):
    with pytest.raises(InputError, match=rf"list\.tsv.*{says}"):
        read_ids(listed(content))


def test_idf_is_read_as_it_stands(listed):
    assert read_idf(listed("a\t0.25\nb\t1e-3\nc\t0\na\t0.25\n")) == {"a": 0.25, "b": 0.001, "c": 0.0}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("a\t1\nb\t-1\n", "line 2: '-1' is no idf; expected a number of 0 or more"),
        ("a\tnan\n", "line 1: 'nan' is no idf"),
        ("a\tinf\n", "line 1: 'inf' is no idf"),
        ("a\t1e400\n", "line 1: '1e400' is no idf"),
        ("a\t1\na\t2\n", "line 2: the word 'a' has another idf, 1.0, before; give each word one"),
        ("a\n", "line 1: expected word TAB idf"),
        ("", "the file is empty"),
    ],
)
def test_an_idf_that_is_none_or_two_is_refused_with_its_line(listed, content, says):
    with pytest.raises(InputError, match=rf"list\.tsv.*{says}"):
        read_idf(listed(content))


def test_a_list_that_shares_no_word_with_the_vocabulary_is_refused():
    refuse_strangers("list.tsv", {"a": 0.5}, ["b", "a"])
    with pytest.raises(InputError, match=r"list\.tsv: no word of the vocabulary has an idf; it begins with 'a', the .* with 'b'"):
        refuse_strangers("list.tsv", {"a": 0.5}, ["b"])
