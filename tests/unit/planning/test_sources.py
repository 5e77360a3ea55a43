"""Sources: what of them is on this machine, and what must be fetched from where."""

import copy

import huggingface_hub.constants
import pytest

from epic.core.files import InputError
from epic.corpus.documents import Documents
from epic.experiment.check import load_experiments
from epic.planning import sources
from epic.planning.estimates import Job
from epic.planning.sources import absent_sources, collection_of
from tests.conftest import ROOT

ENCODER = "bert-base"
MSMARCO = "msmarco.z22.web.core.windows.net"


@pytest.fixture(scope="module")
def experiments():
    folder = ROOT / "workflow"
    return load_experiments([folder / "experiments"])


@pytest.fixture
def paper(experiments):
    return experiments["paper"]


@pytest.fixture
def home():
    """ir_datasets' folder of MS MARCO; what a test puts there is removed."""
    import ir_datasets

    folder, made = ir_datasets.util.home_path() / "msmarco-passage", []

    def put(*names):
        for path in (folder / name for name in names):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")
            made.append(path)

    yield put
    for path in made:
        path.unlink()


def files(settings, *jobs):
    return {absent.name.rpartition("/")[2]: absent for absent in absent_sources(settings, list(jobs))}


def queries(name):
    return Job("queries", {"query_set": name})


def test_sizes_of_collections_come_from_ir_datasets_or_from_their_files(experiments):
    found = collection_of(experiments["paper"])
    assert found.passages == 8_841_823 and found.queries["dev-judged"] == 55_578 and found.queries["validation"] == 200
    found, docs = collection_of(experiments["smoke"]), ROOT / "workflow" / "resources" / "tiny" / "docs.tsv"
    assert found.passages * found.passage_bytes == docs.stat().st_size and found.queries["test"] == 58


def test_only_query_sets_that_are_asked_about_are_counted(experiments, tmp_path):
    settings = copy.deepcopy(experiments["smoke"])
    (tmp_path / "queries.test.tsv").write_text("1\ta\n2\tb\n")
    for query_set in settings["query_sets"]:
        used = query_set["id"] == "test"
        query_set["dataset"] = f"path:{tmp_path}#test" if used else "path:not/here#test"
    found = collection_of(settings).queries
    assert found["test"] == 2 and list(found) == ["test"]
    with pytest.raises(InputError, match="path:not/here: not found"):
        found["train"]


def test_a_query_set_needs_its_own_files_and_the_collection(paper):
    found = files(paper, queries("dev-judged"))
    assert set(found) == {
        "queries.tar.gz",
        "qrels.dev.tsv",
        "collectionandqueries.tar.gz",
        "msmarco-passage: text",
        "msmarco-passage: store",
    }
    assert found["qrels.dev.tsv"].hosts == (MSMARCO,) and found["qrels.dev.tsv"].size == 1_201_626
    assert found["msmarco-passage: text"].size == 8_841_823 * 346


def test_any_mirror_will_do(paper):
    assert files(paper, queries("dl19"))["2019qrels-pass.txt"].hosts == ("trec.nist.gov", "mirror.ir-datasets.com")


def test_training_triples_are_the_published_pairs(paper):
    assert files(paper, Job("triples", {}))["qidpidtriples.train.full.tsv.gz"].size == 2_633_557_579


def test_files_on_disk_are_not_asked_for_again(paper, home):
    home("dev/queries.tsv", "dev/qrels", "collectionandqueries.tar.gz", "collection.tsv")
    assert set(files(paper, queries("dev-judged"))) == {"msmarco-passage: store"}
    home("train/queries.tsv", "train/docpairs.tsv.gz")
    assert set(files(paper, Job("triples", {}))) == {"msmarco-passage: store"}


def test_jobs_that_read_no_source_need_none(paper):
    assert not files(
        paper, Job("prune", {"model": "paper", "keep": "100"}), Job("evaluate", {"row": "bm25", "query_set": "dl19"})
    )
    assert not files(paper, Job("rerank", {"row": "epic-bm25-r100", "query_set": "dl19"}))
    assert files(paper, Job("rerank", {"row": "epic-bm25-full", "query_set": "dl19"}))  # runs passages through the model


def test_a_published_run_that_is_timed_with_a_model_reads_the_texts(paper):
    timed = {"model": "paper", "first_stage": "bm25", "hits": 1000}
    rows = [row | ({"timed": timed} if row["id"] == "bert-large" else {}) for row in paper["rows"]]
    assert "msmarco-passage: store" in files(paper | {"rows": rows}, Job("latency", {"timed": "bert-large"}))
    assert not files(paper, Job("latency", {"timed": "bm25"}))


def test_ir_datasets_wants_more_free_than_its_store_takes(paper, monkeypatch):
    store = files(paper, Job("data", {}))["msmarco-passage: store"]
    assert store.size == pytest.approx(3.68e9, rel=0.01) and store.size + store.spare == 14_373_971_970
    monkeypatch.setenv("IR_DATASETS_SKIP_DISK_FREE", "true")
    assert files(paper, Job("data", {}))["msmarco-passage: store"].spare == 0


