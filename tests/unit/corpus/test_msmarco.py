"""ir_datasets' own code for msmarco-passage, unmodified, on tiny archives in MS MARCO's formats."""

import ctypes
import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from epic.corpus import msmarco
from epic.corpus.text_files import read_qrels, read_queries, read_triples
from epic.experiment.check import load_experiments
from tests.conftest import ROOT
from tests.seeded import DEV, DL19, DL20, FIGURE, PASSAGES, REPAIRED, TRAIN, VALIDATION, run_in, seed, seed_tiny

SETS = {
    "validation": "msmarco-passage/train/split200-valid",
    "dev-small": "msmarco-passage/dev/small",
    "dev-judged": "msmarco-passage/dev/judged",
    "dl19": "msmarco-passage/trec-dl-2019/judged",
    "dl20": "msmarco-passage/trec-dl-2020/judged",
}
PREPARE = f"""
import json, logging, sys
logging.basicConfig(level="INFO")
from pathlib import Path
from epic.corpus.data import prepare_documents, prepare_queries
from epic.corpus.documents import open_documents
from epic.corpus.triples import write_triples
out = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(OUT)
prepare_documents("msmarco-passage", COUNT, out / "manifest.json")
documents = open_documents(out / "manifest.json")
for name, dataset in {SETS!r}.items():
    prepare_queries(dataset, documents, out / f"{{name}}.tsv", out / f"{{name}}.qrels", out / f"{{name}}.json")
source = {{"source": "docpairs", "dataset": "msmarco-passage/train/split200-train"}}
write_triples(source, 10, {{"manifest": out / "manifest.json"}}, out / "triples.tsv", out / "triples.queries.tsv")
middle = len(documents) // 2
shards = [list(documents.span(span)) for span in (range(middle), range(middle, len(documents)))]
(out / "shards.json").write_text(json.dumps(shards))
"""


def prepare(home, out, count=7, **environment):
    return run_in(home, PREPARE.replace("OUT", repr(str(out))).replace("COUNT", str(count)), **environment)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A seeded home, and what the rules data, queries and triples make of it."""
    home, out = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("out")
    asked = seed(home)
    run = prepare(home, out)
    assert run.returncode == 0, run.stderr
    return out, asked, run.stderr, home


def test_passages_are_counted_and_their_encoding_is_repaired_and_said_to_be(prepared):
    out, *_ = prepared
    assert json.loads((out / "manifest.json").read_text()) == {
        "documents": "msmarco-passage",
        "field": None,
        "count": len(PASSAGES),
        "encoding": "repaired by ir_datasets",
    }
    passages = [passage for shard in json.loads((out / "shards.json").read_text()) for passage in shard]
    assert passages == [[str(i), REPAIRED if i == 2 else text] for i, text in enumerate(PASSAGES)]


def test_query_sets_are_those_of_the_paper(prepared):
    out, asked, *_ = prepared
    found = {name: read_queries(out / f"{name}.tsv") for name in SETS}
    assert found["validation"] == asked["validation"]  # of the training file, the held-out ones, judged or not
    assert found["dev-small"] == dict(list(asked["dev"].items())[:2]) == asked["dev-small"]
    for name, queries, full in (("dev-judged", DEV, "dev"), ("dl19", DL19, "dl19"), ("dl20", DL20, "dl20")):
        judged = [query.text for query in queries if query.relevant]
        assert list(found[name].values()) == judged != list(asked[full].values())


def test_judgments_keep_their_grades(prepared):
    out, *_ = prepared
    assert read_qrels(out / "validation.qrels") == {"93927": {"3": 1}}
    assert read_qrels(out / "dev-judged.qrels")[FIGURE] == {"0": 1, "1": 1}
    assert sorted(read_qrels(out / "dl19.qrels")["19001"].values()) == [0, 1, 3]


def test_docpairs_are_taken_in_file_order_without_the_held_out_queries(prepared):
    out, asked, *_ = prepared
    triples = read_triples(out / "triples.tsv")
    judged = [query_id for query_id, query in zip(asked["train"], TRAIN, strict=True) if query.relevant]
    assert [triple.query_id for triple in triples] == judged * 5
    assert triples[:2] == [(judged[0], "0", "1"), (judged[1], "6", "1")]
    assert read_queries(out / "triples.queries.tsv") == {query_id: asked["train"][query_id] for query_id in judged}


def test_where_the_collection_lies_no_terms_are_shown(prepared):
    assert "msmarco.org" not in prepared[2]


def test_all_queries_of_the_collection_are_counted_judged_or_not(prepared, tiny_encoder, tmp_path):
    counted = {"count": 7, "total": 30, "squares": 140}
    (tmp_path / "lengths.json").write_text(json.dumps({"word_pieces": counted, "terms": counted}))
    datasets = ["msmarco-passage/train", "msmarco-passage/dev"]
    code = "from epic.analysis.statistics import write_statistics\n"
    (tmp_path / "manifest.json").write_text('{"count": 7}')
    paths = f"{str(tmp_path / 'manifest.json')!r}, [{str(tmp_path)!r}], {datasets}, {str(tiny_encoder)!r}"
    code += f"write_statistics({paths}, {str(tmp_path / 's.json')!r})"
    run = run_in(prepared[3], code)
    assert run.returncode == 0, run.stderr
    queries = json.loads((tmp_path / "s.json").read_text())["queries"]
    judged = [len(query.relevant) for query in (*TRAIN, *VALIDATION, *DEV) if query.relevant]
    assert queries["count"] == len(TRAIN) + len(VALIDATION) + len(DEV) == 9
    assert queries["answered_share"] == len(judged) / 9 and queries["judgments_per_query"] == sum(judged) / 9


def test_another_count_is_refused(prepared, tmp_path):
    run = prepare(prepared[3], tmp_path, count=8841823)
    assert run.returncode and "msmarco-passage has 7 documents, the experiment says 8841823" in run.stderr
    assert not (tmp_path / "manifest.json").exists()


def limited():
    """Run without the right of root to write everywhere; for others this changes nothing."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # drop CAP_DAC_OVERRIDE


