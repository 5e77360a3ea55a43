"""Runs: the order of the file is the ranking."""

import pytest

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc, ranked, read_run, write_run


def test_order_is_score_descending_then_document_id_as_a_string():
    found = ranked([("10", 1.0), ("9", 1.0), ("2", 3.0), ("a", -1.0)])
    assert [hit.doc_id for hit in found] == ["2", "10", "9", "a"]


def test_a_run_survives_the_file_and_can_be_cut(tmp_path):
    run = {"q1": [ScoredDoc("a", 2.5), ScoredDoc("b", 2.5)], "q2": [ScoredDoc("c", -1e-9)]}
    write_run(tmp_path / "a.run", run, "tag")
    assert read_run(tmp_path / "a.run") == run
    assert read_run(tmp_path / "a.run", hits=1) == {"q1": run["q1"][:1], "q2": run["q2"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 a 1 1.0 t\nq Q0 b 3 0.5 t\n", "line 2: rank 3 of query q follows rank 1"),
        ("q Q0 a 1 1.0 t\nq Q0 a 2 0.5 t\n", "line 2: document a stands twice"),
        ("q Q0 a 1 nan t\n", "line 1: .*NaN"),
        ("q Q0 a 1 1.0\n", "line 1: not a line of a TREC run"),
        ("q Q0 a 1 1.0 t\nr Q0 b 1 1 t\nq Q0 c 1 1 t\n", "line 3: the hits of query q stand in two places"),
    ],
)
def test_what_breaks_the_ranking_is_refused(tmp_path, text, message):
    (tmp_path / "a.run").write_text(text)
    with pytest.raises(InputError, match=message):
        read_run(tmp_path / "a.run")
