"""The Makefile: its targets, and the refusal of a Python that the pins do not fit."""

import shutil
import subprocess

import pytest

from tests.conftest import ROOT


@pytest.fixture
def folder(tmp_path):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def make(folder, *arguments):
    return subprocess.run(
        ["make", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


def test_another_python_is_refused_in_one_clear_line(folder):
    python = folder / "python3.9"
    python.write_text('#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.9.18" && exit 0\nexit 1\n')
    python.chmod(0o755)
    run = make(folder, f"PYTHON={python}", "smoke")
    assert run.returncode and "The pinned packages need Python 3.11" in run.stdout and "is Python 3.9.18" in run.stdout
    assert not (folder / ".venv").exists()


def test_help_lists_every_target(folder):
    run = make(folder, "help")
    assert run.returncode == 0
    for target in ("smoke", "test", "setup", "lint", "unit", "paper", "paper-plan", "plan", "clean", "environment.yml"):
        assert f"make {target} " in run.stdout


def test_environment_yml_is_what_make_would_write(folder):
    assert make(folder, "environment.yml").returncode == 0
    assert (folder / "environment.yml").read_text() == (ROOT / "environment.yml").read_text()
