"""Datasets by name: unknown ones are named, and only one process at a time downloads or builds."""

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from epic.corpus import datasets
from tests.conftest import ROOT
from tests.seeded import run_in


def test_an_unknown_dataset_is_named(tmp_path):
    run = run_in(tmp_path, "from epic.corpus.datasets import load\nload('msmarco-passages')")
    assert run.returncode and "InputError: ir_datasets has no dataset msmarco-passages" in run.stderr


def test_a_folder_is_a_dataset_like_any_other(folder):
    theirs, ours = datasets.load("msmarco-passage/dev/small"), datasets.load(f"path:{folder}#test")
    for kind in ("docs", "queries", "qrels"):
        assert hasattr(theirs, f"{kind}_iter") and hasattr(ours, f"{kind}_iter")
    assert [query.query_id for query in ours.queries_iter()] == ["q1", "q2"]


WAITING = """
import logging
from epic.corpus.datasets import alone, home
logging.basicConfig(level="INFO", format="%(message)s")
with alone():
    print(home(), flush=True)
"""


def test_a_second_process_waits_until_the_first_is_done(tmp_path):
    with open(tmp_path / "epic.lock", "a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        other = subprocess.Popen(
            [sys.executable, "-c", WAITING], cwd=ROOT, env=os.environ | {"IR_DATASETS_HOME": str(tmp_path)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert other.stderr.readline() == f"waiting for another process that downloads or builds in {tmp_path}\n"
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(timeout=0.2)
        fcntl.flock(held, fcntl.LOCK_UN)
        assert other.communicate(timeout=10) == (f"{tmp_path}\n", "") and other.returncode == 0


def test_the_lock_is_given_back_even_by_a_build_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets, "home", lambda: tmp_path)
    with pytest.raises(ZeroDivisionError), datasets.alone():
        with open(tmp_path / "epic.lock", "a") as other, pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise ZeroDivisionError
    with open(tmp_path / "epic.lock", "a") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("where", ["no folder", "a disk without locks"])
def test_a_home_that_cannot_be_locked_is_used_all_the_same_with_a_warning(tmp_path, monkeypatch, caplog, where):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(datasets, "home", lambda: tmp_path / "none" if where == "no folder" else tmp_path)
    if where != "no folder":
        monkeypatch.setattr(datasets.fcntl, "flock", refuse)
    done = []
    with datasets.alone():
        done.append("built")
    assert done == ["built"] and "cannot be locked" in caplog.text and "no two processes may build there at once" in caplog.text
