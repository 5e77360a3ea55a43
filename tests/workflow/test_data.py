"""Data through Snakemake: the paper's datasets on a seeded home, a folder of one's own, a file placed by hand."""

import gzip
import hashlib
import json

import yaml

from epic.corpus.text_files import read_queries, read_triples
from tests.conftest import ROOT, TINY, snakemake
from tests.seeded import seed_tiny

UNASKED = {"https_proxy": "http://127.0.0.1:9"}  # where a proxy does the asking, no host is asked before the first job


def write_experiment(folder, name, change):
    """An experiment like one of the repository's, in the working directory."""
    settings = yaml.safe_load((ROOT / "workflow" / "experiments" / f"{name}.yaml").read_text())
    change(settings)
    (folder / "experiments").mkdir(exist_ok=True)
    (folder / "experiments" / "mine.yaml").write_text(yaml.safe_dump(settings))


def reasons(folder, *targets):
    """What would be run again, and why."""
    run = snakemake(*targets, "--dry-run", directory=folder, **UNASKED)
    assert run.returncode == 0, run.stdout
    return run.stdout


def test_all_datasets_of_the_paper_come_from_ir_datasets_own_code(tmp_path):
    asked = seed_tiny(tmp_path / "home")

    write_experiment(tmp_path, "paper", lambda settings: settings["data"].update(count=336))
    sets = ["validation", "dev-small", "dev-judged", "dl19", "dl20"]
    targets = [f"results/mine/data/{name}.queries.tsv" for name in sets] + ["results/mine/triples/512000/triples.tsv"]
    run = snakemake(*targets, directory=tmp_path, IR_DATASETS_HOME=str(tmp_path / "home"), IR_DATASETS_DL_TRIES="1", **UNASKED)
    assert run.returncode == 0, run.stdout
    data = tmp_path / "results" / "mine" / "data"
    manifest = json.loads((data / "manifest.json").read_text())
    facts = {"documents": "msmarco-passage", "field": None, "count": 336, "encoding": "repaired by ir_datasets"}
    assert manifest == facts
    found = {name: read_queries(data / f"{name}.queries.tsv") for name in sets}
    assert found == {name: asked[name.replace("dev-judged", "dev")] for name in sets}
    assert len(read_triples(tmp_path / "results" / "mine" / "triples" / "512000" / "triples.tsv")) == 64


def own(folder):
    """The embedded collection as a folder of compressed JSON lines, with triples of its own."""
    (folder / "own").mkdir()
    for name in ("docs", "queries.train"):
        lines = (line.split("\t") for line in (TINY / f"{name}.tsv").read_text(encoding="utf-8").splitlines())
        texts = "".join(json.dumps({"_id": text_id, "text": text}) + "\n" for text_id, text in lines)
        (folder / "own" / f"{name}.jsonl.gz").write_bytes(gzip.compress(texts.encode()))
    first = (TINY / "queries.train.tsv").read_text(encoding="utf-8").split("\t")[0]
    (folder / "own" / "docpairs.train.tsv").write_text(f"{first}\t1\t2\n{first}\t1\t3\n")

    def change(settings):
        settings["data"]["documents"] = "path:own"
        settings["triples"] = {"source": "docpairs", "dataset": "path:own#train"}
        settings["downloads"] = [
            {"file": "file.bin", "urls": ["https://127.0.0.1:9/file.bin"], "bytes": 5, "md5": hashlib.md5(b"bytes").hexdigest()}
        ]

    write_experiment(folder, "smoke", change)


def test_a_folder_of_ones_own_and_a_file_placed_by_hand(tmp_path):
    own(tmp_path)
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "file.bin").write_bytes(b"byte")
    triples, file = "results/mine/triples/2/triples.tsv", "results/mine/fetch/file.bin"
    run = snakemake(triples, file, "--keep-going", directory=tmp_path, **UNASKED)
    assert (
        run.returncode
        and f"{tmp_path}/downloads/file.bin has md5" in run.stdout
        and "put the right one there, or move it away" in run.stdout
    )
    assert [triple.other_id for triple in read_triples(tmp_path / triples)] == ["2", "3"]
    (tmp_path / "downloads" / "file.bin").write_bytes(b"bytes")
    run = snakemake(file, directory=tmp_path, **UNASKED)
    assert run.returncode == 0 and (tmp_path / file).read_bytes() == b"bytes", run.stdout

    pairs, docs = tmp_path / "own" / "docpairs.train.tsv", tmp_path / "own" / "docs.jsonl.gz"
    pairs.write_text(pairs.read_text() * 2)
    again = reasons(tmp_path, triples)
    assert "docpairs.train.tsv" in again and "rule triples" in again and "rule data:" not in again
    docs.write_bytes(gzip.compress(gzip.decompress(docs.read_bytes()).replace(b"honey", b"money")))
    assert "rule data:" in reasons(tmp_path, triples)


def test_two_files_of_documents_stop_the_run_before_any_job(tmp_path):
    own(tmp_path)
    (tmp_path / "own" / "docs.tsv").write_text("1\ta\n")
    run = snakemake("results/mine/data/manifest.json", directory=tmp_path)
    assert run.returncode and "own has docs.tsv and docs.jsonl.gz; keep one of them" in run.stdout
    assert not (tmp_path / "results").exists()
