"""What encoding knows of an experiment."""

from epic.experiment import encoding
from epic.experiment.check import load_experiments
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])
SMOKE, PAPER = EXPERIMENTS["smoke"], EXPERIMENTS["paper"]


def test_models_share_the_word_pieces_of_their_encoder_and_one_may_ask_for_the_released_code_s_batches():
    assert {encoding.encoder_of(PAPER, model) for model in ("paper", "released", "authors")} == {"bert-base"}
    assert encoding.asks_for_batches(PAPER, "bert-base") and not encoding.asks_for_batches(SMOKE, "minilm")


def test_hits_are_re_ranked_on_the_tuning_queries_and_on_every_test_set_down_to_the_deepest_cut_off():
    assert encoding.reranked_sets(PAPER) == ["validation", "dev-small", "dev-judged", "dl19", "dl20"]
    assert encoding.reranked_sets(EXPERIMENTS["mini"])[0] == "tune"
    assert encoding.deepest(PAPER, "dev-small") == 200
    shallow = [query_set | {"hits": 7} for query_set in PAPER["query_sets"]]
    assert encoding.deepest(PAPER | {"query_sets": shallow}, "dev-small") == 7


def test_unpruned_vectors_are_timed_on_the_queries_of_latency_alone():
    assert encoding.timed_unpruned(PAPER, "authors", "dev-judged") == (2000, 120)
    assert encoding.timed_unpruned(PAPER, "authors", "dev-small") == (0, 0)


def test_where_the_first_stage_is_a_run_file_nothing_is_timed_and_no_hits_beyond_the_cut_off_are_encoded():
    dph, bm25 = EXPERIMENTS["covid-dph"], EXPERIMENTS["covid"]
    assert encoding.timed_unpruned(dph, "authors", "trec-covid") == (0, 0)
    assert encoding.timed_unpruned(bm25, "authors", "trec-covid") == (50, 50)
    assert [encoding.encoded_depth(settings, "trec-covid") for settings in (dph, bm25)] == [30, 30]  # a run has no more hits
    deeper = [query_set | {"hits": 100} for query_set in dph["query_sets"]]
    found = [encoding.encoded_depth(settings | {"query_sets": deeper}, "trec-covid") for settings in (dph, bm25)]
    assert found == [30, 50]
