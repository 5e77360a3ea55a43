"""TREC CAR through all stages: its ids are paths of headings in percent escapes, and ids of one's own may be any letters."""

import json
import string

import pytest
import yaml

from epic.core.tables import read_table
from epic.corpus.runs import read_run
from epic.corpus.text_files import read_qrels, read_queries, read_triples
from epic.evaluation.evaluate import read_values
from epic.model.query_vector import read_vectors
from tests.conftest import ROOT, snakemake
from tests.seeded_car import (
    AERODROME,
    BEES,
    DATASET,
    EMPTY,
    MANUAL,
    PARAGRAPHS,
    TEST,
    TRAIN,
    TWICE,
    VALIDATION,
    paragraph_id,
    queries_of,
    seed_car,
)

pytestmark = pytest.mark.smoke
IDS = [paragraph_id(parts) for parts in PARAGRAPHS]
SUBHEAD = "A%C3%A9rodrome%20X/Heading%20one/Sub/head"
ODD = {  # ids of one's own
    "enwiki:Aérodrome%20X/Heading%20one/Sub%2Fhead": ("aérodrome runways", 0),
    "".join(letter for letter in string.printable if letter.isprintable() and letter != " "): ("honey", 4),
    "漢字/😀/e\u0301/é": ("beeswax polish", 6),
    "../é%20" * 500: ("bees", 3),
    "%s{0}": ("zebras", 0),
    "NA": ("runways", 0),
    "007": ("candles", 6),
    "=1+1": ("flowers", 3),
    "<script>alert(1)</script>": ("nectar", 3),
}  # fmt: skip
SETS = {"train": TRAIN, "validation": VALIDATION, "test": TEST, "manual": MANUAL, "odd": "path:odd#odd"}
PURPOSES = {"train": "train", "validation": "validation"}


def experiment():
    """Smoke's EPIC on the seeded collection."""
    settings = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
    settings["data"] = {"documents": DATASET, "field": None, "count": len(PARAGRAPHS)}
    settings["query_sets"] = [
        {"id": name, "dataset": dataset, "purpose": PURPOSES.get(name, "test"), "hits": 200, "relevance": 2 if name == "manual" else 1}
        for name, dataset in SETS.items()
    ]  # fmt: skip
    settings |= {"weighters": [], "models": settings["models"][:1], "first_stages": settings["first_stages"][:1]}
    settings["first_stages"][0] |= {"k1": 0.6, "b": 0.5}
    settings["rows"] = [
        {"id": "bm25", "label": "BM25", "group": "Single-stage ranking", "kind": "first-stage", "first_stage": "bm25", "published": []},
        {
            "for": {"model": ["paper"], "first_stage": ["bm25"], "keep": ["full", 100]}, "id": "epic-{keep}", "published": [],
            "label": "EPIC{pruned}", "group": "Re-ranking", "kind": "model",
        },
    ]  # fmt: skip
    settings["comparisons"] = [
        {"mark": "a", "says": "EPIC against BM25", "margin": None, "system": {"model": "paper"}, "baseline": "own-first-stage"}
    ]
    settings["train"] |= {"batch_size": 4, "micro_batch_size": 4, "validate_every": 8, "max_validations": 1}
    settings["encode"]["keep"] = [100]
    settings["latency"] |= {"query_set": "odd", "warm_up": 1, "measured": 6}
    settings["evaluate"]["headline"] = "odd"
    odd = next(iter(ODD))
    settings["texts"] = {
        "queries": ['It\'s "50%" <b> & a|b'],
        "passages": [{"query_set": "test", "query": SUBHEAD}, {"query_set": "odd", "query": odd}, IDS[7]],
    }
    settings["statistics"] = {"queries": [TRAIN, VALIDATION, TEST]}
    return settings


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("car")
    seed_car(folder / "home")
    (folder / "odd").mkdir()
    (folder / "odd" / "queries.odd.tsv").write_text("".join(f"{query_id}\t{text}\n" for query_id, (text, _) in ODD.items()))
    (folder / "odd" / "qrels.odd.txt").write_text(
        "".join(f"{query_id} 0 {IDS[place]} 1\n" for query_id, (_, place) in ODD.items())
    )
    (folder / "experiments").mkdir()
    (folder / "experiments" / "mine.yaml").write_text(yaml.safe_dump(experiment()))
    targets = [
        f"results/mine/{name}"
        for name in ("report.html", "experiment.yaml", "statistics/collection.json", "rows/epic-r100.md", "models/paper.md")
    ]
    run = snakemake(*targets, directory=folder, IR_DATASETS_HOME=str(folder / "home"), IR_DATASETS_DL_TRIES="1")
    assert run.returncode == 0, run.stdout[-6000:]
    return folder / "results" / "mine"


