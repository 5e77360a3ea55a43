"""Passage vectors at query time: stages are timed, and the query vector really runs beside retrieval."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from epic.core.files import InputError
from epic.model.query_vector import QueryVector
from epic.vectors.at_query_time import Candidates, dense_loader, rerank_timing


def test_the_total_is_the_wall_clock_of_a_concurrent_run():
    def wait(seconds, result):
        time.sleep(seconds)
        return result

    with ThreadPoolExecutor(1) as pool:
        found = rerank_timing(
            search=lambda text: wait(0.05, ["1"]),
            encode=lambda text: wait(0.10, "vector"),
            load=lambda ids: wait(0.03, Candidates(ids, lambda query: np.zeros(len(ids)))),
            text="q",
            pool=pool,
        )
    assert found["query_vector"] >= 0.1e9 and found["retrieve"] >= 0.05e9 and found["load"] >= 0.03e9
    assert found["total"] < found["query_vector"] + found["retrieve"] + found["load"]  # otherwise nothing ran beside anything
    assert found["total"] >= max(found["query_vector"], found["retrieve"] + found["load"])


def test_dense_vectors_are_scored_at_the_query_terms(tmp_path):
    np.arange(12, dtype=np.float16).tofile(tmp_path / "v")
    load = dense_loader(tmp_path / "v", ["a", "b", "c"])
    query = QueryVector(np.array([1, 3], dtype=np.uint16), np.array([1.0, 10.0], dtype=np.float32))
    assert load(["c", "a"]).score(query).tolist() == [9 + 110, 1 + 30]
    assert load([]).score(query).tolist() == []
    with pytest.raises(InputError, match="document d is a hit now"):
        load(["a", "d"])
