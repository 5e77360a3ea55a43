"""Runs: the order of the file is the ranking, and nothing is missing at its end."""

import json

import pytest

from epic.core.files import InputError
from epic.corpus.runs import (
    ScoredDoc,
    ranked,
    ranked_lists,
    read_answers,
    read_run,
    read_whole_run,
    refuse_lost_queries,
    write_answers,
    write_run,
)

RUN = "q Q0 a 1 1.5 t\nq Q0 b 2 1.5 t\nr Q0 a 1 -3 t\n"


def written(tmp_path, text):
    (tmp_path / "a.run").write_bytes(text.encode())
    return tmp_path / "a.run"


def test_order_is_score_descending_then_document_id_as_a_string():
    found = ranked([("10", 1.0), ("9", 1.0), ("2", 3.0), ("a", -1.0)])
    assert [hit.doc_id for hit in found] == ["2", "10", "9", "a"]


def test_a_run_survives_the_file_and_can_be_cut(tmp_path):
    run = {"q1": [ScoredDoc("a", 2.5), ScoredDoc("b", 2.5)], "q2": [ScoredDoc("c", -1e-9)]}
    write_run(tmp_path / "a.run", run, "tag")
    assert read_run(tmp_path / "a.run") == run
    assert read_run(tmp_path / "a.run", hits=1) == {"q1": run["q1"][:1], "q2": run["q2"]}


def test_an_empty_run_is_a_run(tmp_path):
    assert read_run(written(tmp_path, "")) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q Q0 a 1 1.0 t\nq Q0 b 3 0.5 t\n", "line 2: rank 3 of query q follows rank 1"),
        ("q Q0 a 01 1.0 t\n", "line 1: rank 01 of query q follows rank 0"),
        ("q Q0 a ١ 1.0 t\n", "line 1: rank ١ of query q follows rank 0"),
        (f"q Q0 a {'1' * 5000} 1.0 t\n", "line 1: rank 11111111111111111111 of query q follows rank 0"),
        ("q Q0 a 1 1.0 t\nq Q0 a 2 0.5 t\n", "line 2: document a stands twice"),
        ("q Q0 a 1 nan t\n", "line 1: .*NaN"),
        ("q Q0 a 1 inf t\n", "line 1: .*infinite"),
        ("q Q0 a 1 -Infinity t\n", "line 1: .*infinite"),
        ("q Q0 a 1 1e999 t\n", "line 1: .*infinite"),
        ("q Q0 a 1 1_0 t\n", "line 1: .*the score is no number"),
        ("q Q0 a 1 ١ t\n", "line 1: .*the score is no number"),
        ("q Q0 a 1 high t\n", "line 1: not a line of a TREC run"),
        (
            "q Q0 a 1 1.0 t\nq Q0 b 2 1.000001 t\n",
            "line 2: score 1.000001 of rank 2 of query q is higher than that of the rank before",
        ),
        ("q Q0 a 1 1.0\n", "line 1: not a line of a TREC run"),
        ("q Q1 a 1 1.0 t\n", "line 1: .*the second field is not Q0"),
        ("q Q0 a\x00 1 1.0 t\n", "line 1: a zero byte"),
        ("q Q0 a 1 1.0 t\n\n", "line 2: not a line of a TREC run"),
        ("q Q0 a 1 1.0 t\nr Q0 b 1 1 t\nq Q0 c 1 1 t\n", "line 3: the hits of query q stand in two places"),
        ("q Q0 a 1 1.0 tag\nq Q0 b 2 0.5 ta\n", "line 2: the line ends with 'ta', not with tag"),
        (RUN[:-1], "the last line is cut off; the run is not whole"),
        (RUN[:-3], "the last line is cut off"),
    ],
)
def test_what_breaks_the_ranking_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_run(written(tmp_path, text))


def test_the_tag_may_be_asked_for(tmp_path):
    assert len(list(ranked_lists(written(tmp_path, RUN), "t"))) == 2
    with pytest.raises(InputError, match="line 1: the line ends with 't', not with other"):
        list(ranked_lists(tmp_path / "a.run", "other"))


def test_a_run_is_whole_if_it_has_the_queries_and_lines_that_were_written(tmp_path):
    write_answers(tmp_path / "a.json", ["r", "none", "q"], {"q": 2, "r": 1})
    assert json.loads((tmp_path / "a.json").read_text()) == {"answered": 2, "hits": 3, "without_hits": ["none"]}
    assert list(read_whole_run(written(tmp_path, RUN), tmp_path / "a.json")) == ["q", "r"]
    assert len(read_whole_run(tmp_path / "a.run", tmp_path / "a.json", hits=1)["q"]) == 1


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("q Q0 a 1 1.5 t\nq Q0 b 2 1.5 t\n", "2 hits of 1 queries"),  # cut where a query ends
        ("q Q0 a 1 1.5 t\nr Q0 a 1 -3 t\n", "2 hits of 2 queries"),
        ("", "0 hits of 0 queries"),
        (RUN.replace("r", "none"), "3 hits of 2 queries"),
    ],
)
def test_a_run_that_lacks_a_query_or_a_line_is_refused(tmp_path, text, has):
    write_answers(tmp_path / "a.json", ["r", "none", "q"], {"q": 2, "r": 1})
    with pytest.raises(InputError, match=rf"a\.run has {has}, .*a\.json says 3 of 2; the run is not whole: make it again"):
        read_whole_run(written(tmp_path, text), tmp_path / "a.json")


def test_every_query_has_hits_or_is_known_to_have_none(tmp_path):
    write_answers(tmp_path / "a.json", ["q", "r", "none"], {"q": 2, "r": 1})
    refuse_lost_queries("a.run", tmp_path / "a.json", ["q", "r", "none"], {"q", "r"})
    with pytest.raises(InputError, match=r"a\.run: query r has no hits \(1 such\), .*a\.json says otherwise"):
        refuse_lost_queries("a.run", tmp_path / "a.json", ["q", "r", "none"], {"q"})
    with pytest.raises(InputError, match=r"a\.run: query none has hits \(1 such\)"):
        refuse_lost_queries("a.run", tmp_path / "a.json", ["q", "r", "none"], {"q", "r", "none"})


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        "null",
        '{"answered": 1, "hits": 1}',
        '{"answered": 1.0, "hits": 1, "without_hits": []}',
        '{"answered": true, "hits": 1, "without_hits": []}',
        '{"answered": 1, "hits": 1, "without_hits": "q"}',
        '{"answered": 1, "hits": 1, "without_hits": [7]}',
        '{"answered": 1, "hits": 1, "without_hits": [["q"]]}',
    ],
)
def test_a_damaged_record_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=r"a\.json: not the record of a run .*make it again"):
        read_answers(tmp_path / "a.json")
