"""Estimates of single jobs, against values worked out by hand."""

import pytest

from epic.experiment.check import load_experiments
from epic.planning.cards import BERT_BASE, MINILM, Speed, card_named
from epic.planning.estimates import FORMULAS, Collection, Job, cost
from epic.planning.flop import PASSAGE, QUERY, body
from epic.planning.rates import SMALL, START
from tests.conftest import ROOT

MSMARCO = Collection(8_841_823, 346, {"validation": 200, "dev-small": 6980, "dev-judged": 55_578, "dl19": 43, "dl20": 54})
HOUR = 3600


@pytest.fixture(scope="module")
def paper():
    folder = ROOT / "workflow"
    return load_experiments([folder / "experiments"])["paper"] | {"keep": ["stores"]}


def of(paper, rule, gpus=0, threads=1, **wildcards):
    return cost(Job(rule, wildcards, threads, gpus), paper, MSMARCO)


def test_shards_hold_all_layers_and_stores_nothing_unless_they_keep_another_number_of_terms(paper):
    shards = [of(paper, "encode", gpus=1, model="paper", scatteritem=f"{place}-of-64") for place in range(1, 65)]
    assert sum(shard.written for shard in shards) == 8_841_823 * (4 * (100 + 1000 + 1000) + 3 * 8) == 74_483_516_952
    stores = {keep: of(paper, "prune", model="paper", keep=keep) for keep in ("2000", "1000", "100", "500", "1500")}
    assert [store.written for store in stores.values()] == [SMALL] * 3 + [8_841_823 * 2008, 8_841_823 * 6008]
    assert max(stores[keep].seconds for keep in ("2000", "1000", "100")) == START < stores["500"].seconds < stores["1500"].seconds


def test_encoding_takes_the_papers_14_hours_on_a_gpu_and_weeks_on_a_cpu(paper):
    on_gpu = 64 * of(paper, "encode", gpus=1, model="paper", scatteritem="1-of-64").seconds
    assert 14 * HOUR < on_gpu < 14.3 * HOUR  # the rest is starting 64 jobs and writing
    on_cpu = 64 * of(paper, "encode", model="paper", scatteritem="1-of-64").seconds
    assert on_cpu == pytest.approx(8_841_823 * 0.340 / 4, rel=0.01) and on_cpu > 8 * 24 * HOUR  # four threads


def test_expanded_text_is_the_passages_and_40_predictions_each(paper):
    assert of(paper, "expand", first_stage="bm25").written == 8_841_823 * (346 + 32)
    assert of(paper, "expand", first_stage="doctttttquery").written == pytest.approx(
        8_841_823 * (346 + 32) + 12_517_353_325, rel=0.001
    )


def test_a_slow_model_is_timed_as_often_as_it_says_and_over_all_its_hits(paper):
    model = paper["models"][0] | {"id": "slow", "family": "tests.fake_ranker", "latency": {"warm_up": 5, "measured": 20}}
    named = {"model": "slow", "first_stage": "bm25", "hits": 1000}
    rows = [row | ({"timed": named} if row["id"] == "bert-large" else {}) for row in paper["rows"]]
    timed = paper | {"models": [*paper["models"], model], "rows": rows}
    assert of(timed, "latency", timed="bm25").seconds == of(paper, "latency", timed="bm25").seconds == START + 3000 * 0.106
    found = of(timed, "latency", timed="bert-large").seconds
    pair = 10.9e-3 * body(BERT_BASE, QUERY + PASSAGE + 1) / body(MINILM, QUERY + PASSAGE + 1)  # as a cross-encoder's
    assert found == pytest.approx(START + 45 * (0.106 + 1000 * pair / 4))  # 5 to warm up, 20 and 20 again with nothing cached


def test_runs_have_a_line_for_each_hit(paper):
    assert of(paper, "retrieve", first_stage="bm25", query_set="dev-judged").written == 55_578 * 200 * 42
    assert of(paper, "rerank", row="epic-bm25-r1000", query_set="dl19").written == 43 * 1000 * 54


def test_training_leaves_its_weights_and_its_state_and_takes_the_authors_hours(paper):
    weights, theta2 = 440_449_768, 30_522 * 768 * 4
    found = of(paper, "train", gpus=1, model="paper")
    assert found.written == 5 * (weights + theta2) and found.scratch == 4 * (weights + theta2)
    assert of(paper, "train", gpus=1, model="released").written == 5 * weights  # no Theta2 of its own
    assert 1.9 * HOUR < found.seconds < 2.1 * HOUR  # the authors' 2.5 hours without the vocabulary, which training leaves out


def test_a_model_that_is_not_trained_costs_its_copy(paper):
    untrained = paper | {"models": [model | {"loss": None} for model in paper["models"]]}
    found = cost(Job("train", {"model": "released"}, gpus=1), untrained, MSMARCO)
    assert found.written == 440_449_768 and found.seconds < 60 and not found.scratch


