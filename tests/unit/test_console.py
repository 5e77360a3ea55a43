"""A run on the screen: one line a stage, what runs now, and at the end what is wrong, alone."""

import io
import logging
from types import SimpleNamespace

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

import snakemake_logger_plugin_epic as plugin
from epic.core import log
from snakemake_logger_plugin_epic import console as module
from snakemake_logger_plugin_epic.console import Console, duration, progress_of, reason_of


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def plain(clock):
    return Console(io.StringIO(), terminal=False, clock=clock)


def begin(console, number, stage, log=None, **wildcards):
    console.job(number, stage, {"experiment": "smoke"} | wildcards, log, "missing")


def said(console):
    return console.stream.getvalue()


def test_a_stage_has_one_line_when_its_last_job_ends_with_what_runs_now(plain, clock):
    plain.start({"index": 2, "train": 1})
    begin(plain, 1, "index", first_stage="bm25")
    begin(plain, 2, "index", first_stage="deepct")
    clock.now = 3.0
    plain.end(1)
    assert said(plain) == "3 jobs to run\n"  # one of two
    begin(plain, 3, "train", model="paper")
    clock.now = 65.0
    plain.end(2)
    assert said(plain).splitlines()[1].split() == ["1:05", "index", "2", "jobs", "1:08", "now:", "train", "paper"]
    plain.end(3)
    plain.close()
    assert said(plain).splitlines()[-1] == "3 jobs done in 1:05" and len(said(plain).splitlines()) == 4


def test_a_remark_stands_above_the_jobs_and_not_beside_a_refusal(plain, clock):
    plain.remark("left out: mine.yaml line 3: no such key")
    assert said(plain) == ""
    plain.start({"data": 1})
    assert said(plain).splitlines() == ["left out: mine.yaml line 3: no such key", "1 job to run"]
    none, refused = (Console(io.StringIO(), terminal=False, clock=clock) for _ in range(2))
    for console in (none, refused):
        console.remark("left out: mine.yaml")
    refused.error("WorkflowError")
    refused.refuse("there is no row x")
    none.close(), refused.close()
    assert said(none) == "left out: mine.yaml\n" and said(refused) == "\nthere is no row x\n"


def test_snakemake_s_own_words_are_kept_back_when_jobs_run_and_shown_when_none_do(plain):
    plain.say("Building DAG of jobs...")
    plain.start({"data": 1})
    plain.say("Select jobs to execute...")
    plain.close()
    assert "DAG" not in said(plain) and "Select" not in said(plain)
    other = Console(io.StringIO(), terminal=False)
    other.say("Nothing to be done (all requested files are present and up to date).")
    other.close()
    assert said(other).startswith("Nothing to be done")


def test_the_reason_of_a_failed_job_is_the_last_thing_and_alone(plain, tmp_path):
    file = tmp_path / "train.log"
    file.write_text("2026 stage failed\nTraceback (most recent call last):\n  x\nerror: q.tsv line 3: no tab;\nadd one\n")
    plain.start({"train": 2})
    begin(plain, 1, "train", model="paper")
    plain.fail(1, "train", [str(file)])
    plain.error("At least one job did not complete successfully.")
    plain.close()
    assert said(plain).endswith(f"\ntrain paper failed; its log is {file}\n\nq.tsv line 3: no tab;\nadd one\n")
    assert "Traceback" not in said(plain) and "At least one" not in said(plain) and "done in" not in said(plain)


def test_a_job_that_was_killed_shows_the_end_of_its_log_or_that_there_is_none(tmp_path):
    (tmp_path / "x.log").write_text("".join(f"line {number}\n" for number in range(100)))
    shown = reason_of([str(tmp_path / "x.log")]).splitlines()
    assert "ended without a reason" in shown[0] and shown[-1] == "line 99" and len(shown) == 16
    (tmp_path / "empty.log").write_text("")
    for logs in ([], [str(tmp_path / "none.log")], [str(tmp_path / "empty.log")]):
        assert "left no log" in reason_of(logs)


def test_our_own_refusal_takes_the_place_of_snakemake_s_traceback_but_only_where_something_failed(plain):
    plain.refuse("there is no experiment smok")
    plain.error("InputFunctionException in rule table ... Traceback ...")
    plain.close()
    assert said(plain) == "\nthere is no experiment smok\n"
    other = Console(io.StringIO(), terminal=False)
    other.refuse("a rule that was only tried")
    other.close()
    assert said(other) == ""


def test_an_error_is_shown_once_and_a_warning_at_once(plain):
    plain.warn("take care")
    assert said(plain) == "take care\n"
    plain.error("no disk")
    plain.error("no disk")
    plain.close()
    plain.close()  # Snakemake closes handlers more than once
    assert said(plain) == "take care\n\nno disk\n"


def test_a_quiet_one_shows_only_warnings_and_errors():
    quiet = Console(io.StringIO(), terminal=True, quiet=True)
    quiet.say("something")
    quiet.start({"data": 1})
    begin(quiet, 1, "data")
    quiet.warn("take care")
    quiet.end(1)
    quiet.close()
    assert said(quiet) == "take care\n"


def test_a_dry_run_is_summed_up_and_a_short_one_listed_with_reasons():
    short, long = (Console(io.StringIO(), terminal=False, dry=True) for _ in range(2))
    short.start({"data": 1, "index": 2})
    begin(short, 1, "data")
    long.start({"encode": 500})
    begin(long, 1, "encode", scatteritem="1-of-500")
    for console in (short, long):
        console.close()
    assert said(short).splitlines() == [
        "       1  data",
        "       2  index",
        "3 jobs would run; VERBOSE=1 lists them",
        "  data: missing",
    ]
    assert said(long).splitlines() == ["     500  encode", "500 jobs would run; VERBOSE=1 lists them"]


