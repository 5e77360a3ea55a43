"""Published runs of query id, passage id and rank, taken over as they are."""

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
