"""A run on the screen: one line a stage, what runs now, and at the end what went wrong, alone.

Snakemake's own account of every job goes to its log. On a terminal the last line is live; elsewhere there are plain lines only.
This package imports nothing of `epic`: Snakemake loads it before it knows which copy of the repository it runs.
"""

import os
import re
import threading
import time
from pathlib import Path
from typing import NamedTuple

PLAIN_WIDTH = 100  # columns where there is no terminal
SHOWN = 12  # jobs of a dry-run that are listed one by one
ERROR, BAR = "error: ", ".progress"  # as in epic/core/log.py: the last line of a failed job's log; where its progress bar is
LAST_LINES = 15  # of the log of a job that ended without a word of ours
SPEECHLESS = "it ended without a reason"
LITTLE = 1 << 16  # bytes that are too few for a log
FRAME = re.compile(r'(Traceback \(most recent call last\):$|\s*File ".*", line \d+|\s{2,}\S)')  # lines of a traceback
TITLE = re.compile(r'^[\w.]*(Error|Exception|Interrupt)( in file ".*", line \d+)?:\s*')
FULL = ("No space left on device", "Disk quota exceeded")
FREE = "free space (df -h) or files (df -i) there, and run again: what is finished stays"


class RunningJob(NamedTuple):
    """A job as the screen names it."""

    stage: str
    label: str
    log: str | None
    reason: str
    since: float


class Console:
    """The lines of one run; if it is quiet, only warnings and errors. All methods may be called from any thread."""

    def __init__(
        self, stream, terminal: bool, width: int = PLAIN_WIDTH, dry: bool = False, quiet: bool = False, clock=time.monotonic
    ):
        self.stream, self.terminal, self.width, self.dry, self.quiet, self.clock = stream, terminal, width, dry, quiet, clock
        self.begun, self.wanted, self.done, self.seconds = clock(), {}, {}, {}
        self.jobs: dict[int, RunningJob] = {}  # begun and not ended
        self.planned: list[RunningJob] = []  # of a dry-run
        self.failures: list[str] = []
        self.errors: list[str] = []
        self.refusals: list[str] = []
        self.remarks: list[str] = []
        self.held: list[str] = []  # what was said before any job, for commands that run none
        self._lock, self._live, self._closed = threading.RLock(), "", threading.Event()
        if terminal and not dry and not quiet:
            threading.Thread(target=self._tick, daemon=True).start()

    def start(self, counts: dict[str, int]) -> None:
        """Say how many jobs there are; `counts`: by stage."""
        with self._lock:
            if not self.wanted:
                self.wanted, self.held = dict(counts), []
                self._remark()
                if not self.dry and not self.quiet:
                    self._line(f"{count_of(sum(counts.values()))} to run")

    def job(self, number: int, stage: str, wildcards: dict[str, str], log: str | None, reason: str) -> None:
        """Take note of a job that begins, or that a dry-run lists."""
        label = "/".join(value for name, value in wildcards.items() if name != "experiment")
        job = RunningJob(stage, f"{stage} {label}".strip(), log, reason, self.clock())
        with self._lock:
            if self.dry:
                self.planned.append(job)
            else:
                self.jobs[number] = job
                self._draw()

    def end(self, number: int) -> None:
        """Take note of a job that ended well; the last one of a stage writes the stage's line."""
        with self._lock:
            job = self.jobs.pop(number, None)
            if job is None:
                return
            self.done[job.stage] = self.done.get(job.stage, 0) + 1
            self.seconds[job.stage] = self.seconds.get(job.stage, 0.0) + self.clock() - job.since
            if self.done[job.stage] == self.wanted.get(job.stage) and not self.quiet:
                count, took = count_of(self.done[job.stage]), duration(self.seconds[job.stage])
                now = "" if self.terminal or not self.jobs else f"   now: {self._running()}"
                at = duration(self.clock() - self.begun)
                self._line(f"{at:>8}  {job.stage:<12} {count:>9} {took:>8}{now}")
            self._draw()

    def fail(self, number: int, stage: str, logs: list[str]) -> None:
        """Take note of a job that failed."""
        with self._lock:
            job = self.jobs.pop(number, None)
            label = job.label if job else stage
            self.failures.append(f"{label} failed{f'; its log is {logs[0]}' if logs else ''}\n\n{reason_of(logs)}")

    def say(self, text: str) -> None:
        """Take note of what Snakemake says by the way; shown only if no job is to be run."""
        with self._lock:
            if text and not self.wanted:
                self.held.append(text)

    def warn(self, text: str) -> None:
        """Show a warning at once."""
        with self._lock:
            self._line(text)

    def remark(self, text: str) -> None:
        """Keep a warning that stands above the jobs to run, and is not worth a line where the command is refused."""
        with self._lock:
            if text not in self.remarks:
                self.remarks.append(text)

    def _remark(self) -> None:
        while self.remarks:
            self._line(self.remarks.pop(0))

    def error(self, text: str) -> None:
        """Keep an error for the end; its traceback is in Snakemake's log."""
        text = reason_alone(text)
        with self._lock:
            if text not in self.errors:
                self.errors.append(text)

    def refuse(self, text: str) -> None:
        """Keep our own reason for an error that Snakemake is about to report with a traceback around it."""
        with self._lock:
            if text not in self.refusals:
                self.refusals.append(text)

    def close(self) -> None:
        """Write the last lines: how it ended, and what is wrong, if something is."""
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
            self._erase()
            wrong = self.failures or (self.errors and self.refusals) or self.errors  # our own words, if there are any
            if not wrong:
                self._remark()
            if self.quiet:
                pass
            elif self.dry and self.wanted:
                self._plan()
            elif self.wanted and not wrong:
                self._line(f"{count_of(sum(self.done.values()))} done in {duration(self.clock() - self.begun)}")
            elif not wrong:
                for text in self.held:
                    self._line(text)
            for text in wrong:
                self.stream.write(f"\n{text}\n")
            self.stream.flush()

    def _plan(self) -> None:
        """Sum up a dry-run; list the jobs and why they would run if they are few."""
        total = sum(self.wanted.values())
        for stage, count in self.wanted.items():
            self._line(f"{count:>8}  {stage}")
        self._line(f"{count_of(total)} would run; VERBOSE=1 lists them")
        for job in self.planned if total <= SHOWN else ():
            self._line(f"  {job.label}: {job.reason}")

    def _running(self) -> str:
        """Name the jobs that run now, with their progress where they tell it."""
        return ", ".join(f"{job.label}{progress_of(job.log)}" for job in self.jobs.values())

    def _draw(self) -> None:
        """Write the live line again."""
        if self.terminal and not self.quiet and not self._closed.is_set():
            ended, total = sum(self.done.values()), sum(self.wanted.values())
            text = f"{duration(self.clock() - self.begun):>8}  {ended} of {total}: {self._running()}"
            self._erase()
            self._live = text[: self.width - 1]
            self.stream.write(self._live)
            self.stream.flush()

    def _erase(self) -> None:
        if self._live:
            self.stream.write("\r\x1b[K")
            self._live = ""

    def _line(self, text: str) -> None:
        self._erase()
        self.stream.write((text if "\n" in text or self.terminal else text[: self.width]) + "\n")
        self.stream.flush()

    def _tick(self) -> None:
        while not self._closed.wait(1.0):
            with self._lock:
                if self.jobs:
                    self._draw()


