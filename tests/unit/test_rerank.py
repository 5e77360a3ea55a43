"""Cut-offs, tails and tests of significance."""

import json
import math

import pytest

from epic.files import InputError
from epic.rerank import head, merge, rerank
from epic.runs import ScoredDoc
from epic.significance import compare, paired_t_test
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
    assert json.loads((tmp_path / "c.json").read_text()) == {"cutoff": 2, "validation": 0.4, "curve": [0.1, 0.4, 0.4]}


def test_the_t_test_by_hand():
    # differences 1, 0, 2: mean 1, standard deviation 1, t = 1 / (1 / sqrt 3); two degrees of freedom
    t, p = paired_t_test([1, 1, 3], [0, 1, 1])
    assert t == pytest.approx(math.sqrt(3))
    assert p == pytest.approx(1 - math.sqrt(3) / math.sqrt(3 + 2))


def test_identical_systems_give_no_nan_and_a_constant_difference_is_certain():
    assert paired_t_test([0.5, 0.0], [0.5, 0.0]) == (0.0, 1.0)
    assert paired_t_test([1.0, 0.5], [0.5, 0.0]) == (math.inf, 0.0)
    with pytest.raises(InputError):
        paired_t_test([1.0], [0.5])


def values(path, numbers):
    path.write_text("query_id\tRR@10\tnDCG@10\n" + "".join(f"q{i}\t{value}\t0.0\n" for i, value in enumerate(numbers)))
    return path


def test_a_comparison_is_written(tmp_path):
    compare(
        values(tmp_path / "a", [1.0, 0.5, 0.5, 1.0]),
        values(tmp_path / "b", [0.5, 0.0, 0.0, 0.5]),
        "RR@10",
        0.01,
        tmp_path / "t.json",
    )
    found = json.loads((tmp_path / "t.json").read_text())
    assert found["difference"] == 0.5 and found["significant"] and found["t"] is None and found["queries"] == 4


def test_systems_over_other_queries_are_not_compared(tmp_path):
    with pytest.raises(InputError, match="do not hold the same queries"):
        compare(values(tmp_path / "a", [1.0, 0.5]), values(tmp_path / "b", [0.5]), "RR@10", 0.01, tmp_path / "t.json")
