"""The paper's experiment from the bare command down, on tiny files of the exact published formats.

MS MARCO comes through ir_datasets' own code from a seeded home, everything else from a server on this machine. The experiment
differs from paper.yaml only in its encoder, in counts, in where files are and in the device; a test asserts that. It takes
minutes, so the complete run is a matter of its own: `make test-paper`.
"""

import hashlib
import json
import os
import subprocess
import sys

import pytest
import yaml

from epic.core.files import sha256_of
from epic.experiment.lookup import find
from epic.report.differences import flat
from tests.conftest import ROOT, copy_repository
from tests.loopback import content, loopback
from tests.seeded import seed_tiny
from tests.tiny_downloads import published, snapshot, write_bert, write_monobert

EXPERIMENTS = ("paper", "quick", "quick-bm25")
CHANGED = {
    "data.count", "encode.shards", "train.threads", "train.validate_every", "train.max_validations", "latency.warm_up",
    "latency.measured", "compute.device", "compute.threads", "compute.index_memory_mb", "downloads", "encoders.bert-base.sha256",
    "models.authors.start.md5",
}  # fmt: skip
TIMES = {"warm_up": 1, "measured": 2}  # queries
FEWER = {"batch_size": 16, "micro_batch_size": 16, "validate_every": 32, "max_validations": 2}  # triples
OF_OTHERS = {  # changed in the rankers that only the paper's experiment has
    **{f"models.{name}.latency.{key}": value for name in ("tk1", "tk3", "duet", "bert") for key, value in TIMES.items()},
    **{f"models.{name}.train.{key}": value for name in ("tk1", "tk3") for key, value in FEWER.items()},
    **{f"models.duet.train.{key}": value for key, value in FEWER.items() if key != "max_validations"},  # one, as published
    "models.duet.settings.members": 2,
    "models.duet.settings.hidden": 16,
}


def digest(kind: str, data: bytes) -> str:
    return hashlib.new(kind, data).hexdigest()


def written(name: str) -> dict:
    return yaml.safe_load((ROOT / f"workflow/experiments/{name}.yaml").read_text())