def test_training_that_may_validate_only_twice_is_not_counted_63_times(paper):
    short = paper | {"train": paper["train"] | {"max_validations": 2}}
    whole, two = (cost(Job("train", {"model": "paper"}, gpus=1), some, MSMARCO).seconds for some in (paper, short))
    assert two - 6 == pytest.approx((whole - 6) * 2 / 63)


def test_only_unpruned_rows_run_the_model_and_need_room_while_they_are_timed(paper):
    full, pruned = (of(paper, "latency", gpus=1, timed=f"epic-bm25-{keep}") for keep in ("full", "r1000"))
    assert pruned.scratch == 0 and 14.2e9 < full.scratch < 61_044 * 2000 * 119  # all different would be the upper end
    together = of(paper, "latency", gpus=1, timed="together")
    assert 3 * full.scratch < together.scratch < 6 * full.scratch  # three models, each with the candidates of two first stages
    assert together.seconds > 20 * pruned.seconds
    full, pruned = (of(paper, "rerank", gpus=1, row=f"epic-bm25-{keep}", query_set="dev-judged") for keep in ("full", "r1000"))
    assert full.seconds > 5 * HOUR and pruned.seconds < HOUR / 10
    assert of(paper, "rerank", gpus=1, row="epic-doctttttquery-full", query_set="dev-judged").seconds < full.seconds / 4


def test_candidates_are_never_more_than_the_collection_has(paper):
    tiny = Collection(100, 346, MSMARCO.queries)
    found = cost(Job("rerank", {"row": "epic-bm25-full", "query_set": "dl19"}, gpus=1), paper, tiny)
    assert found.seconds - cost(Job("rerank", {"row": "epic-bm25-r100", "query_set": "dl19"}), paper, tiny).seconds < 8


def test_a_download_is_counted_among_the_sources_and_then_only_compared(paper):
    found = of(paper, "fetch", file="predicted_queries_topk_sampling.zip")
    assert found.written == 0 and 10 < found.seconds < 60


def test_more_threads_index_and_search_faster(paper):
    for rule, names in (("index", {"first_stage": "bm25"}), ("retrieve", {"first_stage": "bm25", "query_set": "dl19"})):
        assert of(paper, rule, threads=8, **names).seconds < of(paper, rule, threads=1, **names).seconds
    assert of(paper, "index", threads=2, first_stage="bm25").seconds == pytest.approx(START + 8_841_823 * 346 / 390 / 8300)


def test_words_that_are_repeated_take_room_as_text_but_not_in_the_index(paper):
    plain, weighted = (of(paper, "expand", first_stage=name).written for name in ("bm25", "deepct"))
    assert plain == 8_841_823 * (346 + 32) and weighted == 8_841_823 * (1750 + 32)
    plain, weighted = (of(paper, "index", threads=8, first_stage=name) for name in ("bm25", "deepct"))
    assert plain.written == weighted.written and plain.seconds < weighted.seconds


def test_every_formula_belongs_to_a_rule_and_a_rule_without_one_is_small(paper):
    rules = "\n".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    assert all(f"rule {name}:" in rules for name in FORMULAS)
    assert of(paper, "table").written <= 1e6 and of(paper, "table").seconds <= 10


def in_precision(settings, precision):
    return settings | {"compute": settings["compute"] | {"precision": precision}}


def test_a_faster_card_takes_less_time_for_what_it_computes_and_as_long_for_what_it_waits_for(paper):
    a100, tf32 = Speed(card_named("A100")), in_precision(paper, "tf32")
    paper = in_precision(paper, "float32")
    shard, train = Job("encode", {"model": "paper", "scatteritem": "1-of-64"}, gpus=1), Job("train", {"model": "paper"}, gpus=1)
    weigh = Job("weigh", {"model": "paper", "query_set": "dl19"}, gpus=1)
    hours = {name: 64 * cost(shard, some, MSMARCO, a100).seconds / HOUR for name, some in (("float32", paper), ("tf32", tf32))}
    assert hours["float32"] == pytest.approx(14 * 11.3 / 19.5, rel=0.03) and hours["tf32"] == pytest.approx(
        14 * 11.3 / 156, rel=0.2
    )
    assert cost(shard, tf32, MSMARCO).seconds == cost(shard, paper, MSMARCO).seconds  # a GTX 1080 Ti has no such cores
    assert (
        cost(train, tf32, MSMARCO, a100).seconds
        == cost(train, paper, MSMARCO, a100).seconds
        < cost(train, paper, MSMARCO).seconds
    )
    assert cost(weigh, tf32, MSMARCO, a100) == cost(weigh, paper, MSMARCO)


def test_what_was_measured_counts_instead_of_peaks(paper):
    rates, paper = {"float32": {"encode_flops": 1e12, "train_flops": 2e12, "queries": 100.0}}, in_precision(paper, "float32")
    speed = Speed(card_named("A100"), rates)
    shard = cost(Job("encode", {"model": "paper", "scatteritem": "1-of-64"}, gpus=1), paper, MSMARCO, speed)
    assert shard.seconds == pytest.approx(8_841_823 / 64 * 18_244_297_728 / 1e12, rel=0.01)
    asked = cost(Job("weigh", {"model": "paper", "query_set": "dev-small"}, gpus=1), paper, MSMARCO, speed)
    assert asked.seconds == pytest.approx(69.8 + 6)


