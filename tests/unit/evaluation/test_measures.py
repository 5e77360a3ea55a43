"""MRR@10 is the official one: by rank, over all judged queries; and the other measures against independent ones."""

import math
import random

import ir_measures
import pytest

from epic.core.files import InputError
from epic.evaluation.evaluate import measures
from epic.evaluation.measures import mean, mrr_at_10, values_of


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
    assert mrr_at_10(qrels, ranked) == pytest.approx(expected, rel=1e-12) and oracle(qrels, ranked) == expected


def random_case(draw, queries=5, graded=(0, 1, 1, 2)):
    qrels = {f"q{i}": {str(draw.randrange(30)): draw.choice(graded) for _ in range(draw.randint(1, 4))} for i in range(queries)}
    ranked = {query_id: draw.sample(docs(30), draw.randint(0, 25)) for query_id in qrels if draw.random() < 0.8}
    return qrels, ranked


@pytest.mark.parametrize("relevance", [1, 2])
def test_random_cases_agree_with_the_oracle(relevance):
    draw = random.Random(relevance)
    for _ in range(1000):
        qrels, ranked = random_case(draw)
        assert mrr_at_10(qrels, ranked, relevance) == pytest.approx(oracle(qrels, ranked, relevance), rel=1e-12)


def test_every_measure_agrees_with_ir_measures():
    draw, wanted = random.Random(7), measures(hits=20, relevance=2)
    assert [measure.name for measure in wanted] == ["RR@10", "nDCG@10", "RR(rel=2)@10", "AP(rel=2)", "R(rel=2)@20"]
    qrels, ranked = random_case(draw, queries=200, graded=(0, 1, 2, 3))
    found = values_of(qrels, iter(ranked.items()), wanted)
    judged = [ir_measures.Qrel(q, d, r) for q, by_doc in qrels.items() for d, r in by_doc.items()]
    hits = [ir_measures.ScoredDoc(q, d, -place) for q, doc_ids in ranked.items() for place, d in enumerate(doc_ids)]
    for place, measure in enumerate(wanted):
        expected = ir_measures.calc_aggregate([ir_measures.parse_measure(measure.name)], judged, hits)
        assert mean(values[place] for values in found.values()) == pytest.approx(next(iter(expected.values())), rel=1e-6), (
            measure.name
        )


def test_by_hand():
    """Two relevant passages at ranks 2 and 4 of four hits, a third one not found."""
    qrels = {"q": {"a": 1, "b": 1, "c": 1}}
    (found,) = values_of(qrels, [("q", ["x", "a", "y", "b"])], measures(4, 1)).values()
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    expected = [1 / 2, (1 / math.log2(3) + 1 / math.log2(5)) / ideal, (1 / 2 + 2 / 4) / 3, 2 / 3]
    assert found == pytest.approx(expected, rel=1e-6)


def test_more_queries_than_are_taken_at_a_time(monkeypatch):
    monkeypatch.setattr("epic.evaluation.measures.QUERIES_AT_A_TIME", 2)
    qrels = {f"q{i}": {"a": 1} for i in range(5)}
    ranked = {f"q{i}": ["b"] * i + ["a"] if i < 2 else ["a"] for i in range(5)}
    assert mrr_at_10(qrels, ranked) == (1 + 1 / 2 + 3) / 5


def test_a_document_that_stands_twice_is_refused():
    with pytest.raises(InputError, match="stands twice"):
        mrr_at_10({"q": {"1": 1}}, {"q": ["1", "2", "1"]})
