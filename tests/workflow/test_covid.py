"""The authors' weights on TREC-COVID, on BM25 and on a run file, with tiny files of the exact published formats.

CORD-19 comes through ir_datasets' own code from a seeded home, the weights in the tar for PyTerrier, and the run in TREC's six
columns with ranks from 0, as PyTerrier writes it. The experiments differ from covid.yaml and covid-dph.yaml only in counts, in
the encoder and in where files are; a test asserts that. As all of the paper's it is run by `make test-paper`.
"""

import hashlib
import json

import pytest
import yaml

from epic.core.files import sha256_of
from epic.corpus.runs import read_run
from epic.experiment.lookup import find
from epic.report.differences import flat
from tests.conftest import ROOT, snakemake
from tests.seeded_cord19 import articles, seed_cord19
from tests.tiny_downloads import snapshot, weights_tar, write_bert

TAR = "epic.msmarco.tar.gz"
CHANGED = {
    "data.count", "encode.shards", "compute.threads", "compute.index_memory_mb", "latency.warm_up", "latency.measured", "train.threads",
    "downloads", "encoders.bert-base.sha256", "models.authors.start.md5", "first_stages.dph.run.validation",
    "first_stages.dph.run.trec-covid",
}  # fmt: skip


def written(name):
    return yaml.safe_load((ROOT / f"workflow/experiments/{name}.yaml").read_text())


def seeded(name, sha256, tar):
    """An experiment with another encoder of the same name, smaller counts, and other files."""
    settings, md5 = written(name), hashlib.md5(tar).hexdigest()
    settings["data"]["count"] = len(articles())
    settings["encode"]["shards"] = 1
    settings["train"]["threads"] = 1
    settings["latency"] |= {"warm_up": 2, "measured": 4}
    settings["compute"] |= {"threads": 1, "index_memory_mb": 512}
    find(settings["encoders"], "bert-base")["sha256"] = sha256
    find(settings["models"], "authors")["start"]["md5"] = md5
    settings["downloads"] = [settings["downloads"][0] | {"md5": md5, "bytes": len(tar)}]
    for stage in settings["first_stages"]:
        if "run" in stage:
            stage["run"] = dict.fromkeys(stage["run"], "path:runs/dph.trec.gz")
    return settings


@pytest.mark.parametrize("name", ["covid", "covid-dph"])
def test_the_seeded_experiment_differs_only_in_encoder_counts_and_places(name):
    theirs, ours = flat(written(name)), flat(seeded(name, "0" * 64, b"x"))
    assert theirs.keys() == ours.keys()
    assert {key for key in theirs if theirs[key] != ours[key]} == CHANGED - (
        {key for key in CHANGED if key.startswith("first_stages")} if name == "covid" else set()
    )


def run_file(folder, queries):
    """Write a run of the articles that share most words with a query, as PyTerrier writes one."""
    import gzip

    (folder / "runs").mkdir()
    last, lines = {article.uid: article.abstract for article in articles()}, []
    for query_id, text in queries.items():
        words = set(text.split())
        scores = {uid: len(words & set(abstract.split())) + 1e-6 * len(abstract) for uid, abstract in last.items() if abstract}
        best = sorted(scores, key=scores.get, reverse=True)[:40]
        lines += [f"{query_id} Q0 {uid} {rank} {scores[uid]:.6f} pyterrier\n" for rank, uid in enumerate(best)]
    (folder / "runs/dph.trec.gz").write_bytes(gzip.compress("".join(lines).encode()))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Both experiments, run to their reports."""
    folder = tmp_path_factory.mktemp("covid")
    queries = seed_cord19(folder / "home")
    encoder = snapshot(folder / "cache", "google-bert/bert-base-uncased", written("covid")["encoders"][0]["revision"])
    write_bert(encoder)
    tar = weights_tar(encoder)
    run_file(folder, queries)
    for name in ("experiments", "downloads"):
        (folder / name).mkdir()
    (folder / "downloads" / TAR).write_bytes(tar)
    for name in ("covid", "covid-dph"):
        text = yaml.safe_dump(seeded(name, sha256_of(encoder / "model.safetensors"), tar))
        (folder / f"experiments/tiny-{name}.yaml").write_text(text)
    places = {"IR_DATASETS_HOME": str(folder / "home"), "IR_DATASETS_DL_TRIES": "1", "HF_HOME": str(folder / "cache")}
    files = (
        ("report.html", "models/authors.md", "rows/authors-bm25-r1000.md"),
        ("report.html", "models/authors.md", "rows/dph.md"),
    )
    targets = [f"results/tiny-{name}/{file}" for name, some in zip(("covid", "covid-dph"), files, strict=True) for file in some]
    run = snakemake(*targets, directory=folder, HF_HUB_OFFLINE="1", https_proxy="http://127.0.0.1:9", **places, timeout=3000)
    assert run.returncode == 0, run.stdout[-5000:]
    return folder / "results"


def row(results, name, row):
    return json.loads((results / f"tiny-{name}/rows/{row}.json").read_text())


@pytest.mark.paper
def test_every_row_has_numbers_and_the_first_thirty_hits_are_re_ranked(results):
    for name, stage in (("covid", "bm25"), ("covid-dph", "dph")):
        for keep in ("full", "r1000"):
            found = row(results, name, f"authors-{stage}-{keep}")
            assert found["settings"]["cutoff"] == 30 and found["metrics"]["trec-covid"]["queries"] == 20
            first = read_run(results / f"tiny-{name}/retrieve/{stage}/trec-covid.run")
            ours = read_run(results / f"tiny-{name}/rerank/authors-{stage}-{keep}/trec-covid.run")
            assert {query: sorted(hit.doc_id for hit in hits) for query, hits in first.items()} == {
                query: sorted(hit.doc_id for hit in hits) for query, hits in ours.items()
            }
            assert max(map(len, first.values())) == 30 and ours != first
    assert json.loads((results / "tiny-covid/data/manifest.json").read_text())["field"] == "abstract"


@pytest.mark.paper
def test_the_run_file_stands_in_place_of_index_and_search(results):
    made = results / "tiny-covid-dph"
    assert not any((made / stage).exists() for stage in ("expand", "index", "latency"))
    first = read_run(made / "retrieve/dph/trec-covid.run")
    assert all(len(hits) == 30 for hits in first.values()) and (made / "retrieve/dph/trec-covid.json").exists()
    assert "Not timed: its first stage is a run file" in (made / "rows/dph.md").read_text()
    assert "Not timed: its first stage is a run file" in (made / "models/authors.md").read_text()
    assert "Nothing was timed" in (made / "report.html").read_text()
    assert (results / "tiny-covid/latency/together/authors-bm25-full.json").exists()


@pytest.mark.paper
def test_only_rows_on_the_published_first_stage_are_compared_with_the_notebook(results):
    dph, bm25 = (row(results, *of)["published"] for of in (("covid-dph", "authors-dph-r1000"), ("covid", "authors-bm25-r1000")))
    assert [entry["value"] for entry in dph] == [entry["value"] for entry in bm25] == [0.8215, 0.7]
    assert all("other first stage" in entry["because"] for entry in bm25)
    assert not {"other first stage", "other collection", "other field", "other encoder"} & {
        reason for entry in dph for reason in entry["because"]
    }
    tests = json.loads((results / "tiny-covid-dph/significance/trec-covid.json").read_text())["families"]
    assert [(test["system"], test["baseline"]) for test in tests[0]["tests"]] == [
        ("authors-dph-full", "dph"), ("authors-dph-r1000", "dph")
    ]  # fmt: skip
