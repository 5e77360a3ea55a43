"""Re-ranking: the head in its new order, the tail kept or dropped."""

from types import SimpleNamespace

from epic.corpus.runs import ScoredDoc
from epic.ranking.rerank import head, merge, rerank, scores_of


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


def test_the_head_is_cut_and_a_query_without_hits_stays():
    assert head({"q": hits("abc"), "none": []}, 2) == {"q": hits("ab"), "none": []} and head({"q": hits("a")}, 9) == {
        "q": hits("a")
    }


def test_a_row_with_a_store_is_scored_by_it_and_any_other_by_the_model():
    asked = []
    family = SimpleNamespace(
        score_stored=lambda *given: asked.append(("stored", *given)) or "by the store",
        score_run=lambda *given: asked.append(("model", *given)) or "by the model",
    )
    for files, found in (({"store": "results/store"}, "by the store"), ({"store": []}, "by the model"), ({}, "by the model")):
        assert scores_of(family, "run", files, {"threads": 1}, 64) == found
    stored, model, same = asked
    assert stored == ("stored", "run", {"store": "results/store"}, {"threads": 1})
    assert model == ("model", "run", {"store": []}, {"threads": 1}, 64) and same[2] == {}