def seeded(name: str, sha256: str, files: dict[str, bytes], url: str) -> dict:
    """An experiment with another encoder of the same name, smaller counts, and its downloads from this machine."""
    settings = written(name)
    settings["data"]["count"] = 336
    settings["encode"]["shards"] = 2
    settings["train"] |= {"threads": 1, "validate_every": 32, "max_validations": 2}
    settings["latency"] |= TIMES
    settings["compute"] |= {"device": "cpu", "threads": 1, "index_memory_mb": 512}
    find(settings["encoders"], "bert-base")["sha256"] = sha256
    find(settings["models"], "authors")["start"]["md5"] = digest("md5", files["epic.p"])
    for download in settings["downloads"]:
        data, kind = files[download["file"]], "sha256" if "sha256" in download else "md5"
        download |= {"urls": [f"{url}/{download['file']}"], "bytes": len(data), kind: digest(kind, data)}
    for path, value in OF_OTHERS.items() if name == "paper" else ():
        _, model, part, key = path.split(".")
        find(settings["models"], model)[part][key] = value
    return settings


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_seeded_experiment_differs_from_the_papers_only_in_encoder_counts_and_places(name):
    files = {download["file"]: b"x" for download in written(name)["downloads"]}
    theirs, ours = flat(written(name)), flat(seeded(name, "0" * 64, files, "http://127.0.0.1"))
    assert theirs.keys() == ours.keys()
    changed = CHANGED | (OF_OTHERS.keys() if name == "paper" else set())
    assert {key for key in theirs if theirs[key] != ours[key]} == changed
    assert [list(download) for download in theirs["downloads"]] == [list(download) for download in ours["downloads"]]
    assert [download["file"] for download in theirs["downloads"]] == [download["file"] for download in ours["downloads"]]


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A copy of the repository in which the experiments on MS MARCO are seeded, and a way to run Snakemake in it."""
    folder = tmp_path_factory.mktemp("paper")
    copy_repository(folder / "repository")
    asked = seed_tiny(folder / "home")
    encoders = {
        encoder["id"]: snapshot(folder / "cache", encoder["source"], encoder["revision"])
        for encoder in written("paper")["encoders"]
    }
    encoder = encoders["bert-base"]
    write_bert(encoder)
    write_monobert(encoders["monobert"])
    files = published(encoder, list(asked["dev-small"]))
    with loopback() as server:
        for name, data in files.items():
            server.serve(f"/{name}", content(data))
        for name in EXPERIMENTS:
            settings = seeded(name, sha256_of(encoder / "model.safetensors"), files, server.url)
            (folder / f"repository/workflow/experiments/{name}.yaml").write_text(yaml.safe_dump(settings))
        environment = os.environ | {"IR_DATASETS_HOME": str(folder / "home"), "IR_DATASETS_DL_TRIES": "1"}
        environment |= {"HF_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
        environment["https_proxy"] = "http://127.0.0.1:9"  # where a proxy does the asking, no host is asked before the first job
        environment["no_proxy"] = "127.0.0.1"

        def ran(*targets):
            run = subprocess.run(
                [sys.executable, "-m", "snakemake", *targets, "--cores", "2", "--resources", "gpu=1"],
                cwd=folder / "repository",
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=3600,
                check=False,
            )
            assert run.returncode == 0, run.stdout[-5000:]
            return folder / "repository/results"

        yield ran


@pytest.fixture(scope="module")
def results(repository):
    """What the bare command makes."""
    return repository() / "paper"


@pytest.fixture(scope="module")
def quick(repository):
    """What the first answers are, by experiment."""
    made = repository(*(f"results/{name}/report.html" for name in ("quick", "quick-bm25")))
    return {name: made / name for name in ("quick", "quick-bm25")}


@pytest.mark.paper
@pytest.mark.parametrize(("name", "stages"), [("quick", ["bm25", "doctttttquery"]), ("quick-bm25", ["bm25"])])
def test_a_first_answer_has_numbers_for_the_authors_weights_and_a_trained_model(quick, name, stages):
    records = {row["id"]: row for row in json.loads((quick[name] / "table.json").read_text())["rows"]}
    rows = [
        f"{model}-{stage}-{keep}"
        for model in ("authors", "epic")
        for stage in stages
        for keep in ("full", "r2000", "r1000", "r100")
    ]
    assert set(rows) < set(records) and all(records[row]["ours"] is not None for row in rows)
    for row in [*stages, *rows]:
        published = json.loads((quick[name] / f"rows/{row}.json").read_text())["published"]
        judged = {entry["query_set"] for entry in published if entry["verdict"] in ("match", "above", "below")}
        assert judged == ({"dev-small", "dl19", "dl20"} if row in stages else set()), row  # EPIC's own are of other queries
    assert not list((quick[name] / "figures").glob("frequencies-*"))  # only candidates have vectors


@pytest.fixture(scope="module")
def rows(results):
    """The files of all rows, by name."""
    return {path.stem: json.loads(path.read_text()) for path in (results / "rows").glob("*.json")}


@pytest.fixture(scope="module")
def records(results):
    """The lines of the table, by name."""
    return {record["id"]: record for record in json.loads((results / "table.json").read_text())["rows"]}


@pytest.mark.paper
def test_every_row_has_numbers_on_its_query_sets(rows):
    assert len(rows) == 34
    for name, row in rows.items():
        replayed = {"bert-large": ["dev-small"], "doctttttquery-run": ["dev-small"]}
        expected = replayed | {"bert-large-rescored": ["dev-small", "dl19", "dl20"]}
        assert list(row["metrics"]) == expected.get(name, ["dev-small", "dev-judged", "dl19", "dl20"]), name
        for query_set, found in row["metrics"].items():
            assert found["queries"] == {"dev-small": 19, "dev-judged": 59, "dl19": 19, "dl20": 19}[query_set]
            assert ("RR(rel=2)@10" in found) == query_set.startswith("dl")


@pytest.mark.paper
def test_every_row_of_the_table_has_a_value_and_milliseconds_but_for_a_run_that_no_model_here_answers_for(records):
    assert [name for name, record in records.items() if record["ours"] is None] == []
    assert [name for name, record in records.items() if not record["ours_ms"]] == ["doctttttquery-run"]
    assert records["bert-large"]["ms_of"] == "the model bert, run here over the first 1000 hits of bm25"


@pytest.mark.paper
def test_verdicts_are_given_where_query_sets_agree(records):
    """The collection is named as the paper's, and so is the encoder: what is left is a real comparison, of made-up data."""
    assert records["epic-bm25-r1000"]["query_set"] == "dev-judged" and records["bert-large"]["query_set"] == "dev-small"
    judged = (
        "bm25",
        "epic-bm25-r1000",
        "authors-bm25-r1000",
        "duet-v2",
        "bert-large",
        "bert-large-rescored",
        "doctttttquery-run",
    )
    assert {
        name: records[name]["verdict"] for name in judged if records[name]["verdict"] not in ("match", "above", "below")
    } == {}
    for name in ("doc2query", "tk-1", "tk-3"):  # whose published values are of other queries
        assert records[name]["verdict"] == "not comparable" and records[name]["because"] == ["other query set"]


