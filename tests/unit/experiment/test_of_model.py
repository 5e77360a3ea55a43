"""What jobs of one model read: to show it, to remove its vectors, to wait for its turn."""

import pytest

from epic.core.files import InputError
from epic.experiment import of_model
from epic.experiment.check import load_experiments
from epic.experiment.wanted import Shards, Within, output
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]
PAIRS = PAPER | {"models": [model | {"family": "tests.fake_ranker"} for model in PAPER["models"]]}


def test_vectors_are_removed_after_all_that_reads_them():
    found = of_model.discarding(PAPER, "authors")
    assert found["shards"] == Shards("encode.vectors", {"model": "authors"}) and len(found["stores"]) == 3
    assert len(found["runs"]) == 2 * 3 * 4 and not any(run.wildcards["row"].endswith("full") for run in found["runs"])
    assert found["latency"] == output("latency.folder", timed="authors") and found["costs"] == output(
        "costs.costs", model="authors"
    )
    with pytest.raises(InputError, match="its vectors are kept"):
        of_model.discarding(SMOKE, "paper")


def test_a_model_waits_for_the_one_before_only_where_all_are_asked_for_and_vectors_are_not_kept():
    before = {"paper": [], "released": ["paper"], "authors": ["released"]}
    for model, others in before.items():
        found = of_model.waiting(PAPER, model, all_rows=True)
        assert [file.wildcards["model"] for file in found] == others and {file.name for file in found} <= {"discard.discarded"}
        assert of_model.waiting(PAPER, model, all_rows=False) == []
    assert of_model.waiting(SMOKE, "released", all_rows=True) == [] == of_model.waiting(PAIRS, "authors", all_rows=True)


def test_a_page_shows_the_model_s_own_rows_and_the_first_stages_beside_them():
    found = of_model.showing(PAPER, "authors", "authors")
    assert len(found["rows"]) == 8 and all(row.startswith("authors-") for row in found["rows"])
    assert list(found["cutoffs"]) == ["bm25", "doctttttquery"] and list(found["latencies"])[:2] == ["bm25", "doctttttquery"]
    assert found["timings"]["bm25"] == Within(output("latency.folder", timed="authors"), "bm25.tsv")
    assert found["discarded"] == output("discard.discarded", model="authors") and found["history"] == []
    kept = of_model.showing(SMOKE, "paper", "together")
    assert kept["discarded"] == [] and kept["history"] == output("train.history", model="paper")
    assert kept["latencies"]["bm25"] == Within(output("latency.folder", timed="together"), "bm25.json")


def test_a_family_that_precomputes_nothing_has_no_vectors_to_show():
    found = of_model.showing(PAIRS, "authors", "authors")
    assert found["costs"] == found["frequencies"] == found["texts"] == found["discarded"] == []


def test_each_row_is_tested_against_its_own_first_stage():
    assert of_model.own_first_stages(PAPER, "released")["released-doctttttquery-r100"] == "doctttttquery"
    tests = of_model.tests(PAPER, "authors")
    assert len(tests) == 8 * 4 and {(test["row"].split("-")[1], test["baseline_id"]) for test in tests} == {
        ("bm25", "bm25"),
        ("doctttttquery", "doctttttquery"),
    }
    assert {file.wildcards["row"] for file in of_model.compared(PAPER, "authors")} == {
        "bm25",
        "doctttttquery",
        *(test["row"] for test in tests),
    }


def test_a_model_that_a_published_run_is_timed_with_shows_that_row_beside_its_own():
    rows = [
        row | {"timed": {"model": "authors", "first_stage": "bm25", "hits": 50}} if row["id"] == "bert-large" else row
        for row in PAIRS["rows"]
    ]
    found = PAIRS | {"rows": rows}
    assert of_model.own_first_stages(found, "authors")["bert-large"] == "bm25"
    page = of_model.showing(found, "authors", "authors")
    assert "bert-large" in page["latencies"] and "bert-large" not in page["rows"]


def test_a_model_without_rows_has_no_page():
    rows = [row for row in PAPER["rows"] if row.get("model") != "authors"]
    with pytest.raises(InputError, match="model authors has no rows"):
        of_model.rows_of(PAPER | {"rows": rows}, "authors")
    with pytest.raises(InputError, match="there is no model nope; there are paper, released, authors"):
        of_model.rows_of(PAPER, "nope")


def test_a_model_on_run_files_alone_shows_no_milliseconds_and_its_vectors_wait_for_none():
    dph = EXPERIMENTS["covid-dph"]
    found = of_model.showing(dph, "authors", "authors")
    assert found["latencies"] == found["timings"] == {} and len(found["rows"]) == 2 and found["frequencies"] == []
    assert of_model.discarding(dph | {"keep": []}, "authors")["latency"] == [] and of_model.own_first_stages(dph, "authors") == {}
