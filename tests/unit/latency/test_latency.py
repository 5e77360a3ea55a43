"""Latency: what is timed, what is left out, and that the query vector really runs beside retrieval."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from epic.core.files import InputError
from epic.core.mapped import Mapped, evict
from epic.latency.latency import Asked, Bench, System, about, asked_of, java_version, timed_queries
from epic.latency.latency import measure as measure_asked


class Recorder:
    """A system that remembers what it was asked, and how often it was opened; several may write into one list."""

    def __init__(self, *on_disk, name="", seen=None):
        self.name, self.seen, self.opened_times, self.on_disk = name, [] if seen is None else seen, 0, on_disk

    @contextmanager
    def opened(self):
        self.opened_times += 1
        yield lambda text: self.seen.append(self.name + text) or {"retrieve": 1, "total": 5}


def measure(systems, queries, warm_up):
    """Measure rows that all answer all queries."""
    counted = dict(list(queries.items())[warm_up:])
    return measure_asked(systems, queries, {row: Asked(queries, counted) for row in systems})


def test_the_warm_up_is_run_but_not_reported_and_without_eviction_there_is_no_cold_pass():
    system = Recorder()
    ((found, skipped),) = measure({"row": system}, {"a": "A", "b": "B", "c": "C"}, warm_up=1).values()
    assert system.seen == ["A", "B", "C"] and list(found) == ["warm"] and list(found["warm"]) == ["b", "c"]
    assert "could not be dropped" in skipped and system.opened_times == 1


def test_the_cold_pass_repeats_the_queries_that_count_after_opening_anew(tmp_path, monkeypatch):
    monkeypatch.setattr("epic.latency.latency.evict", lambda *paths: True)
    system = Recorder(tmp_path)
    ((found, skipped),) = measure({"row": system}, {"a": "A", "b": "B"}, warm_up=1).values()
    assert system.seen == ["A", "B", "B"] and system.opened_times == 2 and skipped is None
    assert list(found["cold"]) == list(found["warm"]) == ["b"]


def test_rows_take_turns_query_by_query_each_beginning_once_and_are_cold_one_after_the_other(tmp_path, monkeypatch):
    dropped, seen = [], []
    monkeypatch.setattr("epic.latency.latency.evict", lambda *paths: dropped.append((paths, len(seen))) or True)
    systems = {name: Recorder(tmp_path / name, name=name, seen=seen) for name in "xyz"}
    found = measure(systems, {"a": "A", "b": "B", "c": "C"}, warm_up=1)
    assert seen[:9] == ["xA", "yA", "zA", "yB", "zB", "xB", "zC", "xC", "yC"]
    assert seen[9:] == ["xB", "xC", "yB", "yC", "zB", "zC"]  # what one row reads is in no other's memory
    assert dropped == [
        (tuple(tmp_path / name for name in "xyz"), 0), ((tmp_path / "x",), 9), ((tmp_path / "y",), 11), ((tmp_path / "z",), 13)
    ]  # fmt: skip
    assert list(found) == ["x", "y", "z"] and all(list(passes["warm"]) == ["b", "c"] for passes, _ in found.values())


def test_a_row_that_cannot_be_dropped_from_memory_has_no_cold_pass_and_the_others_have_theirs(tmp_path, monkeypatch):
    monkeypatch.setattr("epic.latency.latency.evict", lambda *paths: tmp_path / "kept" not in paths)
    monkeypatch.setattr("epic.latency.latency.SECONDS_BETWEEN", 0)
    found = measure({name: Recorder(tmp_path / name) for name in ("kept", "dropped")}, {"a": "A"}, warm_up=0)
    assert list(found["kept"][0]) == ["warm"] and "could not be dropped" in found["kept"][1]
    assert list(found["dropped"][0]) == ["warm", "cold"] and found["dropped"][1] is None


def test_a_slow_row_takes_its_turns_only_at_its_own_queries_which_the_others_answer_too(tmp_path, monkeypatch):
    monkeypatch.setattr("epic.latency.latency.evict", lambda *paths: True)
    queries, shared, seen = {name: name.upper() for name in "abcdefg"}, {"warm_up": 3, "measured": 4}, []
    systems = {name: Recorder(tmp_path / name, name=name, seen=seen) for name in "xyz"}
    asked = {name: asked_of(queries, shared, shared) for name in "xz"}
    asked["y"] = asked_of(queries, shared, {"warm_up": 1, "measured": 2})
    assert list(asked["y"].all) == ["c", "d", "e"] and list(asked["y"].counted) == ["d", "e"]
    found = measure_asked(systems, queries, asked)
    assert seen[:4] == ["xA", "zA", "zB", "xB"] and seen[4:13] == ["zC", "xC", "yC", "xD", "yD", "zD", "yE", "zE", "xE"]
    assert [name for name in seen if name.startswith("y")] == ["yC", "yD", "yE", "yD", "yE"]  # and cold
    assert {row: list(passes["warm"]) for row, (passes, _) in found.items()} == {
        "x": list("defg"),
        "y": ["d", "e"],
        "z": list("defg"),
    }
    assert list(found["y"][0]["cold"]) == ["d", "e"]


def test_queries_that_no_row_answers_are_left_out():
    system, queries, shared = Recorder(), {name: name.upper() for name in "abcd"}, {"warm_up": 2, "measured": 2}
    asked = {"row": asked_of(queries, shared, {"warm_up": 0, "measured": 1})}
    ((found, _),) = measure_asked({"row": system}, queries, asked).values()
    assert system.seen == ["C"] and list(found["warm"]) == ["c"]


def test_what_is_written_of_a_row_says_if_it_was_timed_on_fewer_queries():
    shared = {"query_set": "q", "hits": 100, "warm_up": 3, "measured": 4}
    systems = {"row": SimpleNamespace(stages="its stages", reranked=None), "other": SimpleNamespace(stages="", reranked=1000)}
    own = {"hits": 1000, "queries": {"warm_up": 1, "measured": 2}}
    slow = about("row", systems, shared, own)
    assert slow["instead_of"] == 4 and slow["settings"] == {"query_set": "q", "hits": 1000, "warm_up": 1, "measured": 2}
    usual = about("row", systems, shared, {"hits": 100, "queries": {"warm_up": 3, "measured": 4}})
    assert usual == {"settings": shared, "together": ["row", "other"], "stages": "its stages"}
    assert about("other", systems, shared, own)["reranked"] == 1000
    assert list(usual["settings"]) == list(shared)


def test_a_row_without_a_cut_off_re_ranks_all_hits(tmp_path, monkeypatch):
    ranker = SimpleNamespace(STAGES="its stages", timed=lambda search, *others: search)
    monkeypatch.setattr("epic.latency.latency.family", lambda name: ranker)
    (tmp_path / "c.json").write_text('{"cutoff": 2}')
    settings = {"first_stage": {}, "hits": 3, "compute": {}}
    for cutoff, hits in (([], 3), (tmp_path / "c.json", 2)):
        files = SimpleNamespace(lucene="l", cutoff=cutoff)
        system = System(files, {}, {"kind": "run-file", "family": "f"}, settings, Bench(tmp_path))
        system.searcher = SimpleNamespace(search=lambda text, k: [SimpleNamespace(docid=str(place)) for place in range(k)])
        assert system.search("q") == [str(place) for place in range(hits)] and system.stages == "its stages"
        assert system.reranked == hits


def test_rows_share_what_is_made_once(tmp_path):
    bench, made = Bench(tmp_path), []
    assert bench.once("model", lambda: made.append(1) or "loaded") == bench.once("model", lambda: made.append(2)) == "loaded"
    assert bench.once("other", lambda: made.append(3)) is None and made == [1, 3] and bench.scratch == tmp_path


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


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ('JAVA_VERSION="21.0.8"\nMODULES="java.base"\n', "21.0.8"),
        ('A="x"\nJAVA_VERSION="22-ea+36"\n', "22-ea+36"),
        ("nothing\n", None),
        (None, None),
    ],
)
def test_the_version_of_java_is_said_and_not_its_place(monkeypatch, tmp_path, release, version):
    monkeypatch.setattr("epic.first_stage.anserini.java_home", lambda: tmp_path)
    if release is not None:
        (tmp_path / "release").write_text(release)
    assert java_version() == version
