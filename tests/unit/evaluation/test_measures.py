"""MRR@10 is the official one: by rank, over all judged queries; and every measure against an independent one."""

import math
import random

import ir_measures
import pytest

from epic.core.files import InputError
from epic.evaluation.measures import Measure, mean, mean_of, values_of
from epic.experiment.measure_names import from_grade
from tests.measures import measure


def oracle(qrels, ranked, relevance=1):
    """Rank-based MRR@10, written down independently."""
    total = 0.0
    for query_id, judged in qrels.items():
        for rank, doc_id in enumerate(ranked.get(query_id, [])[:10], start=1):
            if judged.get(doc_id, 0) >= relevance:
                total += 1 / rank
                break
    return total / len(qrels)


def docs(count):
    return [str(number) for number in range(count)]


# What the official script gives is noted where ours is another number, and why that is right.
@pytest.mark.parametrize(
    ("qrels", "ranked", "expected"),
    [
        ({"q": {"10": 1}}, {"q": docs(20)}, 0.0),  # relevant at rank 11
        ({"q": {"9": 1}}, {"q": docs(20)}, 0.1),  # at rank 10
        ({"q": {"1": 1}}, {"q": [str(i) for i in range(1, 21)]}, 1.0),  # 20 tied scores, listed first
        ({"q": {"9": 1}}, {"q": [str(i) for i in range(1, 21)]}, 1 / 9),  # 20 tied scores, listed ninth
        ({"q": {"1": 1}, "r": {"5": 1}}, {"q": ["1"]}, 0.5),  # a judged query that was not answered counts
        ({"q": {"1": 1}, "r": {"5": 1}}, {"q": ["1"], "r": []}, 0.5),  # and one with an empty list
        ({"q": {"1": 1}}, {"q": ["1"], "unjudged": ["1"]}, 1.0),  # an unjudged query does not
        ({"q": {"1": 1}}, {"other": ["1"]}, 0.0),  # nothing in common (official: IOError)
        ({"q": {"2": 1, "5": 1}}, {"q": ["9", "2", "8", "7", "5"]}, 0.5),  # the first of two
        ({"q": {"1": 0, "2": 1, "3": 2}}, {"q": ["1", "2", "3"]}, 0.5),  # grade 0 is not relevant (official: 1.0)
        ({"q": {"1": 1}, "r": {"2": 0}}, {"q": ["1"], "r": ["2"]}, 0.5),  # nothing relevant at all (official: 1.0)
        ({"q": {"1": 1}}, {}, 0.0),  # nothing was answered
        ({"q": {"0": 1}}, {"q": ["7", "8", "9"]}, 0.0),  # no false credit for id 0 in a short list (official: 0.25)
    ],
)
def test_known_cases(qrels, ranked, expected):
    assert mean_of(qrels, ranked, measure("RR@10")) == pytest.approx(expected, rel=1e-12) and oracle(qrels, ranked) == expected


def random_case(draw, queries=5, graded=(0, 1, 1, 2)):
    qrels = {f"q{i}": {str(draw.randrange(30)): draw.choice(graded) for _ in range(draw.randint(1, 4))} for i in range(queries)}
    ranked = {query_id: draw.sample(docs(30), draw.randint(0, 25)) for query_id in qrels if draw.random() < 0.8}
    return qrels, ranked


@pytest.mark.parametrize("relevance", [1, 2])
def test_random_cases_agree_with_the_oracle(relevance):
    draw = random.Random(relevance)
    for _ in range(1000):
        qrels, ranked = random_case(draw)
        assert mean_of(qrels, ranked, measure(from_grade("RR@10", relevance))) == pytest.approx(
            oracle(qrels, ranked, relevance), rel=1e-12
        )


NAMES = ["RR", "RR@10", "RR@3", "AP", "Rprec", "P@5", "P@20", "nDCG", "nDCG@10", "R@5", "R@20"]


