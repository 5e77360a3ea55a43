"""The lock of a folder: one run at a time, taken over only from a process that has certainly ended."""

import errno
import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from epic.core import run_lock
from epic.core.files import InputError
from epic.core.process import process_of
from epic.core.run_lock import NAME, check, release, take
from tests.conftest import ROOT


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of results of the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results"


@pytest.fixture
def other(tmp_path):
    """Another process in the same working directory."""
    started = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
    yield started
    started.kill()
    started.wait()


def written(folder):
    return json.loads((folder / NAME).read_text())


def change(folder, **facts):
    (folder / NAME).write_text(json.dumps(written(folder) | facts))


def test_it_names_host_process_and_time_and_others_may_read_it(folder):
    before = os.umask(0o077)
    try:
        take(folder)
    finally:
        os.umask(before)
    facts = written(folder)
    assert facts["number"] == os.getpid() and facts["host"] == process_of().host and facts["since"][:2] == "20"
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o644 and os.listdir(folder) == [NAME]


def test_who_holds_it_may_take_it_again_and_releases_it_once(folder):
    take(folder)
    take(folder)
    release(folder)
    assert not os.listdir(folder)
    release(folder)


def test_a_living_process_is_not_disturbed(folder, other):
    take(folder, other.pid)
    said = rf"at work in this folder: process {other.pid} on host {process_of().host}, since 20.*\.run\.lock; wait"
    with pytest.raises(InputError, match=said) as refused:
        take(folder)
    assert "remove" not in str(refused.value)
    with pytest.raises(InputError, match=said):
        check(folder)
    release(folder)
    assert written(folder)["number"] == other.pid


def test_the_lock_of_a_process_that_has_ended_is_taken_over(folder, other, caplog):
    take(folder, other.pid)
    other.kill()
    other.wait()
    check(folder)
    take(folder)
    assert written(folder)["number"] == os.getpid()
    assert f"process {other.pid}, since" in caplog.text and "ended without removing it" in caplog.text


