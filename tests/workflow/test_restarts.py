"""Jobs and Snakemake ended without warning, shards cut off, stores written over: the next run repairs what is needed.

Each time the rows must have the very bytes of a run that nothing disturbed. A random encoder of 8 dimensions keeps it short.
"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from epic.core.files import sha256_of
from epic.core.run_lock import NAME, take
from tests.conftest import ROOT, TINY

pytestmark = pytest.mark.smoke
ROWS = [f"results/mine/rows/epic-bm25-{kept}.json" for kept in ("full", "r25", "r20")]  # 20 is a layer of the shards, 25 is not
RUN, SNAKEMAKE = (ROOT / "workflow/run.sh",), ("snakemake",)
SHARDS = [f"results/mine/encode/paper/{i}-of-2" for i in (1, 2)]
LATE = ("prune", "rerank", "evaluate", "rows")  # what follows encoding


def experiment(encoder) -> dict:
    """A copy of smoke, pointed to a folder: one model on the random encoder, two shards and three rows."""
    text = (ROOT / "workflow/experiments/smoke.yaml").read_text()
    settings = yaml.safe_load(text.replace("path:workflow/resources/tiny", "path:own"))
    settings["first_stages"], settings["weighters"] = settings["first_stages"][:1], []
    model = settings["models"][0]
    settings["encoders"][0] |= {"source": f"path:{encoder}", "sha256": sha256_of(encoder / "model.safetensors")}
    settings["models"], settings["comparisons"] = [model], []
    product = next(row for row in settings["rows"] if "for" in row)
    settings["rows"] = [product | {"for": {"model": ["paper"], "first_stage": ["bm25"], "keep": ["full", 25, 20]}}]
    settings["train"] |= {"validate_every": 32, "max_validations": 3}
    settings["encode"] |= {"shards": 2, "keep": [20, 30]}
    return settings


class Folder:
    """A working directory with an experiment in it."""

    def __init__(self, path: Path, encoder):
        self.path = path
        (path / "experiments").mkdir()
        (path / "experiments/mine.yaml").write_text(yaml.safe_dump(experiment(encoder)))

    def start(self, *targets, by=RUN):
        command = [*by, *targets, "--snakefile", ROOT / "Snakefile", "--cores", "2"]
        return subprocess.Popen(
            list(map(str, command)), cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def run(self, *targets, **how) -> str:
        """Run to the end, as `make` does, and return what was said."""
        process = self.start(*targets, **how)
        said, _ = process.communicate(timeout=1800)
        assert process.returncode == 0, said[-5000:]
        assert not (self.path / "results" / NAME).exists()
        return said

    def refused(self, **how) -> str:
        """Run, to be refused; return the last line."""
        process = self.start(*ROWS, **how)
        said, _ = process.communicate(timeout=300)
        assert process.returncode == 1 and "Traceback" not in said and "Error" not in said, said
        return said.splitlines()[-1]

    def kill(self, what: str, once: str = "", **how) -> None:
        """Start a run and end a process of it without warning, once it, or another one, is there."""
        process, deadline = self.start(*ROWS, **how), time.monotonic() + 1200
        while self.process(once or what) is None:
            assert process.poll() is None and time.monotonic() < deadline, process.communicate()[0][-3000:]
            time.sleep(0.05)
        os.kill(self.process(what), signal.SIGKILL)
        process.communicate(timeout=300)
        assert process.returncode != 0

    def process(self, what: str) -> int | None:
        """A process in this folder: Snakemake itself, or the job of a stage."""
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().decode().split("\0")
                if os.readlink(process / "cwd") == str(self.path) and any(part.endswith(what) for part in command):
                    return int(process.name)
            except OSError:
                continue
        return None

    def rows(self) -> list[bytes]:
        return [(self.path / row).read_bytes() for row in ROWS]

    def forget(self, *stages) -> None:
        for stage in stages:
            shutil.rmtree(self.path / "results/mine" / stage)

    def shard_times(self) -> list[int]:
        return [(self.path / shard / "header.json").stat().st_mtime_ns for shard in SHARDS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_encoder):
    """A finished run that nothing disturbed, with the rows it made."""
    path = tmp_path_factory.mktemp("restarts")
    shutil.copytree(TINY, path / "own")
    found = Folder(path, tiny_encoder)
    found.run(*ROWS)
    found.undisturbed = found.rows()
    return found


def test_a_copied_experiment_runs_on_a_folder_of_ones_own(folder):
    manifest = json.loads((folder.path / "results/mine/data/manifest.json").read_text())
    assert manifest["documents"] == "path:own" and manifest["sha256"] == sha256_of(folder.path / "own/docs.tsv")
    for row in map(json.loads, folder.undisturbed):
        assert row["metrics"]["test"]["queries"] == 58 and 0 < row["metrics"]["test"]["RR@10"] < 1


def test_training_a_shard_and_snakemake_itself_are_killed_one_after_the_other(folder):
    folder.forget("train", "encode", "weigh", "tune", *LATE)
    folder.kill(".train.py")
    folder.kill(".encode.py")
    folder.kill("snakemake", once=".encode.py")
    assert "ended without removing it" in folder.run(*ROWS)
    assert folder.rows() == folder.undisturbed


def test_snakemake_alone_goes_on_by_itself_too_and_its_jobs_ended_with_it(folder):
    folder.forget(*LATE)
    folder.kill("snakemake", once=".rerank.py", by=SNAKEMAKE)
    deadline = time.monotonic() + 20
    while folder.process(".rerank.py"):
        assert time.monotonic() < deadline, "a job lives on without its Snakemake"
        time.sleep(0.05)
    assert json.loads((folder.path / "results" / NAME).read_text())["number"]
    assert "ended without removing it" in folder.run(*ROWS, by=SNAKEMAKE)
    assert folder.rows() == folder.undisturbed


@pytest.mark.parametrize("by", [SNAKEMAKE, RUN], ids=["snakemake", "make"])
def test_a_run_on_another_host_is_not_disturbed(folder, by):
    folder.forget(*LATE)
    lock = folder.path / "results" / NAME
    take(folder.path / "results")
    lock.write_text(json.dumps(json.loads(lock.read_text()) | {"host": "elsewhere", "number": 4711}))
    said = folder.refused(by=by)
    assert said.startswith("another run may be at work in this folder: process 4711 on host elsewhere, since 20")
    assert said.endswith(
        "holds results/.run.lock, and it cannot be seen from here whether it has ended; wait for it, or, if "
        "you are sure that it has ended, remove that file"
    )
    assert json.loads(lock.read_text())["number"] == 4711 and not (folder.path / "results/mine/rerank").exists()
    lock.unlink()
    folder.run(*ROWS, by=by)
    assert folder.rows() == folder.undisturbed


@pytest.mark.parametrize("by", [SNAKEMAKE, RUN], ids=["snakemake", "make"])
def test_a_second_run_is_refused_whoever_starts_it_and_the_first_goes_on(folder, by):
    folder.forget(*LATE)
    first, deadline = folder.start(*ROWS, by=SNAKEMAKE if by == RUN else RUN), time.monotonic() + 300
    while not folder.process(".rerank.py"):
        assert first.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    assert folder.refused(by=by).startswith(f"another run is at work in this folder: process {first.pid} on host ")
    said, _ = first.communicate(timeout=600)
    assert first.returncode == 0, said
    assert folder.rows() == folder.undisturbed


def test_a_shard_that_is_cut_off_is_encoded_again_and_no_other(folder):
    folder.forget(*LATE)
    before = folder.shard_times()
    os.truncate(folder.path / SHARDS[1] / "30/weights.f16", 100)
    said = folder.run(*ROWS)
    assert "2-of-2/30/weights.f16 has 100 bytes; " in said
    after = folder.shard_times()
    assert after[0] == before[0] and after[1] != before[1]
    assert folder.rows() == folder.undisturbed


def test_a_shard_that_is_gone_is_encoded_again_for_a_row_whose_store_only_names_it(folder):
    folder.forget("rerank", "evaluate", "rows")
    before = folder.shard_times()
    shutil.rmtree(folder.path / SHARDS[0])
    folder.run(*ROWS)
    after = folder.shard_times()
    assert after[0] != before[0] and after[1] == before[1] and folder.rows() == folder.undisturbed


def test_a_store_that_was_written_over_is_gathered_again_and_nothing_is_encoded(folder):
    folder.forget("rerank", "evaluate", "rows")
    before, weights = folder.shard_times(), folder.path / "results/mine/prune/paper/25/weights.f16"
    with open(weights, "r+b") as stream:
        stream.write(b"\xff\x3b")
    said = folder.run(*ROWS)
    assert "prune/paper/25/weights.f16 has other content than was written" in said
    assert folder.shard_times() == before and folder.rows() == folder.undisturbed


@pytest.mark.parametrize(
    ("stage", "changes", "rerun"),
    [
        ("encode", {"token_budget": 777, "vocabulary_block": 99}, False),
        ("train", {"validation_token_budget": 777}, False),
        ("compute", {"threads": 2}, True),
    ],
)
def test_how_much_is_computed_at_a_time_reruns_nothing_and_what_is_computed_does(folder, stage, changes, rerun):
    path = folder.path / "experiments/mine.yaml"
    text, settings = path.read_text(), yaml.safe_load(path.read_text())
    settings[stage] |= changes
    try:
        path.write_text(yaml.safe_dump(settings))
        said = folder.run(*ROWS, "--dry-run", by=SNAKEMAKE)
    finally:
        path.write_text(text)
    assert ("Nothing to be done" in said) != rerun and ("encode" in said) == rerun, said


def test_a_copied_folder_reruns_nothing_and_goes_on_by_itself(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(folder.path, elsewhere, symlinks=True)  # with its times
    there = Folder.__new__(Folder)
    there.path = elsewhere
    assert "Nothing to be done" in there.run(*ROWS, "--dry-run", by=SNAKEMAKE)
    queries = elsewhere / "own/queries.test.tsv"
    queries.write_text(queries.read_text() + "new\tanother query\n")
    said = there.run(*ROWS, "--dry-run", by=SNAKEMAKE)
    assert "retrieve" in said and "train" not in said and "encode" not in said, said


def test_damage_that_nothing_needs_any_more_repeats_nothing(folder):
    os.truncate(folder.path / SHARDS[0] / "30/weights.f16", 100)
    assert "Nothing to be done" in folder.run(*ROWS)
    assert folder.rows() == folder.undisturbed
