"""Logs: records and the traceback of a failure in the file, and progress only where a person watches."""

import errno
import io
import os
import signal
import subprocess
import sys

import pytest

from epic.core import log
from epic.core.files import InputError
from epic.core.log import SCREEN, progress, reason_of
from tests.conftest import ROOT

STAGE = """
import logging, os, subprocess, sys, warnings
from pathlib import Path
from epic.core.files import InputError
from epic.core.log import log_to, progress
with log_to(sys.argv[1]):
    logging.getLogger("epic.some.stage").info("café: %d passages", 7)
    logging.getLogger("epic.some.stage").debug("of no interest")
    warnings.warn("take care")
    if os.environ.get("EPIC_CONSOLE"):
        print("printed by a library", flush=True)
        subprocess.run(["echo", "by a process of its own"])
    if sys.argv[2] == "letters":
        list(progress("abc", desc="letters", miniters=1, mininterval=0))
    if sys.argv[2] == "bar":
        for letter in progress("abc", desc="letters"):
            pass
        print("beside:", Path(sys.argv[1] + ".progress").read_text(), flush=True)
    if sys.argv[2] == "fail":
        raise ValueError("no such passage")
    if sys.argv[2] == "refuse":
        raise InputError("q.tsv line 3: no tab; add one")
"""


def stage(path, how, screen=""):
    """A job in a process of its own: a log takes over the handlers of the whole process."""
    command, environment = [sys.executable, "-c", STAGE, str(path), how], os.environ | {SCREEN: screen}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False, env=environment)


def test_records_and_warnings_go_to_the_file_and_to_stderr(tmp_path):
    done = stage(tmp_path / "logs" / "not" / "yet" / "stage.log", "end")
    written = (tmp_path / "logs" / "not" / "yet" / "stage.log").read_text(encoding="utf-8")
    assert done.returncode == 0 and done.stderr == written
    assert " epic.some.stage café: 7 passages\n" in written and "UserWarning: take care" in written
    assert "of no interest" not in written and "stage failed" not in written


def test_a_failure_leaves_its_traceback_in_the_file_and_its_reason_last_in_both(tmp_path):
    done, written = stage(tmp_path / "stage.log", "fail"), (tmp_path / "stage.log").read_text(encoding="utf-8")
    assert done.returncode == 1
    assert "root stage failed\nTraceback (most recent call last):\n" in written
    for said in (written, done.stderr):
        assert said.endswith("ValueError: no such passage\nerror: ValueError: no such passage\n") and said.count("Traceback") == 1


def test_a_user_s_error_ends_with_its_words_alone(tmp_path):
    done, written = stage(tmp_path / "stage.log", "refuse"), (tmp_path / "stage.log").read_text(encoding="utf-8")
    assert done.returncode == 1 and written.endswith("\nerror: q.tsv line 3: no tab; add one\n")


@pytest.mark.parametrize("how", ["end", "fail"])
def test_where_the_screen_is_snakemake_s_all_that_is_printed_goes_to_the_file(tmp_path, how):
    done, written = stage(tmp_path / "stage.log", how, screen="plain"), (tmp_path / "stage.log").read_text(encoding="utf-8")
    assert (done.stdout, done.stderr) == ("", "") and done.returncode == (how == "fail")
    assert "printed by a library\n" in written and "by a process of its own\n" in written and "café" in written
    assert written.endswith("error: ValueError: no such passage\n") == (how == "fail")


def test_a_progress_bar_lies_beside_the_log_of_a_live_screen_until_the_job_ends(tmp_path):
    done = stage(tmp_path / "stage.log", "bar", screen="live")
    assert done.returncode == 0, (tmp_path / "stage.log").read_text()
    seen = (tmp_path / "stage.log").read_text().splitlines()[-1]
    assert seen.startswith("beside: letters") and " %, " in seen and not (tmp_path / "stage.log.progress").exists()


def test_a_log_holds_one_run_alone(tmp_path):
    stage(tmp_path / "stage.log", "fail")
    stage(tmp_path / "stage.log", "end")
    written = (tmp_path / "stage.log").read_text(encoding="utf-8")
    assert "no such passage" not in written and written.count("café") == 1


