"""MRR@10 is the official one: by rank, over all judged queries."""

import random

import pytest

from epic.evaluate import evaluate, mrr_at_10, per_query, read_values
from epic.files import InputError


def oracle(qrels, ranked):
    """Rank-based MRR@10, written down independently."""
    total = 0.0
    for query_id, judged in qrels.items():
        for rank, doc_id in enumerate(ranked.get(query_id, [])[:10], start=1):
            if judged.get(doc_id, 0) > 0:
                total += 1 / rank
                break
    return total / len(qrels)


def docs(count):
    return [str(number) for number in range(count)]


@pytest.mark.parametrize(
    ("qrels", "ranked", "expected"),
    [
        ({"q": {"10": 1}}, {"q": docs(20)}, 0.0),  # relevant at rank 11
        ({"q": {"9": 1}}, {"q": docs(20)}, 0.1),  # at rank 10
        ({"q": {"0": 1}}, {"q": docs(20)}, 1.0),  # a tie by score is no tie by rank
        ({"q": {"1": 1}, "r": {"5": 1}}, {"q": ["1"]}, 0.5),  # a judged query that was not answered counts
        ({"q": {"1": 1}, "r": {"5": 1}}, {"q": ["1"], "r": []}, 0.5),
        ({"q": {"1": 1}}, {"q": ["1"], "unjudged": ["1"]}, 1.0),  # an unjudged query does not
        ({"q": {"2": 1, "5": 1}}, {"q": ["9", "2", "8", "7", "5"]}, 0.5),  # the first of two
        ({"q": {"1": 0, "2": 1, "3": 2}}, {"q": ["1", "2", "3"]}, 0.5),  # relevance 0 is not relevant
        ({"q": {"1": 1}}, {}, 0.0),  # nothing was answered
        ({"q": {"0": 1}}, {"q": ["7", "8", "9"]}, 0.0),  # the official script's false credit for id 0 is not copied
    ],
)
def test_known_cases(qrels, ranked, expected):
    assert mrr_at_10(qrels, ranked) == expected == oracle(qrels, ranked)


def test_random_cases_agree_with_the_oracle():
    draw = random.Random(5)
    for _ in range(300):
        qrels = {
            f"q{i}": {str(draw.randrange(30)): draw.choice([0, 1, 1, 2]) for _ in range(draw.randint(1, 4))} for i in range(5)
        }
        ranked = {query_id: draw.sample(docs(30), draw.randint(0, 25)) for query_id in qrels if draw.random() < 0.8}
        assert mrr_at_10(qrels, ranked) == pytest.approx(oracle(qrels, ranked), rel=1e-12)


def test_a_document_that_stands_twice_is_refused():
    with pytest.raises(InputError, match="stands twice"):
        per_query({"q": {"1": 1}}, {"q": ["1", "2", "1"]})


def test_ndcg_by_hand():
    import math

    found = per_query({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]})["q"]["nDCG@10"]
    assert found == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)), rel=1e-6)


def test_values_survive_the_file(tmp_path):
    (tmp_path / "a.run").write_text("q Q0 7 1 2.5 tag\nq Q0 8 2 2.5 tag\n")
    (tmp_path / "qrels").write_text("q 0 8 1\nmissing 0 1 1\n")
    evaluate(tmp_path / "a.run", tmp_path / "qrels", 1, tmp_path / "values.tsv")
    assert read_values(tmp_path / "values.tsv")["RR@10"] == {"q": 0.5, "missing": 0.0}


def test_a_truncated_table_is_refused(tmp_path):
    (tmp_path / "values.tsv").write_text("query_id\tRR@10\tnDCG@10\nq\t0.5\n")
    with pytest.raises(InputError, match=r"values\.tsv"):
        read_values(tmp_path / "values.tsv")


def test_graded_judgments_count_from_the_given_grade():
    graded = {"q": {"a": 1, "b": 2, "c": 0}}
    assert per_query(graded, {"q": ["c", "a", "b"]}, relevance=1)["q"]["RR@10"] == pytest.approx(1 / 2)
    assert per_query(graded, {"q": ["c", "a", "b"]}, relevance=2)["q"]["RR@10"] == pytest.approx(1 / 3)