LAYERED = {
    "encode": {"shards": 64, "passages": "all", "keep": [100, 1000, 2000], "token_budget": 65536, "vocabulary_block": 2048}
}


def test_layers_are_written_once_and_pruning_copies_nothing(paper):
    layered = paper | LAYERED
    shard = cost(Job("encode", {"model": "paper", "scatteritem": "1-of-64"}, gpus=1), layered, MSMARCO)
    assert 64 * shard.written == 8_841_823 * (4 * 2100 + 3 * 8) and not shard.temporary  # with a checksum in each row
    assert cost(Job("prune", {"model": "paper", "keep": "1000"}), layered, MSMARCO).written <= 1e6


def test_word_pieces_and_candidates_take_little_room(paper):
    pieces = cost(Job("tokenise", {}, threads=2), paper, MSMARCO)
    assert pieces.written == 8_841_823 * (2 * 81 + 4) and 8_841_823 / 37e3 < pieces.seconds < 8_841_823 / 5e3
    halves = [cost(Job("tokenise", {"scatteritem": f"{place}-of-2"}, threads=2), paper, MSMARCO) for place in (1, 2)]
    assert sum(half.written for half in halves) == pieces.written
    pairs = 2 * 200 * (200 + 6980 + 55_578 + 43 + 54)  # two first stages are re-ranked, down to the deepest cut-off
    assert cost(Job("candidates", {"model": "paper"}), paper, MSMARCO).written == 12 * pairs
    few = paper | {"encode": paper["encode"] | {"passages": "candidates"}}
    assert cost(Job("passages", {}), few, MSMARCO).written < 8 * 8_841_823


def test_unpruned_work_is_cheap_where_encoding_has_scored_the_candidates(paper):
    scored = ("results/paper/candidates/paper", "results/paper/encode/paper/1-of-64")
    names = {"rerank": {"row": "epic-bm25-full", "query_set": "dev-judged"}, "tune": {"model": "paper", "first_stage": "bm25"}}
    for rule, wildcards in names.items():
        alone, read = (cost(Job(rule, wildcards, gpus=1, inputs=inputs), paper, MSMARCO) for inputs in ((), scored))
        assert alone.written == read.written and alone.seconds - read.seconds > 100 and read.seconds < 120
    alone, read = (
        cost(Job("latency", {"timed": "epic-bm25-full"}, gpus=1, inputs=inputs), paper, MSMARCO) for inputs in ((), scored)
    )
    assert alone.scratch == read.scratch > 14e9 and read.seconds < alone.seconds - 600  # they are copied
    other = cost(
        Job(
            "rerank", names["rerank"], gpus=1, inputs=("results/paper/candidates/released", "results/paper/encode/paper/1-of-64")
        ),
        paper,
        MSMARCO,
    )
    assert other.seconds > HOUR


def test_scores_and_whole_vectors_of_candidates_are_written_by_encoding_that_has_them(paper):
    shard = Job("encode", {"model": "paper", "scatteritem": "1-of-64"}, gpus=1)
    plain, scoring = (cost(some, paper, MSMARCO) for some in (shard, shard._replace(inputs=("results/paper/candidates/a",))))
    scores = 4 * 2 * 200 * (200 + 6980 + 55_578 + 43 + 54)
    most = 2 * 30_522 * 2 * 2000 * 120  # if all were different
    assert 0.95 * most < 64 * (scoring.written - plain.written) - scores < most
    gone = cost(shard._replace(inputs=("results/paper/candidates/a",)), paper | {"keep": []}, MSMARCO)
    assert not scoring.temporary and 64 * (gone.written - gone.temporary) == pytest.approx(scores)  # only the scores stay


def test_only_candidates_are_encoded_where_the_experiment_says_so(paper):
    few = paper | {"encode": paper["encode"] | {"passages": "candidates"}}
    shard = Job("encode", {"model": "paper", "scatteritem": "1-of-1"}, gpus=1)
    tiny = Collection(8_841_823, 346, MSMARCO.queries | {"dev-judged": 0})
    pairs = 2 * 200 * (200 + 6980 + 43 + 54)
    assert 0.8 * pairs < cost(shard, few, tiny).written / 8000 < pairs


def test_what_an_experiment_does_not_keep_is_temporary(paper):
    none = paper | {"keep": []}
    for rule, names in (
        ("encode", {"model": "paper", "scatteritem": "1-of-64"}), ("prune", {"model": "paper", "keep": "500"}),
    ):  # fmt: skip
        kept, gone = (cost(Job(rule, names), some, MSMARCO) for some in (paper, none))
        assert kept == gone._replace(temporary=0.0) and gone.temporary == gone.written
    expanded = of(paper, "expand", first_stage="bm25")
    assert expanded.temporary == expanded.written  # in every experiment
