"""Runs: taken exactly as Anserini orders them, and held against the queries. tests/parity/test_bm25.py searches real indexes."""

import pytest

from epic.core.files import InputError
from epic.first_stage.retrieve import retrieve

RUN = "q2 Q0 b 1 3.5 Anserini\nq2 Q0 a 2 3.5 Anserini\nq1 Q0 c 1 9.1 Anserini\n"


@pytest.fixture
def answer(tmp_path, monkeypatch):
    """Stand in for Anserini: it writes a run, or nothing; returns what it was asked."""
    (tmp_path / "q.tsv").write_text("q1\tcafé\nq2\ttwo\nq3\tnot found\n", encoding="utf-8")

    def given(run):
        asked = []

        def anserini(main, *arguments, memory_mb, work=0):
            asked.append((main, memory_mb, arguments))
            if run is not None:
                arguments[arguments.index("-output") + 1].write_text(run)
            return "done"

        monkeypatch.setattr("epic.first_stage.retrieve.anserini", anserini)
        retrieve("the index", tmp_path / "q.tsv", 0.82, 0.68, 1000, 4, 512, tmp_path / "out.run")
        return asked

    return given


def test_the_run_is_taken_byte_for_byte_with_its_ties_and_without_queries_that_found_nothing(answer, tmp_path):
    answer(RUN)
    assert (tmp_path / "out.run").read_text() == RUN


def test_the_parameters_reach_anserini(answer, tmp_path):
    ((main, memory, given),) = answer(RUN)
    options = {name: given[given.index(name) + 1] for name in ("-index", "-topics", "-bm25.k1", "-bm25.b", "-hits", "-threads")}
    assert (main, memory) == ("search.SearchCollection", 512) and "-bm25" in given
    assert list(options.values()) == ["the index", tmp_path / "q.tsv", 0.82, 0.68, 1000, 4]


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (None, RuntimeError, r"reported success but wrote no run for .*q\.tsv"),
        (RUN + "q9 Q0 a 1 1.0 Anserini\n", InputError, r"out\.run: the run answers query q9, which is not in .*q\.tsv"),
        ("q1 Q0 c 2 9.1 Anserini\n", InputError, "rank 2 of query q1 follows rank 0"),
        ("q1 Q0 c 1 9.1\n", InputError, "not a line of a TREC run"),
    ],
)
def test_a_run_that_cannot_be_right_leaves_none(answer, tmp_path, run, error, message):
    with pytest.raises(error, match=message):
        answer(run)
    assert [path.name for path in tmp_path.iterdir()] == ["q.tsv"]


def test_no_hits_at_all_are_an_empty_run(answer, tmp_path):
    answer("")
    assert (tmp_path / "out.run").read_bytes() == b""
