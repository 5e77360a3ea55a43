"""Scores of stored vectors: the dense product at the query's terms, for any candidates in any order."""

import numpy as np
import pytest

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.model.query_vector import QueryVector
from epic.vectors.pruned_scores import dense_dot, dot, pruned_scores, scores
from epic.vectors.stored_rows import Lookup
from tests.vectors import dense, write


def test_scores_equal_the_dense_product_for_any_order_of_candidates(tmp_path):
    vectors = dense(6, 30)
    store = write(tmp_path / "a", vectors, keep=30)
    query = QueryVector(np.array([0, 7, 29], dtype=np.uint16), np.array([0.5, 1.5, 2.0], dtype=np.float32))
    found = scores(Lookup(store), ["4", "0", "5"], query)
    assert found == pytest.approx(vectors[[4, 0, 5]][:, [0, 7, 29]].astype(np.float32) @ query.weights, rel=1e-6)


def test_a_pruned_term_counts_nothing(tmp_path):
    vectors = np.array([[0.5, 0.1, 0.4]], dtype=np.float16)
    store = Lookup(write(tmp_path / "a", vectors, keep=2))
    query = QueryVector(np.array([0, 1, 2], dtype=np.uint16), np.ones(3, dtype=np.float32))
    assert scores(store, ["0"], query)[0] == pytest.approx(float(np.float16(0.5)) + float(np.float16(0.4)))
    assert scores(store, ["0"], QueryVector(np.array([], dtype=np.uint16), np.array([], dtype=np.float32)))[0] == 0
    assert scores(store, [], query).shape == (0,)


def test_many_queries_in_parallel_score_as_each_does_alone(store):
    draw = np.random.default_rng(1)
    queries = {
        f"q{i}": QueryVector(np.sort(draw.choice(256, 5, False)).astype(np.uint16), draw.random(5, np.float32)) for i in range(30)
    }
    run = {name: [ScoredDoc(str(row), 0.0) for row in draw.choice(3000, 40, False)] for name in queries} | {"none": []}
    queries["none"] = QueryVector(np.array([3, 90, 200], dtype=np.uint16), np.array([0.5, 1.5, 2.0], dtype=np.float32))
    alone = pruned_scores(store, queries, run)
    assert pruned_scores(store, queries, run, threads=4) == alone
    assert list(alone) == list(run) and alone["none"] == []
    for name, hits in alone.items():
        assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in run[name]]


def test_sums_by_hand_over_stored_and_over_dense_vectors():
    terms, weights = (
        np.array([[1, 5, 9], [2, 5, 8]], dtype=np.uint16),
        np.array([[0.5, 2.0, -1.0], [4.0, 0.25, 1.0]], dtype=np.float16),
    )
    query = QueryVector(np.array([5, 8, 9], dtype=np.uint16), np.array([1.0, 10.0, 100.0], dtype=np.float32))
    rows = np.array([1, 0, 1])
    assert dot(terms, weights, rows, query).tolist() == [10.25, -98.0, 10.25]
    dense_rows = np.zeros((2, 10), dtype=np.float16)
    np.put_along_axis(dense_rows, terms.astype(int), weights, axis=1)
    assert dense_dot(dense_rows, rows, query).tolist() == [10.25, -98.0, 10.25]
    assert dot(terms, weights, rows, query).dtype == np.float32


def test_a_term_before_the_first_and_one_after_the_last_of_a_vector_count_nothing():
    terms, weights = np.array([[3, 4]], dtype=np.uint16), np.array([[1.0, 1.0]], dtype=np.float16)
    for asked, expected in (([0], 0.0), ([65_534], 0.0), ([0, 3, 65_534], 2.0), ([4, 5], 2.0)):
        query = QueryVector(np.array(asked, dtype=np.uint16), np.full(len(asked), 2.0, dtype=np.float32))
        assert dot(terms, weights, np.array([0]), query).tolist() == [expected]


def test_a_candidate_without_a_vector_is_refused_by_name(tmp_path):
    store = write(tmp_path / "a", dense(2, 5), keep=3)
    query = QueryVector(np.array([1], dtype=np.uint16), np.array([1.0], dtype=np.float32))
    with pytest.raises(InputError, match="no vector for document '7'"):
        pruned_scores(store, {"q": query}, {"q": [ScoredDoc("1", 0.0), ScoredDoc("7", 0.0)]}, threads=2)
