"""Rows are announced before they are read, and read all the same where that is not possible; kernels are cached."""

import mmap
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from epic.lookup import pruned_scores, scores
from epic.mapped import Mapped
from epic.runs import ScoredDoc
from epic.store import Store
from epic.vectors import QueryVector
from tests.bench.inputs import write_store
from tests.conftest import ROOT

QUERY = QueryVector(np.array([3, 90, 200], dtype=np.uint16), np.array([0.5, 1.5, 2.0], dtype=np.float32))


@pytest.fixture
def store(tmp_path):
    write_store(tmp_path / "store", documents=3000, keep=64, vocabulary=256)
    return Store(tmp_path / "store")


class Recorder:
    """A map that notes what is announced."""

    def __init__(self):
        self.spans = []

    def madvise(self, option, start, length):
        self.spans.append((option, start, length))


def test_every_candidate_is_announced_in_whole_pages_before_it_is_read(store, monkeypatch):
    recorders = Recorder(), Recorder()
    for mapped, recorder in zip(store.mapped, recorders, strict=True):
        monkeypatch.setattr(mapped, "_map", recorder)
        monkeypatch.setattr(mapped, "in_memory", lambda rows: False)
    scores(store, ["2999", "0", "1500"], QUERY)
    for recorder in recorders:
        assert [option for option, _, _ in recorder.spans] == [mmap.MADV_WILLNEED] * 3
        for row, (_, start, length) in zip((2999, 0, 1500), recorder.spans, strict=True):
            assert start % mmap.PAGESIZE == 0 and start <= row * 128 and start + length == (row + 1) * 128


def test_what_is_in_memory_is_not_announced(store, monkeypatch):
    int(store.terms.sum())
    recorder = Recorder()
    monkeypatch.setattr(store.mapped[1], "_map", recorder)
    if not store.mapped[0].in_memory(np.array([5, 7])):
        pytest.skip("this file system does not tell what is in memory")
    scores(store, ["5", "7"], QUERY)
    assert recorder.spans == []


@pytest.mark.parametrize("missing", [(mmap, "MADV_WILLNEED"), (mmap, "MADV_RANDOM"), (os, "RWF_NOWAIT")])
def test_a_platform_that_cannot_announce_gives_the_same_scores(store, monkeypatch, missing):
    expected = scores(store, ["1", "2"], QUERY)
    monkeypatch.delattr(*missing)
    if missing[1] != "RWF_NOWAIT":
        monkeypatch.setattr(Mapped, "in_memory", lambda self, rows: False)  # or nothing would be announced
    assert scores(Store(store.path), ["1", "2"], QUERY).tolist() == expected.tolist()


def test_a_file_system_that_cannot_tell_means_no(store, monkeypatch):
    def refuse(*arguments):
        raise OSError("not supported")

    monkeypatch.setattr(os, "preadv", refuse)
    assert not store.mapped[0].in_memory(np.array([0]))


def test_an_empty_file_is_an_empty_array(tmp_path):
    (tmp_path / "f").write_bytes(b"")
    empty = Mapped(tmp_path / "f", np.uint16, (0, 5))
    empty.announce(np.array([], dtype=np.int64))
    assert empty.array.shape == (0, 5)


def test_many_queries_in_parallel_score_as_each_does_alone(store):
    draw = np.random.default_rng(1)
    queries = {
        f"q{i}": QueryVector(np.sort(draw.choice(256, 5, False)).astype(np.uint16), draw.random(5, np.float32)) for i in range(30)
    }
    run = {name: [ScoredDoc(str(row), 0.0) for row in draw.choice(3000, 40, False)] for name in queries} | {"none": []}
    queries["none"] = QUERY
    alone = pruned_scores(store, queries, run)
    assert pruned_scores(store, queries, run, threads=4) == alone
    assert list(alone) == list(run) and alone["none"] == []
    for name, hits in alone.items():
        assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in run[name]]


PROGRAM = """
import numpy as np
from epic import lookup
from epic.vectors import QueryVector
terms, weights = np.array([[1, 5]], dtype=np.uint16), np.array([[0.5, 2.0]], dtype=np.float16)
query = QueryVector(np.array([5], dtype=np.uint16), np.array([3.0], dtype=np.float32))
print(lookup.dot(terms, weights, np.array([0]), query)[0], sum(lookup._dot.stats.cache_hits.values()))
"""


def run_program(folder, **environment):
    command = [sys.executable, "-B", "-c", PROGRAM]
    kept = {key: value for key, value in os.environ.items() if key not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    done = subprocess.run(
        command, cwd=folder, env=kept | {"PYTHONPATH": str(folder)} | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_compiled_code_is_cached_on_disk(tmp_path):
    assert run_program(ROOT, NUMBA_CACHE_DIR=str(tmp_path)) == ["6.0", "0"]
    assert run_program(ROOT, NUMBA_CACHE_DIR=str(tmp_path)) == ["6.0", "1"]


def test_without_a_folder_to_write_to_kernels_still_run(tmp_path):
    """Neither beside the source nor at home can anything be written: files stand where folders are wanted."""
    shutil.copytree(ROOT / "epic", tmp_path / "epic", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "epic" / "__pycache__").write_text("no folder")
    (tmp_path / "home").write_text("no folder")
    assert run_program(tmp_path, HOME=str(tmp_path / "home"), NUMBA_CACHE_DIR="") == ["6.0", "0"]
