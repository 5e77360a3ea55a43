"""Which files a job reads, by name."""

import re

import pytest

from epic.core.files import InputError
from epic.experiment import first_stage_inputs, inputs
from epic.experiment.check import load_experiments
from epic.experiment.wanted import Dataset, Output, Shards, Source, Within, output
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]


def untimed(settings):
    """An experiment whose published runs are not timed."""
    return settings | {"rows": [{key: value for key, value in row.items() if key != "timed"} for row in settings["rows"]]}


def timed(settings):
    """An experiment whose published run is timed with a model that no row is re-ranked by."""
    model = settings["models"][0] | {"id": "slow", "family": "tests.fake_ranker"}
    named = {"model": "slow", "first_stage": "bm25", "hits": 50}
    rows = [row | ({"timed": named} if row["id"] == "bert-large" else {}) for row in settings["rows"]]
    return settings | {"models": [*settings["models"], model], "rows": rows}


def test_a_published_run_that_is_timed_needs_its_model_but_no_cut_off_and_is_still_scored_as_it_was():
    found, checkpoint = inputs.timing(timed(SMOKE), "bert-large")["bert-large"], output("train.checkpoint", model="slow")
    assert found["lucene"] == output("index.lucene", first_stage="bm25") and found["checkpoint"] == checkpoint
    assert found["manifest"] == output("data.manifest") and found["cutoff"] == found["store"] == found["run"] == []
    assert inputs.row_facts(timed(SMOKE), "bert-large") == inputs.row_facts(untimed(SMOKE), "bert-large") | {
        "checkpoint": checkpoint
    }
    assert inputs.scored_run(timed(SMOKE), "bert-large", "test") == inputs.scored_run(untimed(SMOKE), "bert-large", "test")
    assert inputs.page_latency(timed(SMOKE), "bert-large", lambda row: "together") == inputs.latency_of("bert-large", "together")
    assert inputs.page_latency(untimed(SMOKE), "bert-large", lambda row: "together") == []
    assert list(inputs.checkpoints(timed(SMOKE))) == [*inputs.checkpoints(untimed(SMOKE)), "slow"]
    assert "bert-large" in inputs.latencies(timed(SMOKE)) and "bert-large" in inputs.timings(timed(SMOKE))["together"]


def test_every_output_that_is_asked_for_is_made_by_a_rule():
    rules = {}
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        for name, body in re.findall(r"(?ms)^rule (\w+):\n(.*?)(?=^rule |\Z)", path.read_text()):
            made = re.search(r"(?ms)^    output:\n(.*?)^    log:", body)[1]
            rules |= {
                f"{name}.{key}": set(re.findall(r"{(\w+)}", line)) for key, line in re.findall(r"(?m)^        (\w+)=(.*)", made)
            }
    source = "".join(
        (ROOT / "epic" / "experiment" / f"{name}.py").read_text() for name in ("inputs", "first_stage_inputs", "vector_inputs")
    )
    asked = re.findall(r'(?:output|Shards)\(f?"([a-z]+\.(?:[a-z]+|{kind}))"|"([a-z]+\.[a-z]+)"\)', source)
    names = {first or second for first, second in asked} - {"queries.{kind}"}
    assert names and names <= set(rules), names - set(rules)


def test_a_pruned_row_reads_a_store_and_an_unpruned_one_does_not():
    pruned = inputs.reranking(SMOKE, "epic-bm25-r100", "test")
    assert pruned["store"] == output("prune.store", model="paper", keep=100)
    assert pruned["vectors"] == output("weigh.vectors", model="paper", query_set="test")
    assert inputs.reranking(SMOKE, "epic-bm25-full", "test")["store"] == []
    with pytest.raises(InputError, match="row bm25 is of the kind first-stage: there is nothing to re-rank"):
        inputs.reranking(SMOKE, "bm25", "test")


def test_a_row_is_scored_on_the_run_of_its_kind():
    files = {row: inputs.scored_run(SMOKE, row, "test") for row in ("bm25", "epic-bm25-full", "bert-large")}
    names = {row: [found["run"].name, found["answers"].name] for row, found in files.items()}
    assert names == {
        "bm25": ["retrieve.run", "retrieve.answers"],
        "epic-bm25-full": ["rerank.run", "retrieve.answers"],  # re-ranking answers the queries of its first stage
        "bert-large": ["replay.run", "replay.answers"],
    }
    assert files["epic-bm25-full"]["answers"] == output("retrieve.answers", first_stage="bm25", query_set="test")
    with pytest.raises(InputError, match="tk-3 is of the kind published-only: it is not run here"):
        inputs.scored_run(SMOKE, "tk-3", "test")


