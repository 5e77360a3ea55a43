"""Runs that others made, of query id, passage id and rank or of TREC's six columns, taken over as they are."""

import gzip

import pytest

from epic.core.files import InputError
from epic.corpus.replay import replay
from epic.corpus.runs import read_answers, read_run


@pytest.fixture
def queries(tmp_path):
    (tmp_path / "queries.tsv").write_text("q\tone\nr\ttwo\ns\tnot answered\n")
    return tmp_path / "queries.tsv"


def taken(text, documents, queries, tmp_path, name="run.tsv", hits=2):
    with (gzip.open if name.endswith("gz") else open)(tmp_path / name, "wt") as stream:
        stream.write(text)
    replay(tmp_path / name, documents, queries, hits, "theirs", tmp_path / "out.run", tmp_path / "out.json")
    return {query_id: [hit.doc_id for hit in found] for query_id, found in read_run(tmp_path / "out.run").items()}


@pytest.mark.parametrize("name", ["run.tsv", "run.tsv.gz"])
def test_the_order_is_theirs_and_the_depth_is_ours(documents, queries, tmp_path, name):
    text = "r\t3\t1\nr\t0\t2\nr\t1\t3\nq\t2\t1\n"
    assert taken(text, documents, queries, tmp_path, name) == {"r": ["3", "0"], "q": ["2"]}


def test_gaps_in_the_ranks_close(documents, queries, tmp_path):
    assert taken("q\t2\t4\nq\t0\t9\n", documents, queries, tmp_path) == {"q": ["2", "0"]}


def test_queries_that_the_run_does_not_answer_are_written_down(documents, queries, tmp_path):
    taken("q\t2\t1\nq\t0\t2\n", documents, queries, tmp_path)
    assert read_answers(tmp_path / "out.json") == (1, 2, {"r", "s"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x\t0\t1\n", "query x is not in .*another query set"),
        ("q\t0\t1\nr\t0\t1\nq\t1\t2\n", "hits of query q stand in two places"),
        ("q\t0\t2\nq\t1\t1\n", "line 2: rank 1 follows rank 2"),
        ("q\t0\t1\nq\t1\t1\n", "line 2: rank 1 follows rank 1"),
        ("q\t0\t1\nq\t0\t2\n", "line 2: passage 0 stands twice"),
        ("q\t9\t1\n", "passage 9 is not in"),
        ("q\t0\n", "line 1: expected query id, passage id and rank"),
        ("q\t0\t1.5\n", "line 1: expected query id, passage id and rank"),
        ("q\t0\t١\n", "line 1: expected query id, passage id and rank"),
        (f"q\t0\t{10**9}\n", "line 1: expected query id, passage id and rank"),
        (f"q\t0\t{'1' * 5000}\n", "line 1: expected query id, passage id and rank"),
        ("q\t0\t0\n", "line 1: rank 0 follows rank 0"),
        ("", "the run is empty"),
    ],
)
def test_what_cannot_be_right_is_refused(documents, queries, tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        taken(text, documents, queries, tmp_path)
    assert not list(tmp_path.glob("out.*"))


def trec(*lines):
    """Lines of query, document, rank and score as PyTerrier writes them."""
    return "".join(f"{query} Q0 {doc} {rank} {score} pyterrier\n" for query, doc, rank, score in lines)


@pytest.mark.parametrize("name", ["run.trec", "run.trec.gz"])
@pytest.mark.parametrize("first", [0, 1])
def test_a_run_of_six_columns_keeps_its_order_and_its_scores(documents, queries, tmp_path, name, first):
    text = trec(("r", "3", first, 7.25), ("r", "0", first + 1, 7.25), ("r", "1", first + 5, -2), ("q", "2", first, 1e-9))
    assert taken(text, documents, queries, tmp_path, name) == {"r": ["3", "0"], "q": ["2"]}
    assert [hit.score for hit in read_run(tmp_path / "out.run")["r"]] == [7.25, 7.25]
    assert (tmp_path / "out.run").read_text().splitlines()[0] == "r Q0 3 1 7.25 theirs"
    assert read_answers(tmp_path / "out.json") == (2, 3, {"s"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (trec(("q", "0", 1, 2), ("q", "1", 2, 2.5)), "line 2: the score of rank 2 is higher than that of the rank before"),
        (trec(("q", "0", 1, 2), ("q", "1", 1, 1)), r"line 2: rank 1 follows rank 1; sort -s -k1,1n -k4,4n mends it"),
        (trec(("q", "0", 1, 2), ("r", "1", 1, 1), ("q", "1", 2, 1)), r"query q stand in two places; sort -s -k1,1n -k4,4n mends"),
        (trec(("q", "0", 1, 2), ("q", "0", 2, 1)), "line 2: passage 0 stands twice"),
        (trec(("q", "9", 1, 2)), "passage 9 is not in"),
        (trec(("x", "0", 1, 2)), "query x is not in .*another query set"),
        (trec(("q", "0", "first", 2)), "line 1: expected the six columns of a TREC run"),
        (trec(("q", "0", -1, 2)), "line 1: expected the six columns of a TREC run"),
        (trec(("q", "0", 1, "nan")), "line 1: not a line of a TREC run .the score is NaN"),
        (trec(("q", "0", 1, 2)) + "q\t1\t2\n", "line 2: not a line of a TREC run"),
        ("q\t1\t2\n" + trec(("q", "0", 1, 2)), "line 2: expected query id, passage id and rank"),
        ("q 0 0 1 2 tag\n", "line 1: not a line of a TREC run .the second field is not Q0"),
        ("q Q0 0 1 2\n", "line 1: expected query id, passage id and rank"),
    ],
)
def test_what_cannot_be_right_in_six_columns_is_refused(documents, queries, tmp_path, text, said):
    with pytest.raises(InputError, match=said):
        taken(text, documents, queries, tmp_path)
    assert not list(tmp_path.glob("out.*"))
