"""Latency: what is timed, what is left out, and that the query vector really runs beside retrieval."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from epic.files import InputError
from epic.latency import measure, timed_queries
from epic.mapped import Mapped, evict
from epic.timed import Candidates, dense_loader, rerank_timing
from epic.timings import Timing, overhead, read_totals, summary, write_latency
from epic.vectors import QueryVector


class Recorder:
    """A system that remembers what it was asked, and how often it was opened."""

    def __init__(self, *on_disk):
        self.seen, self.opened_times, self.on_disk = [], 0, on_disk

    @contextmanager
    def opened(self):
        self.opened_times += 1
        yield lambda text: self.seen.append(text) or Timing(1, 2, 3, 4, 5)


def test_the_warm_up_is_run_but_not_reported_and_without_eviction_there_is_no_cold_pass():
    system = Recorder()
    found, skipped = measure(system, {"a": "A", "b": "B", "c": "C"}, warm_up=1)
    assert system.seen == ["A", "B", "C"] and list(found) == ["warm"] and list(found["warm"]) == ["b", "c"]
    assert "could not be dropped" in skipped and system.opened_times == 1


def test_the_cold_pass_repeats_the_queries_that_count_after_opening_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("epic.latency.evict", lambda *paths: True)
    system = Recorder(tmp_path)
    found, skipped = measure(system, {"a": "A", "b": "B"}, warm_up=1)
    assert system.seen == ["A", "B", "B"] and system.opened_times == 2 and skipped is None
    assert list(found["cold"]) == list(found["warm"]) == ["b"]


def test_eviction_says_whether_it_worked(tmp_path):
    assert not evict() and not evict(tmp_path)  # nothing to drop
    path = tmp_path / "inner" / "v"
    path.parent.mkdir()
    np.ones(1 << 20, dtype=np.float16).tofile(path)
    if not evict(tmp_path):
        pytest.skip("this file system keeps its files in memory")
    assert np.fromfile(path, dtype=np.float16).min() == 1
    mapped = Mapped(path, np.float16, (1 << 10, 1 << 10))
    assert mapped.array.min() == 1 and not evict(path)  # what is mapped stays


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


def total(milliseconds):
    return Timing(0, 0, 0, 0, int(milliseconds * 1e6))


def test_the_summary_is_in_milliseconds_and_every_query_is_kept(tmp_path):
    timings = {"warm": {"a": total(1), "b": total(3)}, "cold": {"a": total(10), "b": total(30)}}
    assert summary(timings["warm"])["total"] == {"mean": 2.0, "interval": [1.0, 3.0], "p50": 2.0, "p95": 2.9, "p99": 2.98}
    write_latency(timings, None, {"hits": 100}, 2, tmp_path / "l.json", tmp_path / "l.tsv")
    lines = (tmp_path / "l.tsv").read_text().splitlines()
    assert lines[2].split("\t")[0::6] == ["b", "3000000"] and len(lines) == 5
    found = json.loads((tmp_path / "l.json").read_text())
    assert found["machine"]["threads"] == 2 and found["cold"]["total"]["mean"] == 20.0 and found["ms"]["total"]["mean"] == 2.0
    assert read_totals(tmp_path / "l.tsv") == {"a": 1_000_000, "b": 3_000_000}  # without the cold ones


def test_the_overhead_is_paired_by_query(tmp_path):
    for name, values in (("system", {"a": 6, "b": 14}), ("first", {"b": 9, "a": 1}), ("other", {"a": 1})):
        timings = {"warm": {query_id: total(value) for query_id, value in values.items()}}
        write_latency(timings, "not here", {}, 1, tmp_path / f"{name}.json", tmp_path / f"{name}.tsv")
    found = overhead(tmp_path / "system.tsv", tmp_path / "first.tsv")
    assert found["ms"]["mean"] == 5.0 and found["ms"]["interval"] == [5.0, 5.0] and found["speed_up"]["mean"] == 0.5
    assert found["speed_up"]["interval"] == pytest.approx([1 / 6, 9 / 14])  # one query alone, or the other
    with pytest.raises(InputError, match="not timed on the same queries"):
        overhead(tmp_path / "system.tsv", tmp_path / "other.tsv")
    (tmp_path / "broken.tsv").write_text("query_id\tpass\ttotal_ns\na\twarm\n")
    with pytest.raises(InputError, match=r"broken\.tsv: not a table of timings"):
        read_totals(tmp_path / "broken.tsv")