def asked(name):
    """The ids of a query set."""
    pages = {"train": (BEES, TWICE), "validation": (BEES,), "test": (AERODROME, EMPTY), "manual": (AERODROME, EMPTY)}
    return set(queries_of(pages[name])) if name in pages else set(ODD)


@pytest.mark.parametrize("name", SETS)
def test_ids_are_the_same_in_queries_judgments_and_runs(results, name):
    assert (
        read_queries(results / f"data/{name}.queries.tsv").keys()
        == asked(name)
        == read_qrels(results / f"data/{name}.qrels.txt").keys()
    )
    without = set(json.loads((results / f"retrieve/bm25/{name}.json").read_text())["without_hits"])
    assert read_run(results / f"retrieve/bm25/{name}.run").keys() == asked(name) - without
    assert without == ({"%s{0}"} if name == "odd" else set())


@pytest.mark.parametrize("name", ["test", "manual", "odd"])
@pytest.mark.parametrize("row", ["bm25", "epic-full", "epic-r100"])
def test_ids_are_the_same_in_rankings_and_values(results, name, row):
    first = read_run(results / f"retrieve/bm25/{name}.run")
    if row != "bm25":
        ranked = read_run(results / f"rerank/{row}/{name}.run")
        assert {query_id: {hit.doc_id for hit in hits} for query_id, hits in ranked.items()} == {
            query_id: {hit.doc_id for hit in hits} for query_id, hits in first.items()
        }
        assert read_vectors(results / f"weigh/paper/{name}.jsonl").keys() == asked(name)
    assert set(read_values(results / f"evaluate/{row}/{name}.tsv").index) == asked(name)
    facts = json.loads((results / f"rows/{row}.json").read_text())["metrics"][name]
    assert facts["queries"] == len(asked(name))


def test_values_are_those_of_the_judged_paragraphs(results):
    values = read_values(results / "evaluate/bm25/odd.tsv")["RR@10"]
    assert values.to_dict() == {query_id: float(query_id != "%s{0}") for query_id in ODD}


def test_triples_name_training_queries_and_paragraphs(results):
    triples, qrels = read_triples(results / "triples/8/triples.tsv"), read_qrels(results / "data/train.qrels.txt")
    named = asked("train") - {"Bee/Honey"}  # whose hits are all relevant
    assert (
        len(triples) == 8
        and {triple.query_id for triple in triples} == named == read_queries(results / "triples/8/queries.tsv").keys()
    )
    assert all(
        qrels[triple.query_id][triple.relevant_id] == 1 and triple.other_id not in qrels[triple.query_id] for triple in triples
    )


def test_timings_have_the_ids_of_their_queries(results):
    frame = read_table(results / "latency/together/epic-r100.tsv", "timings", ["query_id", "pass"], "total_ns", "int64")
    assert list(dict.fromkeys(frame.index.get_level_values("query_id"))) == list(ODD)[1:7]


def test_a_passage_is_shown_for_a_query_of_either_kind(results):
    shown = json.loads((results / "interpret/paper.json").read_text())["passages"]
    assert [passage["doc_id"] for passage in shown] == [IDS[1], IDS[0], IDS[7]]


def test_paragraphs_without_text_are_not_indexed_and_have_vectors_all_the_same(results):
    counts = json.loads((results / "data/manifest.json").read_text())["count"]
    header = json.loads((results / "prune/paper/100/header.json").read_text())
    assert counts == header["documents"] == 8 and header["ids_width"] == 40
    said = (results / "logs/expand/bm25.log").read_text()
    assert "8 documents, 6 with text" in said


def test_pages_show_ids_and_texts_as_texts(results):
    page = (results / "report.html").read_text()
    assert "<script>alert(1)</script>" not in page and 'It\'s "50%" <b> &' not in page
    statistics = json.loads((results / "statistics/collection.json").read_text())["queries"]
    assert statistics["count"] == 9 and statistics["answered_share"] == 1.0 and statistics["judgments_per_query"] == 12 / 9
