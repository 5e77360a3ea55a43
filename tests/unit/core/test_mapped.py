"""Rows are announced before they are read, and read all the same where that is not possible."""

import mmap
import os

import numpy as np
import pytest

from epic.core.mapped import Mapped
from epic.model.query_vector import QueryVector
from epic.vectors.pruned_scores import scores
from epic.vectors.store import Store
from epic.vectors.stored_rows import Lookup

QUERY = QueryVector(np.array([3, 90, 200], dtype=np.uint16), np.array([0.5, 1.5, 2.0], dtype=np.float32))


class Recorder:
    """A map that notes what is announced."""

    def __init__(self):
        self.spans = []

    def madvise(self, option, start, length):
        self.spans.append((option, start, length))


def test_every_candidate_is_announced_in_whole_pages_before_it_is_read(store, monkeypatch):
    recorders, lookup = (Recorder(), Recorder(), Recorder()), Lookup(store)
    for mapped, recorder in zip(lookup.mapped[0][0], recorders, strict=True):
        monkeypatch.setattr(mapped, "_map", recorder)
        monkeypatch.setattr(mapped, "holds", lambda row: False)
    scores(lookup, ["2999", "0", "1500"], QUERY)
    for recorder, width in zip(recorders, (128, 128, 8), strict=True):  # bytes of a row of terms, weights, sums
        assert [option for option, _, _ in recorder.spans] == [mmap.MADV_WILLNEED] * 3
        for row, (_, start, length) in zip((2999, 0, 1500), recorder.spans, strict=True):
            assert start % mmap.PAGESIZE == 0 and start <= row * width and start + length == (row + 1) * width


def test_what_is_in_memory_is_not_announced(store, monkeypatch):
    int(store.terms.sum())
    recorder, lookup = Recorder(), Lookup(store)
    monkeypatch.setattr(lookup.mapped[0][0][1], "_map", recorder)
    if not all(map(lookup.mapped[0][0][0].holds, (5, 7))):
        pytest.skip("this file system does not tell what is in memory")
    scores(lookup, ["5", "7"], QUERY)
    assert recorder.spans == []


@pytest.mark.parametrize("missing", [(mmap, "MADV_WILLNEED"), (mmap, "MADV_RANDOM"), (os, "RWF_NOWAIT")])
def test_a_platform_that_cannot_announce_gives_the_same_scores(store, monkeypatch, missing):
    expected = scores(Lookup(store), ["1", "2"], QUERY)
    monkeypatch.delattr(*missing)
    if missing[1] != "RWF_NOWAIT":
        monkeypatch.setattr(Mapped, "holds", lambda self, row: False)  # or nothing would be announced
    assert scores(Lookup(Store(store.path)), ["1", "2"], QUERY).tolist() == expected.tolist()


def test_a_file_system_that_cannot_tell_means_no(store, monkeypatch):
    def refuse(*arguments):
        raise OSError("not supported")

    monkeypatch.setattr(os, "preadv", refuse)
    assert not Lookup(store).mapped[0][0][0].holds(0)


def test_an_empty_file_is_an_empty_array(tmp_path):
    (tmp_path / "f").write_bytes(b"")
    empty = Mapped(tmp_path / "f", np.uint16, (0, 5))
    empty.announce(np.array([], dtype=np.int64))
    assert empty.array.shape == (0, 5)