@pytest.mark.paper
def test_all_models_and_the_authors_weights_are_there(results):
    models = ["authors", "bert", "duet", "paper", "released", "tk1", "tk3"]
    assert sorted(path.name for path in (results / "train").iterdir()) == models
    digests = {sha256_of(results / "train" / name / "checkpoint/model.safetensors") for name in models}
    assert len(digests) == len(models)


@pytest.mark.paper
def test_words_are_the_published_ones_and_start_from_glove_s_vectors(results):
    facts = {name: json.loads((results / f"vocabulary/{name}/vocabulary.json").read_text()) for name in ("tk1", "duet")}
    assert not (results / "vocabulary/tk3").exists()  # it knows the words of tk1
    assert {(found["dimensions"], found["passages"]) for found in facts.values()} == {(300, 336)}
    assert all(0 < found["found"] < found["words"] for found in facts.values())  # GloVe has some of them
    assert facts["duet"]["words"] == 1000 and facts["duet"]["beyond"] == 1000


@pytest.mark.paper
def test_the_published_cross_encoder_is_taken_as_it_is_and_its_files_in_the_formats_of_today(results):
    from epic import load_ranker

    found = json.loads((results / "encoder/monobert/published.json").read_text())
    pinned = find(written("paper")["encoders"], "monobert")
    assert (found["source"], found["revision"], found["file"]) == (pinned["source"], pinned["revision"], "pytorch_model.bin")
    ranker, theirs = load_ranker(results / "train/bert/checkpoint"), results / "encoder/monobert"
    assert ranker.score("a query", ["a passage"]) == pytest.approx([transformers_score(theirs, "a query", "a passage")], abs=1e-6)


def transformers_score(folder, query, passage):
    """The logarithm of the second class's probability, by transformers."""
    import torch
    from transformers import BertForSequenceClassification, BertTokenizerFast

    texts = BertTokenizerFast.from_pretrained(folder)(query, passage, return_tensors="pt")
    with torch.no_grad():
        return BertForSequenceClassification.from_pretrained(folder)(**texts).logits.log_softmax(1)[0, 1].item()


@pytest.mark.paper
def test_first_stages_are_made_of_published_files_alone(results):
    assert not [name for name in ("regress", "reweigh", "generate", "generator") if (results / name).exists()]
    settings = yaml.safe_load((results / "experiment.yaml").read_text())
    stages = {stage["id"]: stage["weighted_text"] or stage["predicted_queries"] for stage in settings["first_stages"]}
    assert stages.pop("bm25") is None and all(made_of["source"].startswith("download:") for made_of in stages.values())


@pytest.mark.paper
def test_the_figures_text_and_report_are_those_of_the_paper(results):
    texts = json.loads((results / "interpret/paper.json").read_text())
    assert [query["text"] for query in texts["queries"]][2] == "cost of endless pools/swim spa" and len(texts["passages"]) == 1
    claims = {claim["id"]: claim for claim in json.loads((results / "claims.json").read_text())["claims"]}
    assert {result["model"] for result in claims["beats-doc2query"]["results"]} == {"paper", "released", "authors"}
    assert (results / "report.html").stat().st_size > 500_000
