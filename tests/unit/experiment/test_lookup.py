"""Lookups: what an experiment's settings mean for its stages."""

import pytest

from epic.core.files import InputError
from epic.experiment import lookup, measurements, trained
from epic.experiment.check import load_experiments
from epic.experiment.lookup import find, sets_of, tuning_set, validation_set
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]


def test_a_published_run_is_scored_on_its_own_query_set_only():
    scored = {
        name: sets_of(PAPER, find(PAPER["rows"], name)) for name in ("bert-large", "bert-large-rescored", "duet-v2", "bm25")
    }
    assert scored == {
        "bert-large": ["dev-small"],
        "bert-large-rescored": ["dev-small", "dl19", "dl20"],
        "duet-v2": ["dev-small", "dev-judged", "dl19", "dl20"],
        "bm25": ["dev-small", "dev-judged", "dl19", "dl20"],
    }
    assert sets_of(SMOKE, find(SMOKE["rows"], "tk-3")) == []  # it is not run


def test_the_cut_off_is_chosen_on_a_set_of_its_own_where_there_is_one():
    assert tuning_set(EXPERIMENTS["mini"]) == "tune" and validation_set(EXPERIMENTS["mini"]) == "validation"
    assert tuning_set(PAPER) == validation_set(PAPER) == "validation"
    assert lookup.relevance_of(PAPER, "dev-small") == 1 and lookup.relevance_of(PAPER, "dl19") == 2


def measured(settings, relevance=None, **evaluate):
    """An experiment with other measures, and perhaps with judgments that are all graded."""
    sets = [found | ({"relevance": relevance} if relevance else {}) for found in settings["query_sets"]]
    return settings | {"evaluate": settings["evaluate"] | evaluate, "query_sets": sets}


def names(settings, query_set):
    return [found["name"] for found in lookup.measures_on(settings, query_set)]


def test_models_and_cut_offs_are_chosen_by_one_measure_from_the_grade_on_that_their_queries_have():
    found = {"name": "RR@10", "trec_eval": "recip_rank", "relevance": 1, "depth": 10}
    assert lookup.validation_measure(PAPER) == lookup.tuning_measure(PAPER) == found
    other = measured(EXPERIMENTS["mini"], selection="Rprec")
    assert lookup.validation_measure(other)["name"] == lookup.tuning_measure(other)["name"] == "Rprec"
    other["query_sets"] = [found | {"relevance": {"tune": 3}.get(found["id"], 1)} for found in other["query_sets"]]
    assert lookup.validation_measure(other)["name"] == "Rprec" and lookup.validation_measure(other)["relevance"] == 1
    assert lookup.tuning_measure(other) == {"name": "Rprec(rel=3)", "trec_eval": "Rprec", "relevance": 3, "depth": None}
    assert lookup.metric_of(other, "test") == "RR@10"  # what the table shows is another matter


def test_every_query_set_has_the_measures_of_the_experiment_from_its_own_grade_on_and_recall_at_its_own_depth():
    assert names(PAPER, "dev-small") == ["RR@10", "nDCG@10", "AP", "R@1000"]
    assert names(PAPER, "dev-judged") == ["RR@10", "nDCG@10", "AP", "R@200"]
    assert names(PAPER, "dl19") == ["RR@10", "nDCG@10", "RR(rel=2)@10", "AP(rel=2)", "R(rel=2)@1000"]
    car = measured(PAPER, measure="AP", measures=["RR", "Rprec", "AP"])
    assert names(car, "dev-small") == ["RR", "Rprec", "AP"] and lookup.metric_of(car, "dev-small") == "AP"
    assert names(car, "dl19") == ["AP", "RR(rel=2)", "Rprec(rel=2)", "AP(rel=2)"]
    assert lookup.metric_of(car, "dl19") == "AP(rel=2)"
    graded = measured(PAPER, 3, measure="nDCG@10")
    assert names(graded, "dl19") == ["nDCG@10", "RR(rel=3)@10", "AP(rel=3)", "R(rel=3)@1000"]
    assert lookup.metric_of(graded, "dl19") == "nDCG@10"  # it weighs the grades, whichever counts elsewhere


