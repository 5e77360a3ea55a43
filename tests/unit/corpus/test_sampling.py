"""Triples drawn from judgments and hits: seeded, balanced, of relevant passages that are retrieved or only judged."""

import random
from collections import Counter

import pytest

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.corpus.sampling import pools_of, sample
from epic.corpus.text_files import Triple
from tests.training import QRELS, RUN


def test_sampled_triples_are_seeded_balanced_and_never_have_a_relevant_negative():
    triples = sample(QRELS, RUN, 10, seed=3)
    assert triples == sample(QRELS, RUN, 10, seed=3) != sample(QRELS, RUN, 10, seed=4)
    assert len(triples) == 10
    for triple in triples:
        assert QRELS[triple.query_id].get(triple.relevant_id) == 1
        assert triple.other_id not in QRELS[triple.query_id]
    assert {triple.query_id for triple in triples[:2]} == {"q1", "q2"}  # each query once before any comes again


def test_a_query_without_hits_is_left_out_and_nothing_to_draw_is_an_error():
    assert {triple.query_id for triple in sample(QRELS, {"q1": RUN["q1"]}, 4, seed=1)} == {"q1"}
    with pytest.raises(InputError, match="no query has both"):
        sample(QRELS, {"q1": RUN["q1"][:1]}, 4, seed=1)


def hits(*doc_ids):
    return [ScoredDoc(doc_id, 1.0) for doc_id in doc_ids]


def as_before(qrels, run, count, seed):
    """The first `count` triples as this package drew them when it held all judgments and hits in memory."""
    draw, pools, found = random.Random(seed), {}, []
    for query_id, judged in qrels.items():
        relevant = sorted(doc_id for doc_id, grade in judged.items() if grade > 0)
        others = [hit.doc_id for hit in run.get(query_id, []) if judged.get(hit.doc_id, 0) <= 0]
        if relevant and others:
            pools[query_id] = relevant, others
    while len(found) < count:
        order = list(pools)
        draw.shuffle(order)
        for query_id in order:
            relevant, others = pools[query_id]
            found.append(Triple(query_id, draw.choice(relevant), draw.choice(others)))
    return found[:count]


def made_up(seed):
    """Judgments of all grades, and hits that have some of the judged passages, in another order of queries."""
    draw = random.Random(seed)
    qrels = {
        f"q{i}/%20é": {f"d{draw.randrange(30)}": draw.choice([-2, -1, 0, 1, 1, 2, 3]) for _ in range(draw.randrange(1, 9))}
        for i in range(40)
    }
    run = {
        query_id: hits(*draw.sample([f"d{i}" for i in range(30)], draw.randrange(1, 15)))
        for query_id in draw.sample(list(qrels), 35)
    }
    return qrels, run


@pytest.mark.parametrize("seed", range(5))
def test_judged_passages_are_drawn_as_they_always_were(seed):
    qrels, run = made_up(seed)
    assert sample(qrels, run, 300, seed) == as_before(qrels, run, 300, seed)


@pytest.mark.parametrize("seed", range(5))
def test_retrieved_passages_are_relevant_hits_and_the_others_hits_of_a_lower_grade(seed):
    qrels, run = made_up(seed)
    triples = sample(qrels, run, 500, seed, depth=10, positives="retrieved")
    assert triples == sample(qrels, run, 500, seed, depth=10, positives="retrieved")
    for query_id, relevant_id, other_id in triples:
        first = [hit.doc_id for hit in run[query_id][:10]]
        assert {relevant_id, other_id} <= set(first)
        assert qrels[query_id][relevant_id] > max(0, qrels[query_id].get(other_id, 0)) or qrels[query_id][other_id] <= 0
    possible = {
        (query_id, relevant.doc_id, other.doc_id)
        for query_id, found in run.items()
        for relevant in found[:10]
        for other in found[:10]
        if qrels[query_id].get(relevant.doc_id, 0) > 0 and qrels[query_id].get(other.doc_id, 0) < qrels[query_id][relevant.doc_id]
    }
    assert set(triples) <= possible
    assert len({query_id for query_id, *_ in triples}) == len({query_id for query_id, *_ in possible})


def test_an_unjudged_hit_is_of_grade_0_and_a_relevant_one_of_a_lower_grade_may_stand_beside_a_better_one():
    qrels, run = {"q": {"a": 3, "b": 1, "c": -1}}, {"q": hits("b", "a", "c", "x", "y")}
    drawn = Counter((relevant, other) for _, relevant, other in sample(qrels, run, 4000, 1, positives="retrieved"))
    assert drawn.keys() == {("a", "b"), ("a", "c"), ("a", "x"), ("a", "y"), ("b", "c"), ("b", "x"), ("b", "y")}
    assert all(400 < drawn["a", other] < 600 for other in "bcxy") and all(550 < drawn["b", other] < 780 for other in "cxy")
    assert {other for _, _, other in sample(qrels, run, 100, 1)} == {"c", "x", "y"}


def test_a_relevant_passage_beyond_the_depth_is_no_positive_if_it_must_be_retrieved():
    qrels, run = {"q": {"a": 1}, "r": {"b": 1}}, {"q": hits("x", "y", "a"), "r": hits("b", "z")}
    assert {triple.query_id for triple in sample(qrels, run, 9, 1, depth=2, positives="retrieved")} == {"r"}
    assert {triple.query_id for triple in sample(qrels, run, 9, 1, depth=2)} == {"q", "r"}
    with pytest.raises(InputError, match="no query has both"):
        sample({"q": {"a": 1}}, run, 9, 1, depth=2, positives="retrieved")


def test_each_query_comes_once_before_any_comes_again_with_one_passage_of_either_kind():
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(50)}
    run = {query_id: hits("x", "a", "b", "y") for query_id in reversed(qrels)}
    triples = sample(qrels, run, 150, 7, positives="retrieved")
    for start in (0, 50, 100):
        assert len({triple.query_id for triple in triples[start : start + 50]}) == 50
    assert [triple.query_id for triple in triples[:50]] != [triple.query_id for triple in triples[50:100]]


def test_what_is_left_out_is_counted_in_one_line(caplog):
    qrels, run = {f"q{i}": {"a": 1} for i in range(9)}, {"q3": hits("a", "x"), "q4": hits("a"), "unjudged": hits("a", "x")}
    assert list(pools_of(qrels, run.items(), 10, "retrieved")) == ["q3"]
    assert [record.getMessage() for record in caplog.records] == [
        "8 of 9 judged queries lack a relevant passage to draw, or another one among the first 10 hits; left out, first q0"
    ]
