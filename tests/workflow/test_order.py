"""Models one after the other, where vectors are not kept: real runs of a small experiment with two models on a random encoder."""

import json
import os
import re
import shutil
import subprocess
from contextlib import contextmanager

import pytest
import yaml

from epic.core.discarded import was_discarded
from epic.core.files import sha256_of
from epic.planning.repair import mend, verify
from tests.conftest import ROOT, TINY, snakemake
from tests.workflow.test_dryrun import files, jobs

pytestmark = pytest.mark.smoke
TARGETS = ["results/mine/table.md", "results/mine/models/paper.md", "results/mine/models/released.md"]
ROW = "results/mine/rows/released-bm25-r20.md"


def experiment(encoder) -> dict:
    """Smoke with the random encoder: two models, two shards each, a row that is pruned and one that is not; no vectors are kept."""
    settings = yaml.safe_load(
        (ROOT / "workflow/experiments/smoke.yaml").read_text().replace("path:workflow/resources/tiny", "path:own")
    )
    settings["first_stages"], settings["weighters"] = settings["first_stages"][:1], []
    settings["encoders"][0] |= {"source": f"path:{encoder}", "sha256": sha256_of(encoder / "model.safetensors")}
    product = next(row for row in settings["rows"] if "for" in row)
    product["for"] |= {"first_stage": ["bm25"], "keep": ["full", 20]}
    settings["rows"] = [settings["rows"][0], product]
    settings["comparisons"] = [settings["comparisons"][0] | {"system": {"keep": ["full", 20]}}]
    settings["texts"]["passages"] = []
    settings["train"] |= {"validate_every": 32, "max_validations": 1}
    settings["latency"] |= {"warm_up": 1, "measured": 4}
    settings["encode"] |= {"shards": 2, "keep": [10, 30]}
    return settings | {"keep": []}


class Folder:
    """A working directory with the experiment in it."""

    def __init__(self, path, encoder):
        self.path, self.file, self.results = path, path / "experiments/mine.yaml", path / "results/mine"
        shutil.copytree(TINY, path / "own")
        self.file.parent.mkdir()
        self.file.write_text(yaml.safe_dump(experiment(encoder)))

    def run(self, *targets, **how) -> subprocess.CompletedProcess:
        return snakemake(*targets, directory=self.path, timeout=1800, **how)

    def dry(self, *targets) -> tuple[dict, str]:
        """The jobs that a command would run by rule, and all that was said."""
        found = self.run(*targets, "--dry-run")
        assert found.returncode == 0, found.stdout
        return jobs(found.stdout) if "Job stats" in found.stdout else {}, found.stdout

    @contextmanager
    def edited(self, change):
        """The experiment after a change, and afterwards as it was."""
        text = self.file.read_text()
        settings = yaml.safe_load(text)
        change(settings)
        try:
            self.file.write_text(yaml.safe_dump(settings))
            yield
        finally:
            self.file.write_text(text)

    def folders(self, model):
        """Shards and stores of a model."""
        return [self.results / "encode" / model / f"{i}-of-2" for i in (1, 2)] + [self.results / "prune" / model / "20"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, tiny_encoder):
    """After a whole run."""
    found = Folder(tmp_path_factory.mktemp("order"), tiny_encoder)
    run = found.run(*TARGETS)
    assert run.returncode == 0, run.stdout[-5000:]
    return found


def test_the_second_model_is_encoded_after_the_vectors_of_the_first_are_removed(folder):
    removed = (folder.results / "discard/paper.json").stat().st_mtime_ns
    begun = [(shard / "frequencies.json").stat().st_mtime_ns for shard in folder.folders("released")[:2]]
    assert removed < min(begun)
    assert json.loads((folder.results / "turn/released.json").read_text()) == {"after": ["results/mine/discard/paper.json"]}
    assert json.loads((folder.results / "turn/paper.json").read_text()) == {"after": []}


@pytest.mark.parametrize("model", ["paper", "released"])
def test_vectors_are_gone_and_what_is_small_stays(folder, model):
    for found in folder.folders(model):
        assert was_discarded(found) and (found / "header.json").exists() and not list(found.rglob("*.[uf]16"))
    assert (folder.folders(model)[0] / "frequencies.json").exists() and (folder.folders(model)[0] / "scored.json").exists()
    assert json.loads((folder.results / f"discard/{model}.json").read_text())["bytes"] > 336 * 4 * 30