def test_what_does_not_exist_lists_what_does():
    with pytest.raises(InputError, match="there is no row c; there are a, b"):
        find([{"id": "a"}, {"id": "b"}], "c", "row")
    with pytest.raises(InputError, match=r"there is no download x; there are predicted_queries.*epic\.p"):
        lookup.download_named(PAPER, "x")
    with pytest.raises(InputError, match="there is no encoder x; there are minilm"):
        lookup.encoder_named(SMOKE, "x")
    assert lookup.encoder_named(SMOKE, "minilm").keys() == {"source", "revision", "sha256"}
    model = SMOKE["models"][0]
    elsewhere = model["encoder"] | {"id": "older", "tokenizer": {"source": "a/b", "revision": None}}
    found = lookup.encoder_named(SMOKE | {"models": [model | {"encoder": elsewhere}]}, "older")
    assert found == {key: value for key, value in elsewhere.items() if key != "id"}


def test_an_encoder_that_only_a_weighter_has_is_found():
    encoder = SMOKE["weighters"][0]["encoder"] | {"id": "own"}
    settings = SMOKE | {"weighters": [SMOKE["weighters"][0] | {"encoder": encoder}]}
    assert lookup.encoder_named(settings, "own")["source"] == encoder["source"]


def test_training_depends_on_a_model_but_not_on_how_it_is_shown():
    model = find(SMOKE["models"], "released")
    assert lookup.training_of(model) == lookup.training_of(
        model | {"label": "Other", "group": "Other", "tolerance": 1, "prefix": "x"}
    )
    assert lookup.training_of(model) != lookup.training_of(model | {"seed": 43})
    assert lookup.compute_of(SMOKE) == {"device": "cpu", "threads": 1, "precision": "float32"}
    assert lookup.bm25_of(SMOKE, "deepct") == {"k1": 10, "b": 0.9}


def test_no_param_has_a_setting_that_no_result_depends_on():
    """They reach jobs as resources, which Snakemake does not compare."""
    assert not {"token_budget", "vocabulary_block", "shards"} & set(lookup.watched(PAPER, "encode"))
    assert set(PAPER["train"]) - set(trained.watched_training(PAPER, "paper")) == {"validation_token_budget"}
    assert "encode" not in measurements.timed_settings(PAPER, "together")["epic-bm25-full"]


def test_a_row_may_name_the_test_sets_it_is_run_on():
    row = find(PAPER["rows"], "epic-bm25-full")
    assert sets_of(PAPER, row) == ["dev-small", "dev-judged", "dl19", "dl20"]
    named = row | {"query_sets": ["dl20"]}
    assert sets_of(PAPER, named) == ["dl20"] and lookup.own_tests(PAPER, named) == [("bm25", "dl20")]
    rows = [row | ({"query_sets": ["dl19"]} if row["id"] == "bm25" else {}) for row in PAPER["rows"]]
    assert lookup.own_tests(PAPER | {"rows": rows}, row) == [("bm25", "dl19")]  # its baseline has no other
    assert lookup.row_settings(SMOKE, find(SMOKE["rows"], "deepct"))["weighter"]["train"]["query_set"] == "train"


def test_rows_of_a_kind_and_why_another_will_not_do():
    kinds = {name: find(PAPER["rows"], name) for name in ("bert-large", "bm25")}
    assert lookup.row_of_kind(kinds["bm25"], measurements.TIMED) is kinds["bm25"]
    with pytest.raises(InputError, match="row tk-3 is of the kind published-only: it is not run here"):
        lookup.row_of_kind(find(SMOKE["rows"], "tk-3"), measurements.TIMED)
    with pytest.raises(InputError, match="row bm25 is of the kind first-stage: there is nothing to re-rank"):
        lookup.row_of_kind(kinds["bm25"], ("model",))
    assert lookup.published_run(kinds["bert-large"], "dev-small") == "download:BERT_Large_dev_run.tsv"
    with pytest.raises(InputError, match="row bert-large has no published run of dl19"):
        lookup.published_run(kinds["bert-large"], "dl19")