FULL = "error: the disk is full: [Errno 28] No space left on device: 'x'; free space (df -h) or files (df -i) there"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (InputError("q.tsv line 3: no tab; add one"), "q.tsv line 3: no tab; add one"),
        (KeyError("x"), "KeyError: 'x'"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x"), FULL.removeprefix("error: ")),
        (
            RuntimeError("I/O error: No space left on device (os error 28)"),
            "the disk is full: I/O error: No space left on device",
        ),
        (
            RuntimeError("Java ended:\n  IOException: No space left on device\n  ... 5 more"),
            "the disk is full: IOException: No space",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "x"),
            "x: this user may not read or write it (Permission denied); change",
        ),
        (OSError(errno.EDQUOT, os.strerror(errno.EDQUOT), "x"), "the disk is full: [Errno 122] Disk quota exceeded: 'x'"),
    ],
)
def test_the_reason_of_a_failure_is_one_line(error, reason):
    assert reason_of(error).startswith(reason) and "\n" not in reason_of(error)


def test_a_full_disk_is_the_reason_also_of_what_follows_from_it():
    error = RuntimeError("half a file")
    error.__context__ = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x")
    assert reason_of(error).startswith("the disk is full")


ON_A_FULL_DISK = """
import errno, logging, os, sys
from epic.core import log
real = os.write
def full(handle, data):
    if os.path.samestat(os.fstat(handle), os.stat(sys.argv[1])):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return real(handle, data)
with log.log_to(sys.argv[1]):
    os.write = full
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x")
"""


@pytest.mark.parametrize("screen", ["", "plain", "live"])
def test_where_the_log_cannot_be_written_the_reason_goes_to_the_screen(tmp_path, screen):
    command, environment = [sys.executable, "-c", ON_A_FULL_DISK, str(tmp_path / "stage.log")], os.environ | {SCREEN: screen}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith(FULL)


@pytest.mark.skipif(sys.platform != "linux", reason="fallocate")
def test_a_log_has_space_for_its_end_while_the_job_runs_and_gives_it_back(tmp_path):
    blocks = []
    with log._opened(tmp_path / "stage.log") as stream:
        blocks.append((tmp_path / "stage.log").stat().st_blocks)
        stream.write("a word\n")
    assert blocks[0] * 512 >= log.RESERVED > (tmp_path / "stage.log").stat().st_blocks * 512
    assert (tmp_path / "stage.log").read_text() == "a word\n"


def test_a_log_that_cannot_be_opened_is_said_in_one_line(tmp_path):
    (tmp_path / "logs").write_text("a file")
    done = stage(tmp_path / "logs" / "stage.log", "end", screen="plain")
    assert (
        done.returncode == 1
        and done.stdout == ""
        and done.stderr.startswith("error: FileExistsError")
        and done.stderr.count("\n") == 1
    )


def test_a_bar_that_cannot_be_written_does_not_stop_the_job(tmp_path):
    (tmp_path / "stage.log.progress").mkdir()
    done = stage(tmp_path / "stage.log", "letters", screen="live")
    assert done.returncode == 0


PARENT = """
import subprocess, sys
child = "import sys, time; from epic.core.log import log_to\\nwith log_to(sys.argv[1]): print('at work', flush=True); time.sleep(20)"
subprocess.run([sys.executable, "-c", child, sys.argv[1]])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux ends the orphans")
def test_a_job_ends_with_the_process_that_started_it(tmp_path):
    command = [sys.executable, "-c", PARENT, str(tmp_path / "stage.log")]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout.readline() == "at work\n"
    os.kill(parent.pid, signal.SIGKILL)
    assert parent.communicate(timeout=10) == ("", None)  # its end is seen when nobody holds the pipe any more


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_a_terminal_and_nowhere_else():
    for stream, shown in ((Terminal(), True), (io.StringIO(), False)):
        assert list(progress("abc", desc="letters", file=stream)) == ["a", "b", "c"]
        assert ("letters" in stream.getvalue() and "3/3" in stream.getvalue()) == shown and bool(stream.getvalue()) == shown


def test_a_bar_without_items_counts_what_it_is_told():
    stream = Terminal()
    with progress(total=5, desc="passages", unit="passage", file=stream) as bar:
        bar.update(2)
        bar.update(3)
    assert "5/5" in stream.getvalue() and "passage/s" in stream.getvalue()
