"""Latency: what is timed, what is left out, and that the query vector really runs beside retrieval."""

from contextlib import contextmanager

import numpy as np
import pytest

from epic.core.files import InputError
from epic.core.mapped import Mapped, evict
from epic.latency.latency import measure, timed_queries


class Recorder:
    """A system that remembers what it was asked, and how often it was opened."""

    def __init__(self, *on_disk):
        self.seen, self.opened_times, self.on_disk = [], 0, on_disk

    @contextmanager
    def opened(self):
        self.opened_times += 1
        yield lambda text: self.seen.append(text) or {"retrieve": 1, "total": 5}


def test_the_warm_up_is_run_but_not_reported_and_without_eviction_there_is_no_cold_pass():
    system = Recorder()
    found, skipped = measure(system, {"a": "A", "b": "B", "c": "C"}, warm_up=1)
    assert system.seen == ["A", "B", "C"] and list(found) == ["warm"] and list(found["warm"]) == ["b", "c"]
    assert "could not be dropped" in skipped and system.opened_times == 1


def test_the_cold_pass_repeats_the_queries_that_count_after_opening_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("epic.latency.latency.evict", lambda *paths: True)
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