def test_what_is_timed_needs_the_first_stage_s_run_only_where_candidates_get_their_vectors_beforehand():
    assert inputs.timing(SMOKE, "bm25") == {"bm25": {"lucene": output("index.lucene", first_stage="bm25")}}
    full, pruned = (inputs.timing(SMOKE, row)[row] for row in ("epic-bm25-full", "epic-bm25-r100"))
    assert full["run"] == output("retrieve.run", first_stage="bm25", query_set="test") and full["store"] == []
    assert pruned["run"] == [] and pruned["store"].name == "prune.store"
    with pytest.raises(InputError, match="nothing to time"):
        inputs.timing(untimed(SMOKE), "bert-large")
    together = inputs.timing(SMOKE, "together")
    assert len(together) == 4 + 16 + 3 + 1 and together["epic-bm25-full"] == full and together["epic-bm25-r100"] == pruned
    assert inputs.timed_queries(SMOKE) == output("queries.queries", query_set="test")


def test_a_row_reads_the_shards_that_its_store_names_and_no_shards_where_its_terms_are_no_layer():
    """Shards that were damaged or removed are made again for it, and a temporary one stays until it has been read."""
    other = SMOKE | {"encode": SMOKE["encode"] | {"keep": [1000, 2000]}}
    for row, settings, shards in (
        ("epic-bm25-r100", SMOKE, Shards("encode.vectors", {"model": "paper"})), ("epic-bm25-r100", other, []), ("epic-bm25-full", SMOKE, []),
    ):  # fmt: skip
        assert inputs.reranking(settings, row, "test")["shards"] == shards
        assert inputs.timing(settings, row)[row]["shards"] == shards


def test_latencies_are_files_inside_the_folder_of_a_measurement():
    together = output("latency.folder", timed="together")
    assert inputs.latencies(SMOKE)["bm25"] == Within(together, "bm25.json")
    assert inputs.by_row(SMOKE)["timings"]["together"]["bm25"] == Within(together, "bm25.tsv")
    assert inputs.page_latency(SMOKE, "bm25", lambda row: "together") == Within(together, "bm25.json")
    assert inputs.page_latency(SMOKE, "bm25", lambda row: row) == Within(output("latency.folder", timed="bm25"), "bm25.json")
    assert inputs.page_latency(SMOKE, "bert-large", lambda row: row).folder == output("latency.folder", timed="bert-large")
    assert (
        inputs.page_latency(untimed(SMOKE), "bert-large", lambda row: row)
        == []
        == inputs.page_latency(SMOKE, "tk-3", lambda row: row)
    )


def test_where_vectors_are_not_kept_latencies_are_those_of_each_model_s_own_measurement():
    of = {row: found.folder.wildcards["timed"] for row, found in inputs.latencies(PAPER).items()}
    assert of["authors-bm25-r100"] == "authors" and of["bm25"] == "paper" and of["deepct"] == "first-stages"
    timings = inputs.timings(PAPER)
    assert list(timings) == ["paper", "released", "authors", "duet", "tk1", "tk3", "bert", "first-stages"]
    assert list(timings["first-stages"]) == ["doc2query", "deepct"] and list(timings["tk3"]) == ["bm25", "tk-3"]
    assert list(timings["bert"]) == ["bm25", "bert-large", "bert-large-rescored"] and of["bert-large"] == "bert"
    models = ("paper", "released", "authors")
    assert all({"bm25", "doctttttquery"} < timings[model].keys() and len(timings[model]) == 10 for model in models)


def test_training_starts_from_an_encoder_and_perhaps_from_published_weights():
    found = inputs.training(PAPER, "authors")
    assert found["encoder"] == output("encoder.folder", encoder="bert-base") and found["start"] == Source("download:epic.p")
    assert inputs.training(PAPER, "paper")["start"] == [] and found["validation_run"].wildcards["query_set"] == "validation"
    assert found["triples"] == found["queries"] == [] and found["encoder"]
    assert inputs.training(PAPER, "paper")["triples"] == output("triples.triples", first=512 * 1000)
    without = SMOKE | {"models": [SMOKE["models"][0] | {"encoder": None}]}
    assert inputs.training(without, "paper")["encoder"] == []


def test_a_model_reads_as_many_triples_as_it_may_use_and_another_model_s_schedule_changes_none_of_its_inputs():
    longer = [model | ({"train": {"max_validations": 9}} if model["id"] == "released" else {}) for model in SMOKE["models"]]
    before, after = (
        {model["id"]: inputs.training(settings, model["id"]) for model in SMOKE["models"]}
        for settings in (SMOKE, SMOKE | {"models": longer})
    )
    assert [model for model in before if before[model] != after[model]] == ["released"]
    assert after["released"]["triples"].wildcards == {"first": 9 * 192} == after["released"]["queries"].wildcards


