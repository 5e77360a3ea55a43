"""Compiled kernels: cached on disk, and compiled anew where nothing can be written."""

import os
import shutil
import subprocess
import sys

from epic.core import kernels
from tests.conftest import ROOT

PROGRAM = """
import numpy as np
from epic.vectors.pruned_scores import dot
from epic.vectors.stored_rows import _dot
from epic.model.query_vector import QueryVector
terms, weights = np.array([[1, 5]], dtype=np.uint16), np.array([[0.5, 2.0]], dtype=np.float16)
query = QueryVector(np.array([5], dtype=np.uint16), np.array([3.0], dtype=np.float32))
print(dot(terms, weights, np.array([0]), query)[0], sum(_dot.stats.cache_hits.values()))
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


def test_a_refused_cache_is_no_failure_and_the_lock_is_released_all_the_same(monkeypatch, caplog):
    """As numba refuses where it finds no place to write to: when the function is decorated, not when it is called."""
    asked = []

    def njit(**options):
        def decorate(function):
            asked.append(options)
            if options.get("cache"):
                raise RuntimeError("cannot cache function: no locator available")
            return function

        return decorate

    monkeypatch.setattr(kernels, "njit", njit)
    caplog.set_level("DEBUG")

    def twice(x):
        return 2 * x

    assert kernels.compiled(twice) is twice and asked == [{"nogil": True, "cache": True}, {"nogil": True}]
    assert "twice is compiled in every process: cannot cache function" in caplog.text


def test_a_kernel_runs_without_the_interpreters_lock():
    assert kernels.compiled(lambda x: x + 1).targetoptions["nogil"] is True