def test_a_read_only_home_serves_documents_queries_and_triples(prepared, tmp_path):
    home = prepared[3]
    folders = [home, *(path for path in home.rglob("*") if path.is_dir())]
    modes = {folder: folder.stat().st_mode for folder in folders}
    files = {path: path.stat().st_mode for path in home.rglob("*") if path.is_file()}
    try:
        for path in [*files, *folders]:
            path.chmod(path.stat().st_mode & ~0o222)
        code = PREPARE.replace("OUT", repr(str(tmp_path))).replace("COUNT", str(len(PASSAGES)))
        refused = (
            f"try:\n    open({str(home / 'x')!r}, 'w')\nexcept OSError:\n    pass\nelse:\n    raise SystemExit('writable')\n"
        )
        environment = os.environ | {"IR_DATASETS_HOME": str(home), "IR_DATASETS_DL_TRIES": "1"}
        run = subprocess.run(
            [sys.executable, "-c", refused + code], cwd=ROOT, env=environment, capture_output=True, text=True,
            preexec_fn=limited, check=False,
        )  # fmt: skip
    finally:
        for path, mode in (modes | files).items():
            path.chmod(mode)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "shards.json").read_bytes() == (prepared[0] / "shards.json").read_bytes()
    assert "cannot be locked" in run.stderr


def test_two_processes_that_build_at_once_leave_one_whole_store(tmp_path):
    home = tmp_path / "home"
    passages = [f"passage number {i}" for i in range(3000)]
    seed(home, passages)
    code = PREPARE.replace("COUNT", str(len(passages)))
    environment = os.environ | {"IR_DATASETS_HOME": str(home)}
    outs = [tmp_path / name for name in ("one", "two", "three")]
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(out)], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
        for out in outs
    ]
    said = [run.communicate(timeout=120)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], said
    assert sum("building the store" in text for text in said) == 1
    shards = [json.loads((out / "shards.json").read_text()) for out in outs]
    assert [text for shard in shards[0] for _, text in shard] == passages and shards[0] == shards[1] == shards[2]