def test_a_folder_of_ones_own_needs_a_store_until_it_has_one(experiments, tmp_path):
    (tmp_path / "docs.tsv").write_text("0\ta passage\n1\tanother\n")
    settings = experiments["smoke"] | {"data": {"documents": f"path:{tmp_path}", "count": 2}}
    (absent,) = absent_sources(settings, [Job("data", {})])
    assert absent.hosts == () and 0 < absent.size < 100
    Documents(f"path:{tmp_path}")
    assert absent_sources(settings, [Job("data", {})]) == []


def test_an_encoder_is_fetched_unless_all_its_files_are_cached(paper, monkeypatch):
    job, found = Job("encoder", {"encoder": ENCODER}), {"config.json", "model.safetensors"}
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache", lambda repo, name, revision: "/a/file" if name in found else None
    )
    assert files(paper, job)["bert-base-uncased"].hosts == ("huggingface.co",)
    found.add("tokenizer.json")
    assert files(paper, job) == {}
    assert files(paper, Job("train", {"model": "paper"})).keys().isdisjoint({"bert-base-uncased"})


def test_an_older_repository_is_cached_if_its_older_files_are_and_its_tokenizer_may_lie_elsewhere(paper, monkeypatch):
    cached = {("a/older", "config.json"), ("a/older", "pytorch_model.bin")}
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache", lambda repo, name, revision: "/a/file" if (repo, name) in cached else None
    )
    older = {"id": "older", "source": "a/older", "revision": "0" * 40, "sha256": None}
    changed = paper | {"models": [paper["models"][0] | {"encoder": older}]}
    job = Job("encoder", {"encoder": "older"})
    assert files(changed, job)["older"].hosts == ("huggingface.co",)
    cached.add(("a/older", "vocab.txt"))
    assert files(changed, job) == {}
    changed["models"][0]["encoder"] = older | {"tokenizer": {"source": "a/tokenizer", "revision": "1" * 40}}
    (absent,) = files(changed, job).values()
    assert (absent.name, absent.size) == ("a/tokenizer", 0)
    cached.add(("a/tokenizer", "tokenizer.json"))
    assert files(changed, job) == {}


def test_offline_hugging_face_is_named_as_the_reason(paper, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    absent = files(paper, Job("encoder", {"encoder": ENCODER}))["bert-base-uncased"]
    assert absent.barred == "HF_HUB_OFFLINE" and absent.hosts == ()


def test_an_encoder_from_a_wheel_needs_no_network(experiments):
    assert files(experiments["smoke"], Job("encoder", {"encoder": "minilm"})) == {}


def generating(settings, **changes):
    """The settings with a generator of queries."""
    return settings | {"generators": [{"id": "t5", "source": "castorini/t5-large", "revision": "r", "sha256": None} | changes]}


def test_a_generator_is_fetched_unless_one_file_of_each_kind_is_cached(paper, monkeypatch):
    job, found = Job("generator", {"generator": "t5"}), {"config.json", "pytorch_model.bin"}
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache", lambda repo, name, revision: "/a/file" if name in found else None
    )
    absent = files(generating(paper), job)["t5-large"]
    assert absent.hosts == ("huggingface.co",) and absent.size == 4 * 737_668_096
    found.add("spiece.model")
    assert files(generating(paper), job) == {}
    found.clear()
    assert files(generating(paper, source="path:t5"), job) == {}
    assert files(generating(paper), Job("encode", {"model": "paper"})) == {}


def test_a_download_names_the_hosts_of_all_its_mirrors(paper):
    mirrored = paper | {"downloads": [paper["downloads"][0] | {"urls": ["https://a.example/x", "https://b.example/x"]}]}
    job = Job("fetch", {"file": "predicted_queries_topk_sampling.zip"})
    assert files(mirrored, job)["predicted_queries_topk_sampling.zip"].hosts == ("a.example", "b.example")
    assert not files(mirrored, Job("prune", {"model": "paper", "keep": "100"}))
    assert files(paper, Job("fetch", {"file": "sample_100_jsonl.zip"}))["sample_100_jsonl.zip"].hosts == (
        "boston.lti.cs.cmu.edu:80",
    )


def test_a_download_needs_its_bytes_where_it_is_kept_and_once_more_on_another_disk(paper, monkeypatch, tmp_path):
    monkeypatch.setenv("EPIC_DOWNLOADS", str(tmp_path))
    job, name = Job("fetch", {"file": "epic.p"}), "epic.p"
    monkeypatch.setattr(sources, "disk_of", lambda _: 1)
    assert [(found.name, found.folder, found.size) for found in files(paper, job).values()] == [(name, tmp_path, 510e6)]
    (tmp_path / name).write_bytes(b"placed by hand")
    assert not files(paper, job)  # results link to it
    monkeypatch.setattr(sources, "disk_of", lambda folder: str(folder))
    assert [(found.folder.name, found.size, found.hosts) for found in files(paper, job).values()] == [("results", 510e6, ())]


def test_every_rule_that_opens_the_collection_is_known():
    rules = {path.stem for path in (ROOT / "workflow" / "rules").glob("*.smk") if "manifest=rules.data" in path.read_text()}
    assert rules - {"data", "prune", "metadata", "rerank", "latency", "statistics"} <= sources.READ_DOCUMENTS