def test_each_model_is_timed_with_its_first_stage(folder):
    assert sorted(path.name for path in (folder.results / "latency").glob("[!.]*")) == ["paper", "released"]
    timed = json.loads((folder.results / "latency/released/released-bm25-r20.json").read_text())
    assert timed["together"] == ["bm25", "released-bm25-full", "released-bm25-r20"]


def test_a_model_s_page_has_its_rows_tests_latency_vectors_and_words(folder):
    page = (folder.results / "models/released.md").read_text()
    for heading in (
        "Effectiveness",
        "Published values",
        "Against its first stages",
        "Cut-offs",
        "Latency",
        "Its vectors",
        "Words",
    ):
        assert f"\n## {heading}\n" in page
    assert "EPIC (released form) + BM25, pruned r=20" in page and "3 rows took turns" in page and "EPIC + BM25" not in page
    assert "removed after use" in page and "results/mine/models/released.md --cores all --forcerun encode" in page


def test_afterwards_nothing_is_to_be_done_and_nothing_looks_damaged(folder):
    assert folder.dry(*TARGETS)[0] == {}
    assert mend(folder.path / "results") == []
    assert "the vectors of 6 of them were removed after use" in verify(folder.results)
    assert "removed after use" in verify(folder.folders("paper")[0])


def test_a_row_that_is_there_is_not_timed_again_by_itself(folder):
    assert set(folder.dry(ROW)[0]) <= {"turn"}  # which waits for no other model now


def test_one_model_brings_in_no_other(tmp_path, tiny_encoder):
    fresh = Folder(tmp_path, tiny_encoder)
    for target in ("results/mine/models/released.md", ROW):
        found, said = fresh.dry(target)
        assert found["encode"] == 2 and found["train"] == 1 and not re.search(r"(encode|train|discard|turn)/paper", said)


def add_row(settings):
    """One more row of the second model."""
    row = {"id": "released-bm25-r10", "kind": "model", "model": "released", "first_stage": "bm25", "keep": 10}
    settings["rows"].append(row | {"label": "r=10", "group": "Mine", "published": []})


def test_a_row_that_needs_removed_vectors_is_refused_before_any_job_with_the_command_that_makes_them(folder):
    with folder.edited(add_row):
        for targets in (TARGETS, ["results/mine/rows/released-bm25-r10.md"]):
            run = folder.run(*targets)
            assert run.returncode and "prune released/10" in run.stdout and "were removed after use" in run.stdout
            assert not (folder.results / "prune/released/10").exists()
        command = re.search(r"then repeat your command: snakemake (.*)", run.stdout)[1].split()
        assert command == ["results/mine/models/released.md", "--cores", "all", "--forcerun", "encode"]
        found, said = folder.dry(*command)
        assert found["encode"] == 2 and found["prune"] == 2 and found["rows"] == 3 and found["models"] == 1
        assert "train" not in found and not re.search(r"output: results/mine/(encode|prune)/paper", said)


def test_a_model_that_changes_is_made_again_and_the_other_is_not(folder):
    with folder.edited(lambda settings: settings["models"][0].update(seed=7)):
        found, said = folder.dry(*TARGETS)
        assert found["train"] == 1 and found["encode"] == 2 and found["discard"] == 1 and found["turn"] == 1
        assert not any(re.match(r"results/mine/(encode|prune|rerank|discard)/released", output) for output in files(said))


def test_a_change_of_encoding_makes_both_models_again_although_one_waits_for_the_other(folder):
    with folder.edited(lambda settings: settings["encode"].update(keep=[10, 29])):
        found, _ = folder.dry(*TARGETS)
        assert found["encode"] == 4 and found["discard"] == 2 and found["turn"] == 1
        assert folder.dry("results/mine/models/released.md")[0]["encode"] == 2


def test_a_removal_that_was_cut_off_goes_on(folder):
    """As after a kill: some files are gone, the note that all are is missing, and so is what follows."""
    shard = folder.folders("released")[0]
    (shard / "terms.u16").write_bytes(b"left over")
    for path in ("discard/released.json", "models/released.md"):
        os.unlink(folder.results / path)
    assert mend(folder.path / "results") == []
    run = folder.run(*TARGETS)
    assert run.returncode == 0 and not (shard / "terms.u16").exists(), run.stdout
    assert folder.dry(*TARGETS)[0] == {}
