"""Processes ended without warning: a job, Snakemake, both, the whole group; from a job's first moment on; and two runs at once."""

import os
import random
import signal
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.faults.folder import Folder
from tests.faults.outcome import SILENT, SURVIVED, Outcome, Trial, judged

LATE = ("rerank", "evaluate", "rows")
AGAIN = {  # what is made again, by the stage that is disturbed
    "index": ("index", "retrieve", "train", "encode", "prune", "weigh", "tune", *LATE),
    "train": ("train", "encode", "prune", "weigh", "tune", *LATE),
    "encode": ("encode", "prune", *LATE),
    "weigh": ("weigh", "tune", *LATE),
    "rerank": LATE,
}
KILLS = [
    ("job", "train", "run"),
    ("job", "rerank", "snakemake"),
    ("snakemake", "encode", "run"),
    ("snakemake", "rerank", "snakemake"),
    ("both", "weigh", "run"),
    ("both", "encode", "snakemake"),
    ("group", "rerank", "run"),
    ("group", "train", "run"),
]


def trials(base: Folder, place: Path) -> list[Trial]:
    """List all trials."""
    whole, found = base.results(), []
    for number, (what, stage, by) in enumerate(KILLS):
        doing = partial(killed, base, place / f"kill-{number}", whole, what, stage, by, number)
        found.append(Trial(f"kill -9 of {what}", f"{stage}, by {by}", doing))
    for stage in ("index", "encode", "rerank"):
        doing = partial(killed, base, place / f"orphan-{stage}", whole, "snakemake", stage, "run", None)
        found.append(Trial("kill -9 in a job's first moment", stage, doing))
    for number, pair in enumerate([("run", "run"), ("run", "snakemake"), ("snakemake", "run"), ("snakemake", "snakemake")]):
        found.append(Trial("two runs at once", " and ".join(pair), partial(twice, base, place / f"two-{number}", whole, *pair)))
    return found


def killed(base: Folder, path: Path, whole: dict, what: str, stage: str, by: str, number: int | None) -> Outcome:
    """Kill at a random moment of a stage, or at its very first; all must end, and the next run must be right."""
    folder = base.copied(path)
    folder.forget(*AGAIN[stage])
    run = folder.start(by=by)
    if not folder.wait_for(run, lambda: folder.process(f".{stage}.py")):
        return Outcome(SILENT, f"{stage} never began: {run.communicate()[0][-500:]}")
    if number is not None:
        time.sleep(random.Random(number).random() * 1.5)
    job = folder.process(f".{stage}.py") or folder.process(".py")
    if what in ("job", "both") and job:
        with suppress(ProcessLookupError):
            os.kill(job, signal.SIGKILL)
    if what in ("snakemake", "both"):
        os.kill(run.pid, signal.SIGKILL)  # the shell of run.sh has become Snakemake
    if what == "group":
        os.killpg(run.pid, signal.SIGKILL)
    run.communicate(timeout=300)
    if not folder.is_quiet(20):
        return Outcome(SILENT, "a job lives on without its Snakemake")
    return judged(folder.run(by=by), folder.results() == whole)


def twice(base: Folder, path: Path, whole: dict, first: str, second: str) -> Outcome:
    """Start a second run while the first is at work: it must be refused and disturb nothing."""
    folder = base.copied(path)
    folder.forget(*AGAIN["rerank"])
    run = folder.start(by=first)
    if not folder.wait_for(run, lambda: folder.process(".py") and (folder.path / "results/.run.lock").exists()):
        return Outcome(SILENT, f"no job began: {run.communicate()[0][-500:]}")
    told = folder.run(by=second)
    if told.code == 0 or f"process {run.pid} " not in told.screen:
        return Outcome(SILENT, f"the second run was not refused: {told.screen[-500:]}")
    said, _ = run.communicate(timeout=600)
    if run.returncode or folder.results() != whole:
        return Outcome(SILENT, f"the first run was disturbed: {said[-500:]}")
    return Outcome(SURVIVED, told.screen.strip().splitlines()[-1])
