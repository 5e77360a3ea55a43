"""Triples that are read when they are asked for: the same as if all were in memory, from any place on."""

import tracemalloc

import pytest

from epic.core.files import InputError
from epic.corpus import triple_file
from epic.corpus.text_files import read_triples
from epic.corpus.triple_file import TripleFile

QUERIES = {"q0": "", "q1": "", "qé": ""}


@pytest.fixture
def path(tmp_path):
    lines = [f"{('q0', 'q1', 'qé')[number % 3]}\td{number}\t{'ü' * (number % 5)}x\n" for number in range(23)]
    (tmp_path / "t.tsv").write_text("".join(lines))
    return tmp_path / "t.tsv"


@pytest.mark.parametrize("between", [1, 4, 1000])
def test_any_part_is_the_same_as_of_a_list(path, between, monkeypatch):
    monkeypatch.setattr(triple_file, "LINES_BETWEEN", between)
    found, expected = TripleFile(path, QUERIES, "q.tsv"), read_triples(path)
    assert len(found) == len(expected) == 23
    for start in range(25):
        for stop in (0, start, start + 1, start + 9, 99):
            assert found.between(start, stop) == expected[start:stop]


def test_a_last_line_without_an_end_counts(path):
    path.write_text(path.read_text().removesuffix("\n"))
    assert TripleFile(path, QUERIES, "q.tsv").between(22, 23) == read_triples(path)[-1:]


def test_an_unknown_query_or_a_line_that_is_no_triple_is_refused_with_its_line(path):
    with pytest.raises(InputError, match=r"t\.tsv line 3: query qé is not in q\.tsv"):
        TripleFile(path, {"q0", "q1"}, "q.tsv")
    path.write_text(path.read_text() + "q0\td\n")
    with pytest.raises(InputError, match=r"t\.tsv line 24: expected query TAB"):
        TripleFile(path, QUERIES, "q.tsv")


def test_a_hundred_thousand_triples_take_less_memory_than_their_file(tmp_path):
    (tmp_path / "t.tsv").write_text("q0\t1234567\t7654321\n" * 100_000)
    tracemalloc.start()
    found = TripleFile(tmp_path / "t.tsv", QUERIES, "q.tsv")
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 100_000 and held < 100_000
