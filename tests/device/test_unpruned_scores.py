"""Unpruned scores on a card: those of the CPU, with as many launches for sixty passages as for twenty."""

from functools import partial

import pytest

from epic.corpus.runs import ScoredDoc
from epic.model.device import PRECISIONS
from epic.model.query_torch import query_vector
from epic.model.weigh import weigh
from epic.vectors.unpruned_scores import pair_scores, unpruned_scores
from tests.device.card import ON
from tests.device.test_encode import passages

QUERIES = {"q1": "price of pool", "q2": "x", "q3": ""}
RUN = {"q1": [ScoredDoc(str(place), 1.0) for place in range(7)], "q2": [ScoredDoc("1", 2.0), ScoredDoc("3", 1.0)], "q3": []}


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_a_card_gives_the_scores_of_the_cpu(model, documents, card, precision):
    model = model.float()
    queries = weigh(partial(query_vector, model), QUERIES)
    expected = unpruned_scores(model, documents, queries, RUN, token_budget=64)
    model.to(ON).precision = PRECISIONS[precision]
    found = unpruned_scores(model, documents, queries, RUN, token_budget=64)
    near = 1.4e-4 if precision == "float32" else 0.1
    for query_id, hits in expected.items():
        assert [hit.doc_id for hit in found[query_id]] == [hit.doc_id for hit in hits]
        assert [hit.score for hit in found[query_id]] == pytest.approx([hit.score for hit in hits], rel=near, abs=near)
    assert card.launches["segment_reduce"]


def test_query_vectors_are_those_of_the_cpu(model, card):
    model = model.float()
    expected = weigh(partial(query_vector, model), QUERIES)
    found = weigh(partial(query_vector, model.to(ON)), QUERIES)
    for query_id, vector in expected.items():
        assert (found[query_id].terms == vector.terms).all()
        assert found[query_id].weights == pytest.approx(vector.weights, rel=1e-5)


def test_launches_and_syncs_do_not_grow_with_the_passages(model, card):
    model, seen = model.float().to(ON), []
    queries = weigh(partial(query_vector, model), {"q1": "price of pool"})
    for count in (20, 60):
        pieces = dict(zip(map(str, range(count)), model.pieces(passages(count)), strict=True))
        card.forget()
        pair_scores(model, pieces, {name: ["q1"] for name in pieces}, queries, 4096)
        seen.append((sum(card.launches.values()), sum(card.syncs.values())))
    assert seen[0] == seen[1] and seen[0][1] <= 2, (card.launches, card.syncs)
