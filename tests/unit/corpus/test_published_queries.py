"""Queries as they are published: each id once, and none that no line of a run could hold."""

from typing import NamedTuple

import pytest

from epic.core.files import InputError
from epic.corpus.published_queries import query_texts


class Query(NamedTuple):
    """A query of a dataset."""

    query_id: str
    text: str

    def default_text(self):
        return self.text


def test_texts_are_as_they_are_published_and_the_first_of_an_id_counts(caplog):
    queries = [Query("a/b%20c", " one\ttwo "), Query("é", ""), Query("a/b%20c", "other"), Query("é", "x"), Query("é", "y")]
    assert query_texts(queries, "a set") == {"a/b%20c": " one\ttwo ", "é": ""}
    assert [record.getMessage() for record in caplog.records] == [
        "a set: 3 query ids come again, the first being a/b%20c; each counts once"
    ]


def test_nothing_is_said_where_each_id_comes_once(caplog):
    assert list(query_texts(iter([Query("b", "x"), Query("a", "y")]), "a set")) == ["b", "a"]
    assert caplog.records == []


@pytest.mark.parametrize("query_id", ["", "a b", "a\tb", "a\nb", "a\u3000b", "x" * 4001])
def test_an_id_that_cannot_be_one_is_refused(query_id):
    with pytest.raises(
        InputError, match="a set: '.* cannot be the id of a query: it is empty, has blanks or control characters, or"
    ):
        query_texts([Query("fine", "x"), Query(query_id, "x")], "a set")


def test_no_queries_are_refused():
    with pytest.raises(InputError, match="a set has no queries: .*; choose another set"):
        query_texts([], "a set")
