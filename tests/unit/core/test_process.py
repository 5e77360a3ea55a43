"""Processes: ended, alive, or not to be seen from here; and jobs and children that end with what started them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epic.core import process
from epic.core.process import RUN, ending_with_this, has_ended, name_run, process_of
from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")
MACHINE = "pid:[4026531836] time:[4026531834]"


@pytest.fixture
def child():
    """A process that sleeps."""
    started = subprocess.Popen(["sleep", "60"])
    yield started
    started.kill()
    started.wait()


def test_a_process_is_alive_until_it_ends_even_if_nobody_has_waited_for_it(child):
    named = process_of(child.pid)
    assert has_ended(named) is False
    child.kill()
    while Path(f"/proc/{child.pid}/stat").read_text().split()[2] != "Z":
        time.sleep(0.01)
    assert has_ended(named) is True
    child.wait()
    assert has_ended(named) is True


def test_a_number_that_was_given_again_is_another_process(child):
    assert has_ended(process_of(child.pid)._replace(started=1)) is True


def test_a_process_of_another_user_that_proc_hides_may_be_alive(child, monkeypatch):
    named = process_of(child.pid)
    monkeypatch.setattr(process, "_state", lambda number: ("", 0))

    def refuse(number, signal):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refuse)
    assert has_ended(named) is False


@pytest.mark.parametrize(
    ("change", "ended"),
    [
        ({"host": "elsewhere"}, None),
        ({"host": "elsewhere", "boot": "another"}, None),
        ({"boot": "another"}, True),  # this host was started anew
        ({"boot": "another", "machine": "another"}, None),  # a host of the same name
        ({"boot": "another", "machine": ""}, None),
        ({"boot": "another", "namespaces": "pid:[1] time:[2]"}, None),  # a container of the same name
        ({"namespaces": "pid:[1] time:[2]"}, None),  # a container of this host
        ({"namespaces": "pid:[4026531836] time:[2]"}, None),  # where clocks differ, start times do
        ({"number": 2**22 + 1}, True),
    ],
)
def test_only_what_can_be_seen_has_ended(change, ended, monkeypatch):
    here = process_of()._replace(machine="m", namespaces=MACHINE)
    monkeypatch.setattr(process, "process_of", lambda number=None: here)
    assert has_ended(here._replace(**change)) is ended


@pytest.mark.parametrize("change", [{"machine": ""}, {"boot": ""}, {"namespaces": "pid:[7] time:[8]"}])
def test_a_container_or_an_unknown_machine_never_says_that_it_was_started_anew(change, monkeypatch):
    here = process_of()._replace(**({"machine": "m", "namespaces": MACHINE} | change))
    monkeypatch.setattr(process, "process_of", lambda number=None: here)
    assert has_ended(here._replace(boot="before")) is None


JOB = """
import os, sys, time
from epic.core.log import log_to
print("begun", flush=True)
sys.stdin.readline()
with log_to(sys.argv[1]):
    print("at work", flush=True)
    time.sleep(30)
"""
RUNNER = """
import os, subprocess, sys
from epic.core.process import RUN, name_run
os.environ[RUN] = name_run()
subprocess.run([*sys.argv[3:], sys.executable, "-c", sys.argv[1], sys.argv[2]])
"""
SHELL = ["sh", "-c", '"$0" "$@"; true']  # a shell that waits for its command


def started(tmp_path, *through):
    """Start a run with one job, which waits for a line before it begins its work."""
    command = [sys.executable, "-c", RUNNER, JOB, tmp_path / "logs" / "job.log", *through]
    run = subprocess.Popen(
        list(map(str, command)), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "begun\n"
    return run


@pytest.mark.parametrize("through", [[], SHELL], ids=["child", "grandchild"])
def test_a_job_whose_run_was_killed_before_it_began_writes_nothing(tmp_path, through):
    run = started(tmp_path, *through)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    said, complained = run.communicate("go\n", timeout=20)  # all ends of the pipes are closed: the job has ended
    assert said == "" and complained == "the Snakemake that started this job has ended; nothing was written\n"
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("through", [[], SHELL], ids=["child", "grandchild"])
def test_a_job_at_work_ends_with_its_run(tmp_path, through):
    run = started(tmp_path, *through)
    run.stdin.write("go\n")
    run.stdin.flush()
    assert run.stdout.readline() == "at work\n"
    began = time.monotonic()
    os.kill(run.pid, signal.SIGKILL)
    run.communicate(timeout=20)
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("run", ["", "no number", "1/2", "1/2/another boot/pid:[1] time:[2]"])
def test_a_job_without_a_run_that_can_be_seen_works(tmp_path, run):
    code = "import sys; from epic.core.log import log_to\nwith log_to(sys.argv[1]): print('at work')"
    environment = os.environ | {RUN: run}
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "job.log"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "at work\n"), done.stderr


def test_a_run_names_itself():
    number, started, boot, namespaces = name_run().split("/")
    this = process_of()
    assert (int(number), int(started), boot, namespaces) == (os.getpid(), this.started, this.boot, this.namespaces)


def ends(named, seconds=20):
    """Tell whether a process ends within some seconds."""
    deadline = time.monotonic() + seconds
    while not has_ended(named) and time.monotonic() < deadline:
        time.sleep(0.02)
    return has_ended(named)


PARENT = """
import subprocess, sys
from epic.core.process import ending_with_this
subprocess.run(["sh", "-c", "echo $$; exec sleep 60"], **ending_with_this())
"""


def test_a_child_is_killed_when_its_job_is_killed():
    job = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    child = process_of(int(job.stdout.readline()))
    os.kill(job.pid, signal.SIGKILL)
    job.communicate(timeout=20)  # the child had the pipe's other end
    assert ends(child)


def test_a_child_that_begins_after_its_job_has_ended_does_not_run_its_program():
    options = ending_with_this()
    options["preexec_fn"] = type(options["preexec_fn"])(process._end_with, 1, process._libc())  # as if its parent were gone
    done = subprocess.run(["echo", "at work"], stdout=subprocess.PIPE, text=True, check=False, **options)
    assert (done.returncode, done.stdout) == (1, "")


JAVA = """#!/bin/sh
[ "$1" = -version ] && { echo 'version "21"' >&2; exit 0; }
echo $$ > "$PLACE/number"
exec sleep 60
"""


def test_java_is_killed_when_its_job_is_killed(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text(JAVA)
    (tmp_path / "bin" / "java").chmod(0o755)
    code = "from epic.first_stage.anserini import anserini; anserini('index.IndexCollection', memory_mb=64)"
    environment = os.environ | {"JAVA_HOME": str(tmp_path), "PLACE": str(tmp_path)}
    job, deadline = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env=environment), time.monotonic() + 60
    while not (tmp_path / "number").exists() or not (tmp_path / "number").read_text().strip():
        assert job.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    java = process_of(int((tmp_path / "number").read_text()))
    job.kill()
    job.wait()
    assert ends(java)