def test_which_rows_read_a_store_and_which_need_candidates():
    rows = {row["id"]: row for row in lookup.model_rows(SMOKE)}
    assert lookup.is_pruned(rows["epic-bm25-r100"]) and not lookup.is_pruned(rows["epic-bm25-full"])
    assert measurements.needs_candidates(SMOKE, rows["epic-bm25-full"]) and not measurements.needs_candidates(
        SMOKE, rows["epic-bm25-r100"]
    )
    facts, alone = measurements.timed_facts(SMOKE, "together"), measurements.timed_facts(SMOKE, "epic-bm25-r100")
    assert len(facts) == 24 and alone == {"epic-bm25-r100": {"kind": "model", "keep": 100, "family": "epic"}}
    assert facts["bm25"] == {"kind": "first-stage", "keep": None, "family": None} and facts.items() > alone.items()
    assert [facts[row]["family"] for row in ("tk-1", "duet-v2", "cross-encoder", "bert-large")] == [
        "tk",
        "duet",
        "cross_encoder",
        "cross_encoder",
    ]
    system = measurements.timed_settings(SMOKE, "together")["epic-doctttttquery-full"]
    assert system["first_stage"]["id"] == "doctttttquery" and system["hits"] == 100
    assert measurements.timed_models(SMOKE, "together") == [None, "paper", "released", "duet", "tk", "cross"]
    assert measurements.timed_models(SMOKE, "bm25") == [None] and measurements.timed_models(SMOKE, "bert-large") == ["cross"]
    assert lookup.family_of_row(SMOKE, rows["epic-bm25-full"]) == "epic"


def test_which_jobs_ask_for_a_gpu():
    rows = {name: find(PAPER["rows"], name) for name in ("bm25", "epic-bm25-full", "epic-bm25-r100")}
    assert lookup.gpus(PAPER) == 1 and lookup.gpus(SMOKE) == 0
    assert [lookup.gpus_of_reranking(PAPER, rows[name]) for name in ("epic-bm25-full", "epic-bm25-r100")] == [1, 0]
    assert [measurements.gpus_of_timing(PAPER, timed) for timed in (*rows, "together")] == [0, 1, 1, 1]


def test_models_and_what_exists_for_them():
    epic, others = ["paper", "released", "authors"], ["tk1", "tk3", "duet", "bert"]
    stages = {model: ["bm25", "doctttttquery"] for model in epic} | {model: ["bm25"] for model in others}
    assert lookup.systems(PAPER) == stages
    models = lookup.models_with_rows(PAPER)
    assert models["all"] == epic + others and models["precomputing"] == epic
    assert models["trained"] == ["paper", "released", "tk1", "tk3", "duet"]  # the others have published weights
    assert (
        lookup.kept_terms(PAPER, "paper") == [2000, 1000, 100] and lookup.kept_terms(EXPERIMENTS["mini-seeds"], "seed-43") == []
    )
    assert lookup.counting_model(PAPER) == "paper" and lookup.expanded_stage(PAPER) == "doctttttquery"
    assert lookup.expanded_stage(EXPERIMENTS["mini"]) is None and lookup.shown_sets(PAPER) == ["dev-judged"]
    families = {"paper": "epic", "released": "epic", "tk": "tk", "duet": "duet", "cross": "cross_encoder"}
    assert lookup.families_of_models(SMOKE) == families
    assert len(measurements.timed_rows(SMOKE)) == 24 and len(lookup.run_rows(SMOKE)) == 25


def test_comparisons_are_made_where_both_rows_are_scored():
    settings = SMOKE | {
        "comparisons": [{"mark": "a", "pairs": [["bert-large", "bm25"]]}, {"mark": "b", "pairs": [["bm25", "deepct"]]}]
    }
    assert [family["mark"] for family in lookup.comparisons_on(settings, "test")] == ["a", "b"]
    paper = PAPER | {"comparisons": settings["comparisons"]}
    assert [family["mark"] for family in lookup.comparisons_on(paper, "dl19")] == ["b"]
    assert lookup.compared_rows(paper, "dl19") == ["bm25", "deepct"]


def test_a_row_is_tested_against_its_own_first_stage_on_every_test_set():
    row = find(PAPER["rows"], "epic-doctttttquery-r100")
    assert lookup.own_tests(PAPER, row) == [("doctttttquery", name) for name in ("dev-small", "dev-judged", "dl19", "dl20")]
    assert lookup.own_tests(PAPER, find(PAPER["rows"], "bm25")) == []


def test_what_a_reader_needs_to_repeat_a_row():
    found = lookup.row_settings(SMOKE, find(SMOKE["rows"], "epic-bm25-r100"))
    assert list(found) == ["keep", "first_stage", "model", "tail"] and "label" not in found["model"]
    assert lookup.row_settings(SMOKE, find(SMOKE["rows"], "tk-3")) == {}
    assert list(lookup.row_settings(SMOKE, find(SMOKE["rows"], "duet-v2"))) == ["first_stage", "model", "tail"]


def test_leaves_of_nested_paths():
    assert lookup.leaves({"a": ["b", {"c": "d"}], "e": "f"}) == ["b", "d", "f"]
