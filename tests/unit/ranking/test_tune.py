"""The cut-off: the curve by hand, and the smallest of the best."""

import json

import pytest

from epic.corpus.runs import ScoredDoc
from epic.ranking.tune import best_cutoff, curve, write_cutoff
from tests.measures import measure


def hits(text):
    return [ScoredDoc(doc_id, 1.0) for doc_id in text]


def test_a_cutoff_that_is_too_small_is_not_chosen_and_a_fixed_one_is():
    values = [0.4, 0.1, 0.3, 0.3, 0.2]
    assert [best_cutoff(values, least) for least in (1, 2, 3, 4, 5)] == [1, 3, 3, 4, 5]


def test_the_curve_by_hand_and_the_smallest_best_cutoff():
    # c is relevant: third in the first stage, best by EPIC
    first, qrels = {"q": hits("abcd")}, {"q": {"c": 1}}
    scored = {"q": [ScoredDoc("a", 1.0), ScoredDoc("b", 2.0), ScoredDoc("c", 3.0), ScoredDoc("d", 0.0)]}
    values = curve(qrels, first, scored, 6, measure("RR@10"))
    assert values == [1 / 3, 1 / 3, 1.0, 1.0, 1.0, 1.0]
    assert best_cutoff(values) == 3


def test_the_curve_is_written_with_the_choice(tmp_path):
    write_cutoff([0.1, 0.4, 0.4], measure("RR@10"), tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text()) == {"cutoff": 2, "curve": [0.1, 0.4, 0.4]}


def test_the_curve_counts_from_the_query_set_s_grade_on_and_over_all_judged_queries():
    first, qrels = {"q": hits("ab"), "r": hits("x")}, {"q": {"a": 1, "b": 2}, "r": {"x": 1}}
    scored = {"q": [ScoredDoc("a", 1.0), ScoredDoc("b", 2.0)], "r": [ScoredDoc("x", 0.0)]}
    assert curve(qrels, first, scored, 2, measure("RR@10")) == [1.0, 1.0]
    assert curve(qrels, first, scored, 2, measure("RR(rel=2)@10")) == [
        pytest.approx(0.25),
        pytest.approx(0.5),
    ]  # r has nothing of grade 2


def test_a_cut_off_beyond_the_hits_changes_nothing_and_a_flat_curve_has_the_smallest():
    first, scored = {"q": hits("ab"), "none": []}, {"q": [ScoredDoc("a", 1.0), ScoredDoc("b", 2.0)], "none": []}
    values = curve({"q": {"b": 1}}, first, scored, 5, measure("RR@10"))
    assert values == [0.5, 1.0, 1.0, 1.0, 1.0] and best_cutoff(values) == 2
    assert best_cutoff([0.0, 0.0, 0.0]) == 1 and best_cutoff([0.3]) == 1


def test_another_measure_chooses_another_cut_off(tmp_path, caplog):
    """Two are relevant, c and d: with two hits re-ranked one of them is first, with four both stand before the others."""
    first, qrels = {"q": hits("acbd")}, {"q": {"c": 1, "d": 1}}
    scored = {"q": [ScoredDoc("a", 1.0), ScoredDoc("c", 4.0), ScoredDoc("b", 2.0), ScoredDoc("d", 3.0)]}
    found = {name: curve(qrels, first, scored, 4, measure(name)) for name in ("RR@10", "RR", "Rprec", "P@3", "AP")}
    assert found["RR@10"] == found["RR"] == [0.5, 1.0, 1.0, 1.0]
    assert found["Rprec"] == [0.5, 0.5, 0.5, 1.0]
    assert found["P@3"] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 2 / 3])
    assert found["AP"] == pytest.approx([(1 / 2 + 2 / 4) / 2, (1 + 2 / 4) / 2, (1 + 2 / 4) / 2, 1.0])
    assert [best_cutoff(values) for values in found.values()] == [2, 2, 4, 4, 4]
    with caplog.at_level("INFO"):
        write_cutoff(found["Rprec"], measure("Rprec"), tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text()) == {"cutoff": 4, "curve": found["Rprec"]}
    assert "cut-off 4, R-prec 1.0000" in caplog.text
