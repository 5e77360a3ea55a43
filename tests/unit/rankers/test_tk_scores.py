"""A run scored by TK: every text once, and the scores are those of the pairs."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.latency.latency import Bench
from epic.rankers import tk, tk_scores
from epic.rankers.tk_scores import Pairs, score
from tests.tk import entry, write_vocabulary

CPU = {"device": "cpu", "threads": 1, "precision": "float32"}
TEXTS = ["price of a pool", "", "x", "a b c x y z a b c", "café cost", "unknown words", "pool pool pool of"]
QUERIES = {"q": "cost of a pool", "none": "", "r": "x", "lost": "who knows", "more": "never asked", "alone": "price"}
RUN = {
    "r": [("3", 0.5), ("1", 0.4), ("0", 0.3)], "q": [(str(place), 1.0) for place in range(7)], "alone": [], "none": [("0", 2.0)],
    "lost": [("6", 1.0), ("5", 0.9), ("3", 0.8), ("6", 0.7)],
}  # fmt: skip
RUN = {query_id: [ScoredDoc(*hit) for hit in hits] for query_id, hits in RUN.items()}


@pytest.fixture
def ranker(tmp_path):
    made = tk.create(write_vocabulary(tmp_path / "v"), entry(), None, "cpu")
    with torch.no_grad():
        for branch in (made.tk.kernels.log_sums, made.tk.kernels.mean_sums):
            branch.weight.mul_(300)
    return made


@pytest.fixture
def passages(collection_of):
    return collection_of(*TEXTS)


@torch.no_grad()
def pair_by_pair(ranker, run):
    return {
        query_id: [ranker.pairs([QUERIES[query_id]], [TEXTS[int(hit.doc_id)]]).item() for hit in hits]
        for query_id, hits in run.items()
    }


def test_the_numbers_of_a_run():
    pairs = Pairs.of({"a": [ScoredDoc("7", 1.0), ScoredDoc("3", 0.5)], "b": [], "c": [ScoredDoc("3", 1.0)]})
    assert pairs.doc_ids == ["7", "3"] and pairs.queries.tolist() == [0, 0, 2] and pairs.passages.tolist() == [0, 1, 1]
    assert pairs.of_passages([1, 0]).tolist() == [1, 2, 0]


@pytest.mark.parametrize("budget", [1, 12, 40, 10_000])
@pytest.mark.parametrize("at_a_time", [2, 20_000])
def test_scores_are_those_of_pair_after_pair_in_the_order_of_the_run(ranker, passages, monkeypatch, budget, at_a_time):
    monkeypatch.setattr(tk_scores, "PASSAGES_AT_A_TIME", at_a_time)
    monkeypatch.setattr(tk_scores, "QUERIES_AT_A_TIME", at_a_time)
    found, expected = score(ranker, RUN, QUERIES, passages, budget), pair_by_pair(ranker, RUN)
    assert list(found) == list(RUN) and np.ptp(expected["q"]) > 0.1
    for query_id, hits in found.items():
        assert [hit.doc_id for hit in hits] == [hit.doc_id for hit in RUN[query_id]]
        assert [hit.score for hit in hits] == pytest.approx(expected[query_id], rel=1e-5, abs=1e-5)


def test_a_score_that_is_no_number_is_refused_with_query_and_document(ranker, passages):
    with torch.no_grad():
        ranker.tk.words.weight.fill_(float("nan"))
    with pytest.raises(InputError, match=r"query \w+, document \d+: the score is not finite"):
        score(ranker, RUN, QUERIES, passages, 40)


def test_every_text_is_contextualised_once(ranker, passages, monkeypatch):
    seen = []
    monkeypatch.setattr(ranker.tk, "terms", lambda texts, real=ranker.tk.terms: seen.extend(map(tuple, texts)) or real(texts))
    score(ranker, RUN, QUERIES, passages, 12)
    queries, documents = (
        [tuple(ranker.query(QUERIES[query_id])) for query_id in RUN],
        [tuple(ranker.passage(text)) for text in TEXTS],
    )
    assert seen[:5] == queries and sorted(seen[5:]) == sorted(documents)


@pytest.mark.parametrize("run", [{}, {"q": []}, {"none": [ScoredDoc("1", 1.0)]}])
def test_runs_without_hits_or_words_are_scored(ranker, passages, run):
    found = score(ranker, run, QUERIES, passages, 40)
    assert {query_id: [hit.score for hit in hits] for query_id, hits in found.items()} == pair_by_pair(ranker, run)


def test_batches_that_do_not_fit_into_memory_are_scored_in_smaller_ones(ranker, passages, monkeypatch, caplog):
    expected, real, sizes = score(ranker, RUN, QUERIES, passages, 1000), ranker.tk.similarities, []

    def small(queries, said):
        sizes.append(len(said.real))
        if len(said.real) > 5:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return real(queries, said)

    monkeypatch.setattr(ranker.tk, "similarities", small)
    found = score(ranker, RUN, QUERIES, passages, 1000)
    assert max(sizes) > 5 and "memory ran out" in caplog.text
    for query_id, hits in expected.items():
        assert [hit.score for hit in found[query_id]] == pytest.approx([hit.score for hit in hits], rel=1e-5, abs=1e-6)


@pytest.fixture
def files(ranker, passages, tmp_path):
    """The files of an experiment that has such a model."""
    tk.save(ranker, tmp_path / "checkpoint", str)
    (tmp_path / "q.tsv").write_text("".join(f"{query_id}\t{QUERIES[query_id] or '-'}\n" for query_id in RUN), encoding="utf-8")
    (tmp_path / "manifest.json").write_text(json.dumps({"documents": passages.dataset, "count": len(TEXTS)}))
    return SimpleNamespace(checkpoint=tmp_path / "checkpoint", queries=tmp_path / "q.tsv", manifest=tmp_path / "manifest.json")


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_an_experiment_s_files_give_the_same_scores_in_the_precision_asked_for(ranker, passages, files, precision):
    run = {query_id: hits for query_id, hits in RUN.items() if query_id != "none"}
    found, exact = tk.score_run(run, files, CPU | {"precision": precision}, 40), score(ranker, run, QUERIES, passages, 40)
    assert (found == exact) == (precision == "float32")
    for query_id, hits in exact.items():
        assert [hit.score for hit in found[query_id]] == pytest.approx([hit.score for hit in hits], rel=0.05, abs=0.05)


def test_a_query_is_timed_by_stage(files):
    timed = tk.timed(lambda text: ["2", "0", "1"], files, {}, {}, {"compute": CPU}, Bench(files.checkpoint))
    with timed.opened() as time_one:
        found = time_one("cost of a pool")
    assert list(found) == ["retrieve", "load", "score", "total"] and found["score"] > 0
