"""Latency: what is timed, what is left out, and that the query vector really runs beside retrieval."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from epic.files import InputError
from epic.latency import Candidates, Timing, dense_loader, measure, rerank_timing, summary, timed_queries, write_latency
from epic.vectors import QueryVector


def test_the_warm_up_is_run_but_not_reported():
    seen = []

    def time_one(text):
        seen.append(text)
        return Timing(1, 2, 3, 4, 5)

    found = measure({"a": "A", "b": "B", "c": "C"}, time_one, warm_up=1)
    assert seen == ["A", "B", "C"] and list(found) == ["b", "c"]


def test_the_first_queries_are_timed_and_too_few_are_an_error(tmp_path):
    (tmp_path / "q.tsv").write_text("a\tA\nb\tB\nc\tC\n")
    assert timed_queries(tmp_path / "q.tsv", 1, 1) == {"a": "A", "b": "B"}
    with pytest.raises(InputError, match=r"needs 2 \+ 2 queries, .*q\.tsv has 3"):
        timed_queries(tmp_path / "q.tsv", 2, 2)


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
    assert found.query_vector >= 0.1e9 and found.retrieve >= 0.05e9 and found.load >= 0.03e9
    assert found.total < found.query_vector + found.retrieve + found.load  # otherwise nothing ran beside anything
    assert found.total >= max(found.query_vector, found.retrieve + found.load)


def test_dense_vectors_are_scored_at_the_query_terms(tmp_path):
    np.arange(12, dtype=np.float16).tofile(tmp_path / "v")
    load = dense_loader(tmp_path / "v", ["a", "b", "c"])
    query = QueryVector(np.array([1, 3], dtype=np.uint16), np.array([1.0, 10.0], dtype=np.float32))
    assert load(["c", "a"]).score(query).tolist() == [9 + 110, 1 + 30]
    assert load([]).score(query).tolist() == []
    with pytest.raises(InputError, match="document d is a hit now"):
        load(["a", "d"])


def test_the_summary_is_in_milliseconds_and_every_query_is_kept(tmp_path):
    timings = {"a": Timing(1_000_000, 0, 0, 0, 1_000_000), "b": Timing(3_000_000, 0, 0, 0, 3_000_000)}
    assert summary(timings)["total"]["mean"] == 2.0 and summary(timings)["total"]["p50"] == 2.0
    write_latency(timings, {"hits": 100}, 2, tmp_path / "l.json", tmp_path / "l.tsv")
    assert (tmp_path / "l.tsv").read_text().splitlines()[2].split("\t")[0::5] == ["b", "3000000"]
    assert json.loads((tmp_path / "l.json").read_text())["machine"]["torch_threads"] == 2