def count_of(jobs: int) -> str:
    """Return a number of jobs in words."""
    return f"{jobs} job{'s' * (jobs != 1)}"


def duration(seconds: float) -> str:
    """Return a time as hours, minutes and seconds, as far as they are needed."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def progress_of(log: str | None) -> str:
    """Return what a job's progress bar says, if there is one beside its log."""
    try:
        return f" ({text})" if log and (text := Path(log + BAR).read_text(encoding="utf-8").strip()) else ""
    except (OSError, UnicodeDecodeError):
        return ""


def reason_alone(text: str) -> str:
    """Return an error of Snakemake's as it is, but without a traceback; where there was one, the reason needs a word of ours."""
    lines = [line for line in text.splitlines() if line.strip()]
    kept = [line for line in lines if not FRAME.match(line)]
    if len(kept) == len(lines) or not any("File " in line for line in lines if FRAME.match(line)):
        return text
    reason = re.sub(r"\[Errno \d+\] ", "", TITLE.sub("", "\n".join(kept)))
    if any(words in reason for words in FULL):
        return f"Snakemake failed, a disk is full: {reason}; it writes here, to HOME and to TMPDIR: {FREE}"
    return f"Snakemake failed: {reason}; its own account is in .snakemake/log"


def is_full(path: str) -> bool:
    """Tell whether nothing can be written where a file is or should be."""
    folder = Path(path).absolute().parent
    while not folder.exists():
        folder = folder.parent
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    return found.f_bavail * found.f_frsize < LITTLE or (found.f_files > 0 and found.f_favail == 0)


def reason_of(logs: list[str]) -> str:
    """Return the reason at the end of a failed job's log, or its last lines if the job was ended without a word."""
    reason = _written_in(logs)
    full = next((log for log in logs if is_full(log)), None) if SPEECHLESS in reason else None
    return f"the disk is full where its log is: {FREE}" if full else reason


def _written_in(logs: list[str]) -> str:
    for log in logs:
        try:
            text = Path(log).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        _, found, reason = ("\n" + text).rpartition("\n" + ERROR)
        if found:
            return reason.strip()
        if text.strip():
            return "\n".join([f"{SPEECHLESS}; the last lines of its log:", *text.splitlines()[-LAST_LINES:]])
    return f"{SPEECHLESS} and left no log: if it said nothing above, it may have been killed, by a lack of memory for instance"
