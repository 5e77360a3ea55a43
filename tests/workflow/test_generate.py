"""Queries are generated for a collection of one's own: a real run from a tiny T5 to a first stage's hits, and what is planned."""

import json

import pytest
import yaml

from epic.core.files import sha256_of
from tests.conftest import ROOT, snakemake
from tests.generators import write_generator
from tests.predicted import NAME

pytestmark = pytest.mark.smoke
DOCS = ["price of a pool", "what is a boot", "a pool is a pond", "", "who is in a boot"]
RUN = "results/mine/retrieve/doctttttquery/test.run"


def experiment(folder, **changes):
    """Smoke on five passages, with one first stage whose queries are generated."""
    (folder / "docs.tsv").write_text("".join(f"{number}\t{text}\n" for number, text in enumerate(DOCS)))
    for name in ("train", "validation", "test"):
        (folder / f"queries.{name}.tsv").write_text("1\tprice of a pool\n2\twho is in a boot\n")
        (folder / f"qrels.{name}.txt").write_text("1 0 0 1\n2 0 4 1\n")
    settings = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
    settings["data"] = {"documents": f"path:{folder}", "field": None, "count": len(DOCS)}
    for query_set in settings["query_sets"]:
        query_set["dataset"] = f"path:{folder}#{query_set['id']}"
    settings["statistics"]["queries"] = [query_set["dataset"] for query_set in settings["query_sets"]]
    settings["texts"]["passages"] = ["0"]
    settings["first_stages"][1]["predicted_queries"] = {"generate": "tiny", "samples": 4, "seed": 3} | changes
    sums = {"sha256": sha256_of(folder / "t5" / "model.safetensors"), "revision": None}
    settings["generators"] = [
        {"id": "tiny", "source": f"path:{folder / 't5'}", "top_k": 10, "max_input": 32, "max_output": 8, "batch": 4} | sums
    ]
    settings["generators"][0]["precision"] = "float32"
    return settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generating")
    write_generator(folder / "t5")
    (folder / "experiments").mkdir()
    (folder / "experiments" / "mine.yaml").write_text(yaml.safe_dump(experiment(folder)))
    run = snakemake(RUN, directory=folder)
    assert run.returncode == 0, run.stdout[-4000:]
    return folder


def shards(folder, drawn="4-3"):
    return [folder / "results/mine/generate/tiny" / drawn / f"{number}-of-2" for number in (1, 2)]


def test_every_passage_of_every_shard_has_its_queries(folder):
    found = [
        (shard / NAME.format(sample, number)).read_text().splitlines()
        for number, shard in enumerate(shards(folder))
        for sample in range(4)
    ]
    assert [len(lines) for lines in found] == [2] * 4 + [3] * 4
    assert all(lines[1] == "" for lines in found[4:]) and sum(map(any, found)) == 8  # the empty passage is the fourth


def test_the_index_holds_them_and_the_first_stage_finds_passages(folder):
    assert json.loads((folder / "results/mine/retrieve/doctttttquery/test.json").read_text()) is not None
    assert {line.split()[2] for line in (folder / RUN).read_text().splitlines()} >= {"0", "4"}


def test_what_was_kept_for_an_interruption_is_gone(folder):
    assert not (folder / "results/mine/state").exists()


def test_nothing_is_generated_again_without_need_and_a_batch_is_no_need(folder):
    settings = experiment(folder)
    settings["generators"][0]["batch"] = 1
    assert "Nothing to be done" in planned(folder, settings)


@pytest.mark.parametrize(("key", "value"), [("top_k", 5), ("max_output", 4), ("max_input", 16)])
def test_another_way_of_drawing_generates_anew(folder, key, value):
    settings = experiment(folder)
    settings["generators"][0][key] = value
    said = planned(folder, settings)
    assert "rule generate:" in said and "rule retrieve:" in said and "rule generator:" not in said


def test_other_samples_are_other_folders(folder):
    said = planned(folder, experiment(folder, samples=5))
    assert "results/mine/generate/tiny/5-3/1-of-2" in said and "results/mine/generate/tiny/5-3/2-of-2" in said


def test_passages_that_are_shown_are_shown_with_what_was_generated(folder):
    said = planned(folder, experiment(folder), "results/mine/interpret/paper.json")
    shown = next(job for job in said.split("\n\n") if "rule interpret:" in job)
    assert "generate/tiny/4-3/1-of-2" in shown and "generate/tiny/4-3/2-of-2" in shown


def planned(folder, settings, target=RUN):
    """What Snakemake would run of an experiment; the experiment is put back afterwards."""
    path = folder / "experiments" / "mine.yaml"
    before = path.read_text()
    try:
        path.write_text(yaml.safe_dump(settings))
        run = snakemake(target, "--dry-run", directory=folder)
    finally:
        path.write_text(before)
    assert run.returncode == 0, run.stdout[-3000:]
    return run.stdout
