"""`make test-slurm`: the whole smoke run on a Slurm cluster of two nodes on this machine, with a job cancelled in the middle.

    python -m tests.slurm [--local FOLDER]

Needs root. FOLDER is `results/smoke` of a local run of the same code; without it one is made first, of the rows alone.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import yaml

from tests.conftest import ROOT, copy_repository
from tests.slurm.cluster import CPUS, NAME, ask, cluster, wait_for
from tests.slurm.jobs import jobs_of

FETCHING = {"data", "queries", "fetch", "encoder", "triples", "statistics"}
ENVIRONMENT = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def check(holds: bool, says: str) -> None:
    """One line of the summary; what does not hold ends the test."""
    print(f"  {'ok  ' if holds else 'FAIL'}  {says}", flush=True)
    if not holds:
        raise SystemExit(1)


def snakemake(folder: Path, log: Path, *arguments) -> subprocess.Popen:
    """Snakemake, started in a copy of the repository; all it says is in `log`."""
    with log.open("w") as out:
        return subprocess.Popen(["snakemake", *arguments], cwd=folder, env=ENVIRONMENT, stdout=out, stderr=subprocess.STDOUT)


@contextmanager
def ending(run: subprocess.Popen):
    """A run that is told to end if the test is left before it has; Snakemake then cancels its jobs."""
    try:
        yield run
    finally:
        if run.poll() is None:
            run.terminate()
            run.wait(timeout=120)


def run_locally(copy: Path, log: Path) -> None:
    """Make the rows, and what they need, on this machine."""
    names = [row["id"] for row in yaml.safe_load((ROOT / "workflow/experiments/smoke.yaml").read_text())["rows"]]
    targets = [f"results/smoke/rows/{name}.json" for name in names]
    start = time.monotonic()
    with ending(snakemake(copy, log, *targets, "--cores", "all")) as run:
        check(run.wait(timeout=1800) == 0, f"a local run made the rows to compare with, in {time.monotonic() - start:.0f} s")


def cancel_a_training(run: subprocess.Popen, results: Path) -> tuple[int, str]:
    """Cancel the Slurm job of a model in training, after its first validation; Slurm's number, and the model."""

    def validated():
        if run.poll() is not None:
            raise SystemExit("the run ended before any training was validated")
        return list(results.glob("state/train/*/*/iteration-00001"))

    wait_for(validated, 900, "the first validation of a training")
    model = validated()[0].parts[-3]
    running = dict(line.split("|") for line in ask("squeue", "--noheader", "--states=running", "--format=%k|%i").splitlines())
    job = running[f"rule_train_wildcards_smoke_{model}"]
    ask("scancel", job)
    return int(job), model


def check_jobs(jobs: list, cancelled: int, log: str) -> None:
    """Was everything where it should be, and was the cancelled job submitted again?"""
    rules, nodes, by_id = Counter(job.rule for job in jobs), Counter(job.node for job in jobs), {job.id: job for job in jobs}
    print(f"  jobs on Slurm: {len(jobs)} ({', '.join(f'{rule} {count}' for rule, count in sorted(rules.items()))})")
    check(not FETCHING & set(rules), "rules that fetch stayed on the submitting host")
    check(set(nodes) == {"n1", "n2"}, f"both nodes worked: {', '.join(f'{node} {nodes[node]} jobs' for node in sorted(nodes))}")
    others = {job.state for job in jobs if job.id != cancelled}
    check(by_id[cancelled].state == "CANCELLED" and others == {"COMPLETED"}, "one job was cancelled, all others completed")
    again = [job.id for job in jobs if job.number == by_id[cancelled].number and job.id != cancelled]
    check(len(again) == 1, f"the cancelled job {cancelled} was submitted again, as {again}")
    check("going on after iteration 1" in log, "and went on after its last validation")
    check_alone(jobs)


def check_alone(jobs: list) -> None:
    """A measurement must have all CPUs of its node, those too that it did not ask for, and nothing beside it."""
    timed = [job for job in jobs if job.rule == "latency"]
    beside = [(one.id, job.id) for one in timed for job in jobs if job.id != one.id and one.beside(job)]
    alone = {job.cpus for job in timed} == {CPUS} and not beside
    check(alone, f"{len(timed)} measurements had a node for themselves")


def check_rows(ours: Path, local: Path) -> None:
    """Rows of both runs, byte for byte."""
    names = [sorted(path.name for path in folder.glob("*.json")) for folder in (local, ours)]
    check(names[0] == names[1] and len(names[0]) > 20, f"both runs have the same {len(names[0])} rows")
    different = [name for name in names[0] if (ours / name).read_bytes() != (local / name).read_bytes()]
    check(not different, f"{len(names[0]) - len(different)} of {len(names[0])} rows are equal byte for byte {different or ''}")


def check_gpu(copy: Path, folder: Path) -> None:
    """A job that asks for a GPU must land on the node that has one, not on the first; the job itself uses none."""
    target = ("--force", "results/smoke/weigh/paper/test.jsonl")
    with ending(
        snakemake(copy, folder / "gpu.log", *target, "--profile", "profiles/slurm", "--set-resources", "weigh:gpu=1")
    ) as run:
        check(run.wait(timeout=300) == 0, "one job was made again, with gpu=1")
    jobs = jobs_of((folder / "gpu.log").read_text(), folder / "cluster/jobs.txt")
    check([job.node for job in jobs] == ["n2"], "and ran on n2, the node with a GPU")


def run_on_slurm(copy: Path, folder: Path) -> None:
    """Run the smoke experiment on a cluster, disturb it, and check what happened."""
    results, log, start = copy / "results/smoke", folder / "slurm.log", time.monotonic()
    (folder / "cluster").mkdir()
    with cluster(folder / "cluster"):
        print(f"  two nodes were ready after {time.monotonic() - start:.0f} s", flush=True)
        start = time.monotonic()
        run = snakemake(copy, log, "smoke", "--profile", "profiles/slurm")
        with ending(run):
            cancelled, model = cancel_a_training(run, results)
            print(f"  training of {model} cancelled after {time.monotonic() - start:.0f} s: scancel {cancelled}", flush=True)
            check(run.wait(timeout=3600) == 0, f"smoke ran through the executor in {time.monotonic() - start:.0f} s")
        trained = (results / f"logs/train/{model}.log").read_text()
        check_jobs(jobs_of(log.read_text(), folder / "cluster/jobs.txt"), cancelled, trained)
        check_gpu(copy, folder)


def main() -> None:
    """Run everything; the folder with all logs is kept if something fails."""
    parser = argparse.ArgumentParser(prog="make test-slurm")
    parser.add_argument("--local", type=Path, metavar="FOLDER", help="results/smoke of a local run of the same code")
    given = parser.parse_args().local
    if os.geteuid():
        raise SystemExit("make test-slurm installs and starts Slurm: it needs root")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to end"))  # as an exception, so that what was started is stopped
    folder, start = Path(tempfile.mkdtemp(prefix=f"{NAME}-")), time.monotonic()
    print(f"Slurm test in {folder}", flush=True)
    slurm, local = (copy_repository(folder / name) for name in ("slurm", "local"))
    if not given:
        run_locally(local, folder / "local.log")
    run_on_slurm(slurm, folder)
    check_rows(slurm / "results/smoke/rows", (given or local / "results/smoke") / "rows")
    shutil.rmtree(folder)
    print(f"passed in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