@pytest.mark.parametrize("grade", [1, 2, 3])
def test_every_measure_agrees_with_ir_measures(grade):
    """Query by query in the mean: lists end before the cut-off or go beyond it, some are absent, some have nothing relevant."""
    draw, wanted = random.Random(7), [measure(from_grade(name, grade)) for name in NAMES]
    qrels, ranked = random_case(draw, queries=200, graded=(0, 1, 2, 3))
    found = values_of(qrels, iter(ranked.items()), wanted)
    judged = [ir_measures.Qrel(q, d, r) for q, by_doc in qrels.items() for d, r in by_doc.items()]
    hits = [ir_measures.ScoredDoc(q, d, -place) for q, doc_ids in ranked.items() for place, d in enumerate(doc_ids)]
    for place, one in enumerate(wanted):
        parsed = ir_measures.parse_measure(one.name)
        for theirs in ir_measures.iter_calc([parsed], judged, hits):
            assert found[theirs.query_id][place] == pytest.approx(theirs.value, rel=1e-6), (one.name, theirs.query_id)
        expected = ir_measures.calc_aggregate([parsed], judged, hits)[parsed]
        assert mean(values[place] for values in found.values()) == pytest.approx(expected, rel=1e-6), one.name
        assert 0 < expected < 1


def test_by_hand():
    """Two relevant passages at ranks 2 and 4 of four hits, a third one not found."""
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    expected = {
        "RR@10": 1 / 2,
        "nDCG@10": (1 / math.log2(3) + 1 / math.log2(5)) / ideal,
        "AP": (1 / 2 + 2 / 4) / 3,
        "R@4": 2 / 3,
        "Rprec": 1 / 3,  # one of the first three
        "P@1": 0.0,
        "P@5": 2 / 5,  # of five, though there are four
        "R@2": 1 / 3,
        "RR@1": 0.0,
        "RR": 1 / 2,
    }
    (found,) = values_of(qrels, [("q", ["x", "a", "y", "b"])], [measure(name) for name in expected]).values()
    assert dict(zip(expected, found, strict=True)) == pytest.approx(expected, rel=1e-6)


def test_a_reciprocal_rank_without_a_cut_looks_at_the_whole_run_and_r_precision_at_as_many_hits_as_are_relevant():
    """CAR's: the first relevant one at rank 500 of 1,000; of two relevant ones one is second."""
    deep = {"q": {"499": 1}, "unanswered": {"1": 1}}
    assert mean_of(deep, {"q": docs(1000)}, measure("RR")) == pytest.approx(1 / 500 / 2, rel=1e-12)
    assert mean_of(deep, {"q": docs(1000)}, measure("RR@10")) == 0.0 == mean_of(deep, {"q": docs(1000)}, measure("RR@499"))
    assert mean_of({"q": {"1": 1, "7": 1}}, {"q": docs(1000)}, measure("Rprec")) == 0.5
    assert mean_of({"q": {"1": 1, "7": 2, "8": 2}}, {"q": docs(1000)}, measure("Rprec(rel=2)")) == 0.0  # of two, not of three
    assert mean_of({"q": {"2": 1, "7": 1}}, {"q": docs(1000)}, measure("Rprec")) == 0.0


def test_ranks_count_however_long_a_list_is():
    """Scores made of ranks are float32 in pytrec_eval: neighbours must stay apart."""
    many = docs(100_000)
    assert mean_of({"q": {"99999": 1}}, {"q": many}, measure("RR")) == pytest.approx(1e-5, rel=1e-9)
    assert mean_of({"q": {"0": 1, "99999": 1}}, {"q": many}, measure("AP")) == pytest.approx((1 + 2 / 100_000) / 2, rel=1e-6)


def test_the_usual_measures_are_those_that_results_were_made_with():
    assert [measure(name) for name in ("RR@10", "RR(rel=2)@10", "nDCG@10", "AP", "R(rel=2)@1000")] == [
        Measure("RR@10", "recip_rank", 1, 10),
        Measure("RR(rel=2)@10", "recip_rank", 2, 10),
        Measure("nDCG@10", "ndcg_cut_10", 1, 10),
        Measure("AP", "map", 1, None),
        Measure("R(rel=2)@1000", "recall_1000", 2, 1000),
    ]


def test_more_queries_than_are_taken_at_a_time(monkeypatch):
    monkeypatch.setattr("epic.evaluation.measures.QUERIES_AT_A_TIME", 2)
    qrels = {f"q{i}": {"a": 1} for i in range(5)}
    ranked = {f"q{i}": ["b"] * i + ["a"] if i < 2 else ["a"] for i in range(5)}
    assert mean_of(qrels, ranked, measure("RR@10")) == (1 + 1 / 2 + 3) / 5


def test_a_document_that_stands_twice_is_refused():
    with pytest.raises(InputError, match="stands twice"):
        mean_of({"q": {"1": 1}}, {"q": ["1", "2", "1"]}, measure("RR@10"))
