"""Unpruned scores equal those of a complete store, from a few texts at a time."""

from functools import partial

import numpy as np
import pytest

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.model.query_torch import query_vector
from epic.model.query_vector import QueryVector
from epic.model.weigh import weigh
from epic.vectors.pruned_scores import pruned_scores
from epic.vectors.store import Store
from epic.vectors.unpruned_scores import dot, unpruned_scores
from tests.vectors import encoded


def test_unpruned_scores_equal_those_of_a_complete_store(model, documents, tmp_path):
    model = model.float()
    store = Store(encoded(model, documents, tmp_path, 1)[0])
    queries = weigh(partial(query_vector, model), {"q": "cost of pool pool", "r": "x", "none": ""})
    run = {query_id: [ScoredDoc(str(doc), 0.0) for doc in (3, 0, 6, 1, 4)] for query_id in queries}
    stored, computed = pruned_scores(store, queries, run), unpruned_scores(model, documents, queries, run, token_budget=64)
    for query_id in queries:
        assert [hit.doc_id for hit in computed[query_id]] == ["3", "0", "6", "1", "4"]
        left, right = ([hit.score for hit in scored[query_id]] for scored in (stored, computed))
        assert left == pytest.approx(right, rel=1e-3, abs=1e-6)
    assert {hit.score for hit in computed["none"]} == {0.0}


def test_unpruned_scores_hold_the_texts_of_a_few_passages_at_a_time(model, documents, monkeypatch):
    model, asked = model.float(), []
    queries = weigh(partial(query_vector, model), {"q": "cost of pool pool", "r": "x"})
    run = {"q": [ScoredDoc(str(doc), 0.0) for doc in (3, 0, 6)], "r": [ScoredDoc(str(doc), 0.0) for doc in (6, 1, 4)]}
    whole = unpruned_scores(model, documents, queries, run, token_budget=64)
    texts = documents.texts
    monkeypatch.setattr(documents, "texts", lambda doc_ids: asked.append(list(doc_ids)) or texts(doc_ids))
    monkeypatch.setattr("epic.vectors.unpruned_scores.AT_A_TIME", 2)
    sliced = unpruned_scores(model, documents, queries, run, token_budget=64)
    assert asked == [["3", "0"], ["6", "1"], ["4"]]
    for query_id in run:
        assert [hit.doc_id for hit in sliced[query_id]] == [hit.doc_id for hit in run[query_id]]
        assert [hit.score for hit in sliced[query_id]] == pytest.approx([hit.score for hit in whole[query_id]], rel=1e-3)


def test_the_sum_of_weights_by_hand():
    query = QueryVector(np.array([1, 7], dtype=np.uint16), np.array([0.5, 2.0], dtype=np.float32))
    assert dot(query, np.array([3.0, -1.0], dtype=np.float16)) == -0.5
    assert dot(QueryVector(*2 * [np.array([], dtype=np.float32)]), np.array([], dtype=np.float16)) == 0.0
    with pytest.raises(ValueError, match="zip"):  # a weight for each term, or none at all
        dot(query, np.array([3.0], dtype=np.float16))


def test_no_candidates_are_no_scores(paper_model, documents):
    assert unpruned_scores(paper_model.float(), documents, {}, {"q": []}, token_budget=64) == {"q": []}
    assert unpruned_scores(paper_model.float(), documents, {}, {}, token_budget=64) == {}


def test_a_candidate_that_is_not_in_the_collection_is_named(paper_model, documents):
    model = paper_model.float()
    with pytest.raises(InputError, match="has no document 99"):
        unpruned_scores(
            model, documents, weigh(partial(query_vector, model), {"q": "x"}), {"q": [ScoredDoc("99", 0.0)]}, token_budget=64
        )