@pytest.mark.parametrize("facts", [{"host": "elsewhere"}, {"namespaces": "pid:[1] time:[2]"}, {"boot": "b", "machine": "m"}])
def test_a_process_that_cannot_be_seen_is_named_with_the_file_to_remove_when_one_is_sure(folder, facts):
    take(folder)
    change(folder, number=12345, **facts)
    for asked in (take, check):
        with pytest.raises(
            InputError, match=r"may be at work .*process 12345 on host .*if you are sure that it has ended, remove"
        ):
            asked(folder)
    assert written(folder)["number"] == 12345


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"since": 1}', "\x00\x00", '{"number": "x"', "null"])
def test_a_lock_that_says_nothing_stands(folder, text, monkeypatch):
    monkeypatch.setattr(run_lock, "PAUSE", 0.001)
    folder.mkdir()
    (folder / NAME).write_text(text)
    for asked in (take, check):
        with pytest.raises(
            InputError, match="does not say which run it is the lock of; once you are sure that no run is at work"
        ):
            asked(folder)
    assert (folder / NAME).read_text() == text


def test_a_lock_that_is_being_written_is_waited_for(folder, other, monkeypatch):
    take(folder, other.pid)
    whole = (folder / NAME).read_text()
    (folder / NAME).write_text("")
    monkeypatch.setattr(time, "sleep", lambda seconds: (folder / NAME).write_text(whole))
    with pytest.raises(InputError, match=f"process {other.pid}"):
        take(folder)


def test_a_lock_that_was_copied_with_its_folder_holds_nothing(folder, other, tmp_path, monkeypatch):
    take(folder, other.pid)
    copy = tmp_path / "copy" / "results"
    shutil.copytree(folder, copy)
    with pytest.raises(InputError, match="at work"):
        take(folder)  # the original stands
    monkeypatch.chdir(copy.parent)
    take("results")
    assert written(copy)["number"] == os.getpid() and written(folder)["number"] == other.pid


def test_results_that_two_folders_share_have_one_lock(folder, other, tmp_path, monkeypatch):
    take(folder, other.pid)
    second = tmp_path / "second"
    second.mkdir()
    (second / "results").symlink_to(folder)
    monkeypatch.chdir(second)
    with pytest.raises(InputError, match=f"at work .*process {other.pid}"):
        take("results")


def test_a_moved_folder_is_the_same_folder(folder, other, tmp_path, monkeypatch):
    take(folder, other.pid)
    moved = tmp_path.with_name(tmp_path.name + " moved")
    tmp_path.rename(moved)
    try:
        with pytest.raises(InputError, match=f"at work .*process {other.pid}"):
            take("results")
    finally:
        moved.rename(tmp_path)


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_where_a_file_has_one_name_only_it_is_created_exclusively(folder, other, number, monkeypatch):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    take(folder, other.pid)
    assert written(folder)["number"] == other.pid and os.listdir(folder) == [NAME]
    with pytest.raises(InputError, match="at work"):
        take(folder)


def test_a_full_disk_is_said_in_one_line(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match=r"\.run\.lock: this run cannot write its lock \(No space left on device\)"):
        take(folder)
    assert not os.listdir(folder)


def test_a_file_where_the_folder_should_be_is_said_in_one_line(folder):
    folder.write_text("")
    with pytest.raises(InputError, match="cannot write its lock"):
        take(folder)
    check(folder / "not there")


RIVAL = """
import sys
from epic.core.files import InputError
from epic.core.run_lock import take
print("ready", flush=True)
sys.stdin.readline()
try:
    take("results")
    print("mine", flush=True)
except InputError:
    print("refused", flush=True)
sys.stdin.readline()
"""


def test_of_many_that_find_a_lock_left_behind_one_gets_it(folder, other, tmp_path):
    take(folder, other.pid)
    other.kill()
    other.wait()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    rivals = [
        subprocess.Popen([sys.executable, "-c", RIVAL], cwd=tmp_path, env=environment, bufsize=1, **pipes) for _ in range(8)
    ]
    assert all(rival.stdout.readline() == "ready\n" for rival in rivals)
    for rival in rivals:
        rival.stdin.write("go\n")
    answers = [rival.stdout.readline() for rival in rivals]
    for rival in rivals:
        rival.communicate("end\n")
    assert sorted(answers) == ["mine\n"] + ["refused\n"] * 7


def test_who_was_late_to_remove_a_lock_left_behind_leaves_its_successor_alone(folder, other, tmp_path):
    dead = subprocess.Popen(["sleep", "60"], cwd=tmp_path)
    take(folder, dead.pid)
    dead.kill()
    dead.wait()
    with open(folder / NAME) as stream, ThreadPoolExecutor(1) as pool:
        fcntl.flock(stream, fcntl.LOCK_EX)  # as another one that is about to remove it
        late = pool.submit(take, folder)
        time.sleep(0.3)
        assert not late.done()
        (folder / NAME).unlink()
        take(folder, other.pid)
        fcntl.flock(stream, fcntl.LOCK_UN)
        with pytest.raises(InputError, match=f"at work .*process {other.pid}"):
            late.result(timeout=20)
    assert written(folder)["number"] == other.pid


SHELL = """
set -eu
lock() { python -m epic.core.run_lock "$@"; }
lock take results $$
exec python -c '
import json, os, sys
from epic.core import run_lock
run_lock.release_at_the_end("results")
assert json.load(open("results/.run.lock"))["number"] == os.getpid()
run_lock.take("results")
if os.fork() == 0:
    sys.exit()  # a copy of the process keeps the lock
os.wait()
assert os.path.exists("results/.run.lock")
'
"""


def test_a_shell_hands_it_over_to_the_program_it_becomes(folder, tmp_path):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-c", SHELL], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not os.listdir(folder)


def test_the_commands_of_a_shell_refuse_in_one_line(folder, other, capsys):
    assert run_lock.main(["take", "results", str(other.pid)]) == 0
    assert run_lock.main(["check", "results"]) == 1 and run_lock.main(["take", "results", str(os.getpid())]) == 1
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and all(f"process {other.pid}" in line for line in said)
    assert run_lock.main(["release", "results", str(other.pid)]) == 0 and not os.listdir(folder)


def test_what_a_run_has_started_may_work(folder):
    take(folder, os.getppid())
    check(folder)
