"""The screen of a real Snakemake: a summary of a dry run, and a user's error as the last thing, alone."""

import os
import platform
import shutil

import pytest

from epic.core.run_lock import take
from tests.conftest import ROOT, TINY, snakemake

SMOKE = (ROOT / "workflow" / "experiments" / "smoke.yaml").read_text()
FRAMING = ("Traceback", "  File ", "WorkflowError", "InputFunctionException", "rule ")


def shown(*arguments, directory):
    """Exit code and lines of the screen, without the line on the profile that Snakemake prints before it asks any plugin."""
    run = snakemake(*arguments, directory=directory, VERBOSE="")
    return run.returncode, [line for line in run.stdout.splitlines() if not line.startswith("Using workflow specific profile")]


@pytest.fixture
def mine(tmp_path):
    """A folder with an experiment `mine` on a copy of the embedded collection, and a function that writes it anew."""
    shutil.copytree(TINY, tmp_path / "tiny")
    (tmp_path / "experiments").mkdir()

    def written(old="", new=""):
        text = SMOKE.replace("path:workflow/resources/tiny", f"path:{tmp_path}/tiny").replace(old, new, 1)
        (tmp_path / "experiments" / "mine.yaml").write_text(text)

    written()
    return written


def test_a_dry_run_of_the_paper_is_a_summary(tmp_path):
    code, lines = shown("--dry-run", directory=tmp_path)
    assert code == 0 and len(lines) < 45 and lines[-1] == "488 jobs would run; VERBOSE=1 lists them"
    assert "      48  encode" in lines and "       8  latency" in lines


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "results/smok/table.md",
            "there is no experiment smok; there are covid-dph, covid, mini-seeds, mini, paper, quick-bm25, quick, smoke",
        ),
        ("results/smoke/rows/bm26.md", "smoke: there is no row bm26; there are bm25, doc2query"),
    ],
)
def test_what_does_not_exist_is_named_alone(target, said, tmp_path):
    code, lines = shown(target, "--dry-run", directory=tmp_path)
    assert code and lines[0] == "" and lines[1].startswith(said) and len(lines) == 2


def test_a_mistake_in_an_experiment_is_named_alone(mine, tmp_path):
    mine("batch_size: 16", "batch_sise: 16")
    code, lines = shown("results/mine/data/manifest.json", "--dry-run", directory=tmp_path)
    assert code and lines[1].startswith("experiments/mine.yaml line ") and "batch_sise" in lines[1] and len(lines) == 2


def test_a_broken_experiment_is_left_out_in_one_line_and_stops_no_other(mine, tmp_path):
    mine("batch_size: 16", "batch_sise: 16")
    code, lines = shown("results/smoke/data/manifest.json", "--dry-run", directory=tmp_path)
    assert code == 0 and lines[0].startswith("left out: experiments/mine.yaml line ") and "batch_sise" in lines[0]
    assert lines[2] == "1 job would run; VERBOSE=1 lists them" and not [line for line in lines[1:] if "mine" in line]
    code, lines = shown("results/smok/table.md", "--dry-run", directory=tmp_path)
    assert (
        code
        and len(lines) == 2
        and lines[1].startswith(
            "there is no experiment smok; there are covid-dph, covid, mini-seeds, mini, paper, quick-bm25, quick, smoke"
        )
    )


def test_a_mistake_in_the_data_is_the_last_line_under_the_path_of_the_job_s_log(mine, tmp_path):
    with (tmp_path / "tiny" / "docs.tsv").open("a") as stream:
        stream.write("no tab here\n")
    code, lines = shown("results/mine/data/manifest.json", directory=tmp_path)
    assert code and lines[:1] == ["1 job to run"]
    assert lines[-3] == "data failed; its log is results/mine/logs/data/documents.log" and not lines[-2]
    assert lines[-1].startswith("tiny/docs.tsv line 337: expected id TAB text")
    assert not [line for line in lines for framing in FRAMING if framing in line]
    assert "Traceback" in (tmp_path / "results/mine/logs/data/documents.log").read_text()


def test_what_goes_wrong_inside_snakemake_is_one_line_too_and_its_traceback_is_in_the_log(mine, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "mine").write_text("a file where a folder should be")
    code, lines = shown("results/mine/data/manifest.json", directory=tmp_path)
    assert code and lines[-1].startswith("Snakemake failed: Not a directory: 'results/mine/")
    assert not [line for line in lines for framing in FRAMING if framing in line]
    assert "Traceback" in "".join(path.read_text() for path in (tmp_path / ".snakemake/log").iterdir())


def test_results_that_cannot_be_written_are_named_alone(mine, tmp_path):
    (tmp_path / "results").write_text("a file where a folder should be")
    code, lines = shown("results/mine/data/manifest.json", directory=tmp_path)
    assert code and lines[-1].startswith("results/.run.lock: this run cannot write its lock (File exists)")
    assert not [line for line in lines for framing in FRAMING if framing in line]


@pytest.mark.parametrize("how", ["", "another host"])
def test_a_run_that_may_be_at_work_is_named_alone(mine, tmp_path, how, monkeypatch):
    take(tmp_path / "results", os.getpid())
    lock = tmp_path / "results" / ".run.lock"
    if how:
        lock.write_text(lock.read_text().replace(f'"host": "{platform.node()}"', '"host": "elsewhere"'))
    monkeypatch.chdir(tmp_path)  # where this process, which stands for a run, is at work
    code, lines = shown("results/mine/data/manifest.json", directory=tmp_path)
    assert code and lines[0] == "1 job to run" and lines[1] == "" and len(lines) == 3
    assert lines[2].startswith(f"another run {'may be' if how else 'is'} at work in this folder: process {os.getpid()} on host")
    code, lines = shown("results/mine/data/manifest.json", "--dry-run", directory=tmp_path)
    assert code == 0  # looking is free
    plan = snakemake("results/mine/data/manifest.json", directory=tmp_path, EPIC_PLAN="1")
    assert plan.returncode == 0, plan.stdout
