"""Measurements: which rows are timed side by side."""

import pytest

from epic.core.files import InputError
from epic.experiment import measurements
from epic.experiment.check import load_experiments
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]


BOTH = {
    "models": [*SMOKE["models"], SMOKE["models"][0] | {"id": "slow", "family": "tests.fake_ranker", "latency": {"warm_up": 1, "measured": 3}}],
    "rows": [
        row | ({"timed": {"model": "slow", "first_stage": "bm25", "hits": 50}} if row["id"] == "bert-large" else {})
        for row in SMOKE["rows"]
    ],
}  # fmt: skip
TIMED = SMOKE | BOTH
UNTIMED = SMOKE | {"rows": [{key: value for key, value in row.items() if key != "timed"} for row in SMOKE["rows"]]}


def ids(settings, timed):
    return [row["id"] for row in measurements.rows_timed(settings, timed)]


def test_a_model_is_timed_with_the_first_stages_that_it_stands_on():
    released = ids(SMOKE, "released")
    assert released[:2] == ["bm25", "doctttttquery"] and len(released) == 2 + 8 and "epic-bm25-full" not in released
    assert ids(SMOKE, "first-stages") == ["doc2query", "deepct"] and ids(SMOKE, "bm25") == ["bm25"]
    with pytest.raises(InputError, match="there is no row nope; there are bm25"):
        ids(SMOKE, "nope")


def test_one_measurement_has_all_rows_where_vectors_are_kept_and_each_model_its_own_where_they_are_not():
    assert list(measurements.measurements(SMOKE)) == ["together"] and len(measurements.measurements(SMOKE)["together"]) == 24
    without = measurements.measurements(SMOKE | {"keep": []})
    sizes = {name: len(rows) for name, rows in without.items()}
    assert sizes == {"paper": 10, "released": 10, "duet": 2, "tk": 2, "cross": 3, "first-stages": 2}
    every = {row for rows in without.values() for row in rows}
    assert every == set(measurements.measurements(SMOKE)["together"])


def test_every_timed_row_has_one_measurement_that_tells_its_latency():
    assert {measurements.measurement_of(SMOKE, row["id"]) for row in measurements.timed_rows(SMOKE)} == {"together"}
    of = {row["id"]: measurements.measurement_of(PAPER, row["id"]) for row in measurements.timed_rows(PAPER)}
    assert (
        of["released-doctttttquery-full"] == "released" and of["doctttttquery"] == "paper" and of["doc2query"] == "first-stages"
    )


def test_a_published_run_is_timed_with_the_model_that_it_names_and_beside_its_first_stage():
    assert "bert-large" not in ids(UNTIMED, "together") and ids(SMOKE, "cross") == ["bm25", "cross-encoder", "bert-large"]
    assert ids(TIMED, "together")[-1] == "bert-large"
    assert ids(TIMED, "slow") == ["bm25", "bert-large"] and ids(TIMED, "bert-large") == ["bert-large"]
    models = ["paper", "released", "duet", "tk", "cross", "slow"]
    assert list(measurements.measurements(TIMED | {"keep": []})) == [*models, "first-stages"]
    assert measurements.measurement_of(TIMED | {"keep": []}, "bert-large") == "slow"
    assert measurements.timed_models(TIMED, "slow") == [None, "slow"] and measurements.timed_models(TIMED, "bert-large") == [
        "slow"
    ]
    facts = measurements.timed_facts(TIMED, "bert-large")["bert-large"]
    assert facts == {"kind": "run-file", "keep": None, "family": "tests.fake_ranker"}
    settings = measurements.timed_settings(TIMED, "slow")
    assert {row: found["hits"] for row, found in settings.items()} == {"bm25": 100, "bert-large": 50}
    assert settings["bert-large"]["first_stage"]["id"] == "bm25"
    cuda = TIMED | {"compute": TIMED["compute"] | {"device": "cuda"}}
    assert [measurements.gpus_of_timing(cuda, timed) for timed in ("bert-large", "bm25")] == [1, 0]


def test_what_was_done_to_passages_before_any_query_is_known_of_every_timed_row():
    done = measurements.done_before(TIMED)
    encoded, predicted = {"says": "passages encoded", "model": "released"}, {"says": "queries predicted"}
    assert done["bm25"] == done["bert-large"] == [] and done["doc2query"] == [predicted]
    assert done["deepct"] == [{"says": "words reweighted"}] and done["released-doctttttquery-r100"] == [predicted, encoded]
    assert done.keys() == {row["id"] for row in measurements.timed_rows(TIMED)}


def test_only_a_model_that_says_so_is_timed_on_other_queries_than_all():
    rows = {row["id"]: measurements.queries_of(TIMED, row) for row in measurements.timed_rows(TIMED)}
    assert rows.pop("bert-large") == {"warm_up": 1, "measured": 3}
    assert all(found == {"warm_up": 2, "measured": 6} for found in rows.values())


def test_no_measurement_of_first_stages_is_made_where_models_stand_on_all_of_them():
    rows = [row for row in PAPER["rows"] if row["id"] not in ("doc2query", "deepct")]
    assert list(measurements.measurements(PAPER | {"rows": rows})) == [
        "paper",
        "released",
        "authors",
        "duet",
        "tk1",
        "tk3",
        "bert",
    ]


def test_a_row_whose_first_stage_is_a_run_file_is_not_timed():
    dph, bm25 = EXPERIMENTS["covid-dph"], EXPERIMENTS["covid"]
    assert measurements.timed_rows(dph) == [] and measurements.measurements(dph) == {} == measurements.done_before(dph)
    assert measurements.measurements(dph | {"keep": []}) == {}
    assert ids(dph, "together") == ids(dph, "authors") == ids(dph, "dph") == ids(dph, "authors-dph-full") == []
    assert measurements.measurements(bm25) == {"together": ["bm25", "authors-bm25-full", "authors-bm25-r1000"]}
    both = dph | {"first_stages": [*dph["first_stages"], *bm25["first_stages"]], "rows": [*dph["rows"], *bm25["rows"]]}
    assert ids(both, "together") == ids(both, "authors") == ["bm25", "authors-bm25-full", "authors-bm25-r1000"]
    with pytest.raises(InputError, match="there is no row nope"):
        ids(dph, "nope")