def test_a_build_that_was_killed_is_begun_anew(tmp_path):
    home, out = tmp_path / "home", tmp_path / "out"
    seed(home)
    waiting = """
import time
from epic.corpus.store_builder import Ids
Ids.commit = lambda self: (print("positions are written", flush=True), time.sleep(60))
from epic.corpus.data import prepare_documents
prepare_documents("msmarco-passage", 7, "never")
"""
    environment = os.environ | {"IR_DATASETS_HOME": str(home)}
    run = subprocess.Popen([sys.executable, "-c", waiting], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "positions are written\n"
    run.send_signal(signal.SIGKILL)
    run.wait()
    again = prepare(home, out)
    assert again.returncode == 0, again.stderr
    store = next(Path(home).rglob("bin"))
    assert store.stat().st_size < 2000 and len(json.loads((out / "shards.json").read_text())[1]) == 4


def test_the_embedded_collection_can_be_seeded_whole(tmp_path):
    start = time.monotonic()
    asked = seed_tiny(tmp_path / "home")
    run = prepare(tmp_path / "home", tmp_path / "out", count=336)
    assert run.returncode == 0, run.stderr
    assert len(asked["validation"]) == 36 and FIGURE in read_queries(tmp_path / "out" / "dev-judged.tsv")
    assert time.monotonic() - start < 60


def test_a_damaged_archive_is_named_with_both_md5s(tmp_path):
    seed(tmp_path / "home")
    archive = tmp_path / "home" / "msmarco-passage" / "collectionandqueries.tar.gz"
    archive.write_bytes(archive.read_bytes()[:200])
    run = prepare(tmp_path / "home", tmp_path / "out")
    assert run.returncode and "31644046b18952c1386cd4564ba2ae69" in run.stderr and "cannot be read" in run.stderr
    assert f"InputError: msmarco-passage: {archive}" in run.stderr and "move this one away to download it anew" in run.stderr


def test_the_page_on_offline_runs_lists_every_file_that_the_paper_needs_with_size_md5_and_place(tmp_path):
    page = (ROOT / "docs" / "offline.md").read_text()
    listed = re.findall(r"^\| (\S+) \| ([\d,]+) \| `(\w{32})` \| `(\S+)`", page, re.MULTILINE)
    known = json.loads(pkgutil.get_data("ir_datasets", "etc/downloads.json"))["msmarco-passage"].values()
    by_name = {entry["url"].rsplit("/", 1)[1]: entry for entry in known}
    for name, size, md5, place in listed:
        entry = by_name[name]
        assert (entry["size_hint"], entry["expected_md5"]) == (int(size.replace(",", "")), md5), name
        assert place == entry.get("cache_path", "trec-dl-2019/queries.tsv"), name
    seed(tmp_path)  # with which all of the paper's data rules run
    placed = {str(path.relative_to(tmp_path / "msmarco-passage")) for path in tmp_path.rglob("*") if path.is_file()}
    assert {place for *_, place in listed} == placed


def test_the_collection_s_size_is_the_one_that_ir_datasets_and_the_paper_s_experiment_say():
    known = json.loads(pkgutil.get_data("ir_datasets", "etc/metadata.json"))["msmarco-passage"]["docs"]["count"]
    assert msmarco.PASSAGES == known == load_experiments([ROOT / "workflow" / "experiments"])["paper"]["data"]["count"]
    assert msmarco.PASSAGES % 8 == 7 and msmarco.VOCABULARY * 768 * 4 == 93_763_584  # bytes of bert-base-uncased's embeddings


def test_the_query_sets_have_the_sizes_that_ir_datasets_says():
    known = json.loads(pkgutil.get_data("ir_datasets", "etc/metadata.json"))
    assert {name: known[name]["queries"]["count"] for name in msmarco.QUERIES} == msmarco.QUERIES
