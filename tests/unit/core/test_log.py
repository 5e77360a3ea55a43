"""Logs: records and the traceback of a failure in the file, and progress only where a person watches."""

import io
import os
import signal
import subprocess
import sys

import pytest

from epic.core.log import progress
from tests.conftest import ROOT

STAGE = """
import logging, sys, warnings
from epic.core.log import log_to
with log_to(sys.argv[1]):
    logging.getLogger("epic.some.stage").info("café: %d passages", 7)
    logging.getLogger("epic.some.stage").debug("of no interest")
    warnings.warn("take care")
    if sys.argv[2] == "fail":
        raise ValueError("no such passage")
"""


def stage(path, how):
    """A job in a process of its own: a log takes over the handlers of the whole process."""
    command = [sys.executable, "-c", STAGE, str(path), how]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)


def test_records_and_warnings_go_to_the_file_and_to_stderr(tmp_path):
    done = stage(tmp_path / "logs" / "not" / "yet" / "stage.log", "end")
    written = (tmp_path / "logs" / "not" / "yet" / "stage.log").read_text(encoding="utf-8")
    assert done.returncode == 0 and done.stderr == written
    assert " epic.some.stage café: 7 passages\n" in written and "UserWarning: take care" in written
    assert "of no interest" not in written and "stage failed" not in written


def test_a_failure_leaves_its_traceback_in_the_file_and_is_raised_again(tmp_path):
    done, written = stage(tmp_path / "stage.log", "fail"), (tmp_path / "stage.log").read_text(encoding="utf-8")
    assert done.returncode == 1
    assert "root stage failed\nTraceback (most recent call last):\n" in written and written.endswith(
        "ValueError: no such passage\n"
    )
    assert done.stderr.count("ValueError: no such passage\n") == 2  # as it is logged, and as Python ends


def test_a_log_holds_one_run_alone(tmp_path):
    stage(tmp_path / "stage.log", "fail")
    stage(tmp_path / "stage.log", "end")
    written = (tmp_path / "stage.log").read_text(encoding="utf-8")
    assert "no such passage" not in written and written.count("café") == 1


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