def test_triples_are_published_or_sampled():
    assert inputs.triples(PAPER) == {"published": Dataset("msmarco-passage/train/split200-train", ("docpairs", "queries"))}
    assert {file.wildcards["query_set"] for file in inputs.triples(SMOKE).values()} == {"train"}


def test_first_stages_are_made_of_predictions_or_weighted_texts_or_neither():
    assert first_stage_inputs.expansion(PAPER, "bm25") == {"predicted": [], "weighted": []}
    assert first_stage_inputs.expansion(PAPER, "doc2query")["predicted"] == Source(
        "download:msmarco-passage-pred-test_topk10.tar.gz"
    )
    assert first_stage_inputs.expansion(PAPER, "deepct")["weighted"] == Source("download:sample_100_jsonl.zip")
    assert first_stage_inputs.expansion(SMOKE, "deepct")["weighted"] == Shards("reweigh.texts", {"weighter": "deepct"})
    assert inputs.shown_predictions(EXPERIMENTS["mini"]) == []
    assert inputs.shown_predictions(PAPER) == Source("download:predicted_queries_topk_sampling.zip")


def test_the_cut_off_is_chosen_on_the_tuning_queries():
    found = inputs.tuning(EXPERIMENTS["mini"], "paper", "bm25")
    assert {file.wildcards.get("query_set", "tune") for file in found.values()} == {"tune"}


def test_rows_pages_and_tests_name_the_values_they_show():
    assert inputs.row_facts(SMOKE, "tk-3") == {} and set(inputs.row_facts(SMOKE, "bm25")) == {
        "values",
        "runs",
        "answers",
        "counts",
    }
    assert inputs.row_facts(SMOKE, "epic-bm25-r100")["cutoff"] == output("tune.cutoff", model="paper", first_stage="bm25")
    assert [file.wildcards["row"] for file in inputs.own_values(SMOKE, "epic-bm25-r100")] == ["epic-bm25-r100", "bm25"]
    assert inputs.own_values(SMOKE, "bert-large") == []
    (test,) = inputs.own_tests(SMOKE, "epic-bm25-r100")
    assert test["metric"] == "RR@10" and test["baseline_id"] == "bm25" and test["system"].wildcards["row"] == "epic-bm25-r100"
    assert {test["metric"] for test in inputs.own_tests(PAPER, "epic-bm25-r100")} == {"RR@10", "RR(rel=2)@10"}
    assert set(inputs.compared_values(SMOKE, "test")) >= {"bm25", "deepct", "released-bm25-full"}


def test_the_whole_is_made_of_every_row_model_and_query_set():
    found = inputs.report(SMOKE)
    assert len(found["rows"]) == 26 and set(found["significance"]) == {"test"} and set(found["costs"]) == {"paper", "released"}
    few = PAPER | {"encode": PAPER["encode"] | {"passages": "candidates"}}
    assert (
        set(inputs.by_model(PAPER)["frequencies"]) == {"paper", "released", "authors"} and not inputs.by_model(few)["frequencies"]
    )
    assert set(inputs.by_model(PAPER)["histories"]) == {"paper", "released", "tk1", "tk3", "duet"}
    assert len(inputs.by_row(SMOKE)["values"]) == 25  # all rows but tk-3
    assert inputs.cutoffs(SMOKE)["paper"]["bm25"] == Output("tune.cutoff", {"model": "paper", "first_stage": "bm25"})
    assert set(inputs.checkpoints(PAPER)) == {model["id"] for model in PAPER["models"]} and len(inputs.query_files(PAPER)) == 10
    assert inputs.headline_tests(PAPER).wildcards == {"query_set": "dev-judged"} and len(inputs.latencies(PAPER)) == 33
    assert [found.name for found in inputs.counted_queries(PAPER)] == ["msmarco-passage/train", "msmarco-passage/dev"]
    assert inputs.shown_qrels(PAPER) == {"dev-judged": output("queries.qrels", query_set="dev-judged")}
    assert inputs.documents(PAPER) == Dataset("msmarco-passage", ("docs",))
    assert inputs.queries(PAPER, "dl19").name == "msmarco-passage/trec-dl-2019/judged"
    assert inputs.published_run(PAPER, "bert-large", "dev-small") == Source("download:BERT_Large_dev_run.tsv")


def test_rows_on_a_run_file_have_no_latency_and_a_measurement_of_none_is_refused():
    dph = EXPERIMENTS["covid-dph"]
    assert inputs.latencies(dph) == inputs.timings(dph) == {} and inputs.page_latency(dph, "dph", lambda row: row) == []
    for timed in ("authors-dph-full", "authors", "together"):
        with pytest.raises(InputError, match=f"{timed} has nothing to time: first stages that are run files are not searched"):
            inputs.timing(dph, timed)
