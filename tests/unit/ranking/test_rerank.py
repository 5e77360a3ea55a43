"""Cut-offs, tails and tests of significance."""

import json

from epic.rerank import head, merge, rerank
from epic.runs import ScoredDoc
from epic.tune import best_cutoff, curve, write_cutoff


def hits(text, score=1.0):
    return [ScoredDoc(doc_id, score) for doc_id in text]


def test_the_tail_follows_in_first_stage_order_below_every_re_ranked_hit():
    found = merge([ScoredDoc("a", 0.5), ScoredDoc("b", 2.0)], hits("cd", 99.0), "keep")
    assert found == [ScoredDoc("b", 2.0), ScoredDoc("a", 0.5), ScoredDoc("c", -0.5), ScoredDoc("d", -1.5)]


def test_the_tail_can_be_dropped_and_equal_scores_go_by_id():
    assert [hit.doc_id for hit in merge(hits("ba"), hits("c"), "drop")] == ["a", "b"]
    assert merge([], [], "keep") == []


def test_rerank_keeps_every_query_and_every_hit():
    first = {"q": hits("abcd"), "r": hits("x")}
    scored = {
        query_id: [ScoredDoc(hit.doc_id, float(ord(hit.doc_id))) for hit in found] for query_id, found in head(first, 2).items()
    }
    assert {query_id: "".join(hit.doc_id for hit in found) for query_id, found in rerank(first, scored, "keep").items()} == {
        "q": "bacd", "r": "x",
    }  # fmt: skip


def test_the_curve_by_hand_and_the_smallest_best_cutoff():
    # c is relevant: third in the first stage, best by EPIC
    first, qrels = {"q": hits("abcd")}, {"q": {"c": 1}}
    scored = {"q": [ScoredDoc("a", 1.0), ScoredDoc("b", 2.0), ScoredDoc("c", 3.0), ScoredDoc("d", 0.0)]}
    values = curve(qrels, first, scored, 6)
    assert values == [1 / 3, 1 / 3, 1.0, 1.0, 1.0, 1.0]
    assert best_cutoff(values) == 3


def test_the_curve_is_written_with_the_choice(tmp_path):
    write_cutoff([0.1, 0.4, 0.4], tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text()) == {"cutoff": 2, "curve": [0.1, 0.4, 0.4]}