def test_on_a_terminal_the_last_line_is_live_cut_to_the_width_and_erased(clock, tmp_path):
    console = Console(io.StringIO(), terminal=True, width=60, clock=clock)
    file = tmp_path / "encode.log"
    (tmp_path / "encode.log.progress").write_text("encode 1-of-2 45 %, 00:09 left")
    console.start({"encode": 2})
    begin(console, 1, "encode", log=str(file), model="paper", scatteritem="1-of-2")
    live = said(console).rpartition("\x1b[K")[2].rpartition("\n")[2]
    assert live.startswith("    0:00  0 of 2: encode paper/1-of-2 (encode 1-of-2 45 %") and len(live) == 59
    console.close()
    assert said(console).endswith("\r\x1b[K0 jobs done in 0:00\n")


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3600, "1:00:00"), (90061, "25:01:01")]
)
def test_times_are_short(seconds, shown):
    assert duration(seconds) == shown


def test_a_job_without_a_bar_shows_none(tmp_path):
    assert progress_of(None) == progress_of(str(tmp_path / "x.log")) == ""


def test_jobs_and_screen_agree_on_the_words_between_them():
    assert (module.ERROR, module.BAR, plugin.SCREEN) == (log.ERROR, log.BAR, log.SCREEN)


SETTINGS = {
    "stdout": False,
    "verbose": False,
    "printshellcmds": False,
    "debug_dag": False,
    "dryrun": False,
    "nocolor": True,
    "quiet": set(),
}


@pytest.fixture
def handler(monkeypatch, capsys):
    """The plugin's handler, and a function that gives it a record of Snakemake's."""
    monkeypatch.setenv(plugin.SCREEN, "")

    def made(**settings):
        found = plugin.LogHandler(SimpleNamespace(**SETTINGS | {"show_failed_logs": False} | settings), None)

        def tell(text="", level=logging.INFO, **facts):
            record = logging.LogRecord("snakemake", level, "", 0, text, (), None)
            vars(record).update(facts)
            found.handle(record)

        return found, tell

    return made


JOB = {"rule_name": "train", "wildcards": {"experiment": "smoke", "model": "paper"}, "log": ["x.log"], "reason": "missing"}


def test_snakemake_s_events_become_lines(handler, capsys, monkeypatch):
    monkeypatch.delenv("VERBOSE", raising=False)
    found, tell = handler()
    tell("Building DAG of jobs...")
    tell(event=LogEvent.RUN_INFO, stats={"train": 1, "total": 1})
    tell(event=LogEvent.JOB_INFO, jobid=7, **JOB)
    tell(event=LogEvent.JOB_FINISHED, job_id=7)
    found.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 job to run" and "train" in lines[1] and lines[2].startswith("1 job done in ")


def test_an_error_of_snakemake_s_loses_the_name_of_its_class(handler, capsys, monkeypatch):
    monkeypatch.delenv("VERBOSE", raising=False)
    found, tell = handler()
    tell("WorkflowError:\nthis machine lacks a GPU", logging.ERROR, event=LogEvent.ERROR, exception="WorkflowError")
    found.close()
    assert capsys.readouterr().err == "\nthis machine lacks a GPU\n"


def test_verbose_shows_what_snakemake_itself_would(handler, capsys, monkeypatch):
    monkeypatch.setenv("VERBOSE", "1")
    found, tell = handler()
    tell("Building DAG of jobs...")
    found.close()
    assert capsys.readouterr().err == "Building DAG of jobs...\n"


FRAMES = """OSError in file "/x/Snakefile", line 31:
[Errno 28] No space left on device
  File "/usr/lib/python3.11/tempfile.py", line 509, in close
  File "/usr/lib/python3.11/tempfile.py", line 443, in close"""
TRACEBACK = """Traceback (most recent call last):

  File "/x/snakemake/jobs.py", line 806, in remove_existing_output
    await f.remove(remove_non_empty_dir=False)

NotADirectoryError: [Errno 20] Not a directory: 'results/smoke/data/manifest.json'"""


def test_a_traceback_of_snakemake_s_is_its_reason_alone(plain):
    plain.error(FRAMES)
    plain.error(TRACEBACK)
    plain.close()
    assert said(plain).split("\n\n") == [
        "\nSnakemake failed, a disk is full: No space left on device; it writes here, to HOME and to TMPDIR: "
        "free space (df -h) or files (df -i) there, and run again: what is finished stays\n".removesuffix("\n"),
        "Snakemake failed: Not a directory: 'results/smoke/data/manifest.json'; its own account is in .snakemake/log\n",
    ]


@pytest.mark.parametrize(
    "text", ["No rule to produce x", "Missing input files for rule data:\n    output: x\n    affected files:\n        y"]
)
def test_an_error_without_a_traceback_stays_as_it_is(text):
    assert module.reason_alone(text) == text


def test_a_job_without_a_word_on_a_full_disk_is_explained(tmp_path, monkeypatch):
    assert "it may have been killed" in reason_of([str(tmp_path / "not" / "there.log")])
    full = SimpleNamespace(f_bavail=0, f_frsize=4096, f_files=10, f_favail=5)
    monkeypatch.setattr(module.os, "statvfs", lambda path: full)
    assert reason_of([str(tmp_path / "not" / "there.log")]).startswith("the disk is full where its log is: free space")
    full.f_bavail, full.f_favail = 10**6, 0
    assert reason_of([str(tmp_path / "not" / "there.log")]).startswith("the disk is full where its log is: free space")
    full.f_files = 0  # of a file system that does not count them
    assert "it may have been killed" in reason_of([str(tmp_path / "not" / "there.log")])
