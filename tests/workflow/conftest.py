"""One run of `make smoke` in a copy of the repository, killed once on the way, for all tests that look at such a run."""

import os
import platform
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import copy_repository, link_environment


def command(folder, *arguments, timeout=3000):
    """Run a command in the copy; all output in stdout."""
    return subprocess.run(
        list(map(str, arguments)),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        check=False,
    )


def snakemake_in(folder):
    """The process id of the Snakemake that works in a folder."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().split(b"\0")
            if any(part.endswith(b"snakemake") for part in command) and os.readlink(process / "cwd") == str(folder):
                return int(process.name)
        except OSError:
            continue
    return None


def kill_while_training(copy):
    """Start `make smoke`, and end Snakemake without warning once an EPIC in training has been validated for the first time."""
    started = subprocess.Popen(["make", "smoke"], cwd=copy, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 1200  # two minutes on a machine that does nothing else
    try:
        while not [
            path for model in ("paper", "released") for path in copy.glob(f"results/smoke/state/train/{model}/*/iteration-00001")
        ]:
            assert started.poll() is None and time.monotonic() < deadline, "training was never validated"
            time.sleep(0.2)
    finally:
        if started.poll() is None:  # else there is nothing to end, and its number may be another's
            os.kill(snakemake_in(copy) or started.pid, signal.SIGKILL)
            started.wait(timeout=60)


@pytest.fixture(scope="session")
def copy(tmp_path_factory):
    """The repository, copied, with this very environment as its .venv, after a killed and a finished `make smoke`."""
    folder = copy_repository(tmp_path_factory.mktemp("smoke") / "repository")
    link_environment(folder)
    kill_while_training(folder)
    assert not (folder / "results/smoke/table.md").exists()
    (folder / f"results/smoke/.table.md.{platform.node()}-999999999.part").write_text("left by a process that was killed")
    run = command(folder, "make", "smoke")
    assert run.returncode == 0, run.stdout[-5000:]
    (folder / "first.log").write_text(run.stdout)
    return folder


@pytest.fixture(scope="session")
def results(copy):
    return copy / "results" / "smoke"
