"""The benchmark: the plain way computes EPIC, what is not equal fails, and a tiny run writes what is promised."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from epic.model.epic import EpicModel
from epic.model.query_torch import query_vector
from epic.vectors.phi import document_vectors
from epic.vectors.topk import take, top_terms
from tests.bench import cores, cross_encoders, equality, families, inputs, plain, sparse_encoder, tk_run
from tests.bench.measure import Record, Way, versus
from tests.conftest import ROOT
from tests.cross_encoders import write_classifier

KEYS = [
    "work", "model", "batch", "k", "r", "plain_s", "ours_s", "ratio", "ratio_low", "ratio_high", "plain_peak_mb", "ours_peak_mb",
    "roofline", "equal",
]  # fmt: skip


@pytest.fixture
def released(mlm_encoder):
    return inputs.undropped(EpicModel.from_encoder(mlm_encoder, "released", seed=7))


def test_the_plain_way_computes_the_same_vectors(released):
    pieces = released.pieces(["price of a pool", "x", "a b c d e f g h i", "café pools"])
    ours = document_vectors(released, pieces, 5)
    chosen = top_terms(ours, 8)
    found = plain.encode(plain.PlainEpic(released).eval(), pieces, batch=3, keep=8)
    assert equality.same_vectors(found, chosen, take(ours, chosen))
    wrong = take(ours, chosen)
    wrong[2, 3] += 0.5
    assert not equality.same_vectors(found, chosen, wrong)
    assert not equality.same_vectors(found, chosen, take(ours, chosen)[:, ::-1])  # right weights at wrong terms
    terms, weights = plain.query_vector(plain.PlainEpic(released).eval(), released.pieces(["pool of pool"])[0])
    assert equality.same_queries((terms, weights), query_vector(released, "pool of pool"))


def test_the_plain_way_looks_up_the_same_scores(tmp_path):
    draw = np.random.default_rng(0)
    vectors = draw.random((4, 30)).astype(np.float16)
    terms = top_terms(vectors, 10)
    query = torch.sparse_coo_tensor([[0, 0], [3, 7]], [0.5, 2.0], (1, 30), check_invariants=False)
    found = plain.lookup(terms.astype(np.int16), take(vectors, terms), [2, 0], query)
    dense = [[vectors[row, term] if term in terms[row] else 0 for term in (3, 7)] for row in (2, 0)]
    assert found.tolist() == pytest.approx((np.array(dense, dtype=np.float32) @ [0.5, 2.0]).tolist())
    full = plain.dense_lookup(vectors.tobytes(), 30, [2, 0], query)
    assert full.tolist() == pytest.approx((vectors[[2, 0]][:, [3, 7]].astype(np.float32) @ [0.5, 2.0]).tolist())


def test_a_fast_wrong_answer_is_not_equal():
    record = versus(Way(lambda: 1), Way(lambda: 2), 3, equal=lambda left, right: left == right, work="lookup")
    assert isinstance(record, Record) and not record.equal
    assert versus(Way(lambda: 1), Way(lambda: 1), 3, equal=lambda left, right: left == right, work="lookup").equal


def test_memory_is_watched():
    record = versus(
        Way(lambda: np.ones(100 << 20, dtype=np.uint8).sum()), Way(lambda: 1), 1, equal=lambda left, right: True, work="prune"
    )
    assert 95 < record.plain_peak_mb < 130 and record.ours_peak_mb < 5


def test_wrong_results_fail_the_benchmark(tmp_path, monkeypatch, capsys):
    import tests.bench.__main__ as bench

    record = versus(Way(lambda: 1), Way(lambda: 2), 2, equal=lambda left, right: left == right, work="lookup", k=5)
    monkeypatch.setattr(bench, "_all", lambda *arguments: [record])
    monkeypatch.setattr(bench, "prepare", lambda *arguments, **options: None)
    assert bench.main("tiny", str(tmp_path)) == 1
    assert "NOT EQUAL" in capsys.readouterr().err
    assert bench.main("huge", str(tmp_path)) == 2


def record(work, ratio):
    return Record(work, None, None, None, None, ratio, 1.0, ratio, ratio, ratio, 0.0, 0.0, None, True)


@pytest.mark.parametrize(("size", "failed"), [("small", 1), ("tiny", 0)])
def test_a_work_below_its_bar_fails_the_benchmark_unless_it_is_tiny(tmp_path, monkeypatch, capsys, size, failed):
    import tests.bench.__main__ as bench

    monkeypatch.setattr(bench, "prepare", lambda *arguments, **options: None)
    monkeypatch.setattr(bench, "_all", lambda *arguments: [record("sparse-encoder", 1.9), record("encode", 0.5)])
    assert bench.main(size, str(tmp_path)) == failed
    said = capsys.readouterr().err
    assert ("BELOW THE BAR" in said and "(at least 2.0x)" in said and "encode  " not in said) == bool(failed)
    monkeypatch.setattr(bench, "_all", lambda *arguments: [record("sparse-encoder", 2.0), record("encode-2-cores", 1.81)])
    assert bench.main(size, str(tmp_path)) == 0
    page = (tmp_path / "bench.md").read_text()
    assert "passages a second, plain and ours: sparse-encoder: 0.5 and 1.0; encode-2-cores: 0.6 and 1.0" in page


def test_only_works_that_have_a_bar_can_be_below_it():
    from tests.bench.__main__ import below

    slow = [record(work, 1.79) for work in ("encode-2-cores", "sparse-encoder", "encode-2-threads", "lookup", "tk-run")]
    assert [found.work for found in below(slow)] == ["encode-2-cores", "sparse-encoder", "tk-run"]
    assert below([record("cross-encoder", 1.49), record("cross-encoder-query", 1.0)]) == [record("cross-encoder", 1.49)]


def test_the_padded_loop_scores_pairs_as_the_cross_encoder_does_and_a_wrong_score_is_noticed(tmp_path, monkeypatch):
    write_classifier(tmp_path)
    records = list(cross_encoders.cross_encoder("tiny", tmp_path, tmp_path, candidates=8, rounds=1))
    assert [(found.work, found.k, found.equal) for found in records] == [
        ("cross-encoder", 8, True),
        ("cross-encoder-query", 8, True),
    ]
    real = cross_encoders.family.Ranker.scores
    monkeypatch.setattr(cross_encoders.family.Ranker, "scores", lambda *given: real(*given) + 3e-5)
    (tmp_path / "again").mkdir()
    assert not any(found.equal for found in cross_encoders.cross_encoder("tiny", tmp_path, tmp_path / "again", 8, 1))


def test_passages_that_queries_share_have_the_scores_of_every_pair_by_itself(tmp_path):
    found = list(tk_run.shared_passages(tmp_path, 8, 1))
    assert [record.model for record in found] == ["tk-1", "tk-3"] and all(record.equal for record in found)
    texts = inputs.texts(8, seed=7)
    run = tk_run.shared_run(list(texts), {str(place): "x" for place in range(8)})
    assert sum(len(hits) for hits in run.values()) == 8 * tk_run.SHARED
    other = {query_id: [hit._replace(score=2e-5) for hit in hits] for query_id, hits in run.items()}
    assert tk_run.same_scores(run, run) and not tk_run.same_scores(run, other)


@pytest.fixture
def splade(mlm_encoder, tmp_path):
    """A folder with an encoder and a new head, as SparseEncoder is given it."""
    from transformers import BertTokenizerFast

    like = tmp_path / "like"
    shutil.copytree(mlm_encoder, like)
    BertTokenizerFast(tokenizer_file=str(like / "tokenizer.json")).save_pretrained(like)
    return sparse_encoder.masked_language_model(tmp_path / "splade", like)


def test_sparse_encoder_and_our_encoding_with_splade_s_head_find_the_same_terms(splade):
    library = pytest.importorskip("sentence_transformers")
    theirs, ours = library.SparseEncoder(str(splade), device="cpu", local_files_only=True), sparse_encoder.Splade(splade)
    texts = ["price of a pool", "x", "a b c d e f g h i", "café pools"]
    found = sparse_encoder.as_file(theirs.encode(texts, max_active_dims=8, show_progress_bar=False), 8)
    terms, weights = ours.vectors(texts, 8)
    assert (weights >= 0).all() and weights.max() > 0
    assert equality.same_vectors(found, terms, weights)
    assert not equality.same_vectors(found, terms, weights + np.float16(0.1))
    ours.equations.segment = 1  # another model
    assert not equality.same_vectors(found, *ours.vectors(texts, 8))


def test_a_head_with_a_bias_is_refused_since_it_is_not_added(splade):
    from safetensors.torch import load_file, save_file

    weights = load_file(splade / "model.safetensors")
    weights["cls.predictions.bias"][3] = 0.5
    save_file(weights, splade / "model.safetensors")
    with pytest.raises(ValueError, match="has a bias"):
        sparse_encoder.Splade(splade)


def test_what_cannot_be_measured_is_left_out_with_a_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(sparse_encoder, "find_spec", lambda name: None)
    assert list(sparse_encoder.sparse_encoder("minilm", tmp_path, tmp_path, 4, 1)) == []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    assert list(cores.two_cores("minilm", None, tmp_path, 4, 1)) == []
    assert capsys.readouterr().out.splitlines() == [sparse_encoder.MISSING, cores.MISSING]


def test_both_shards_of_two_cores_hold_the_same_passages_under_their_own_ids():
    twice = cores.Twice(["a", "b"])
    assert len(twice) == 4 and list(twice.span(range(1, 4))) == [("1", "b"), ("2", "a"), ("3", "b")]


def test_memory_of_other_processes_is_what_a_way_says_of_it():
    ways = Way(lambda: 7), Way(lambda: 7, peak=lambda found: 6.0 * found)
    assert versus(*ways, 1, equal=lambda left, right: True, work="encode-2-cores").ours_peak_mb == 42


@pytest.mark.parametrize("name", ["tk-1", "duet, 8 members", "cross-encoder"])
def test_a_family_is_timed_with_as_many_words_as_published_and_an_unknown_one_is_refused(name, monkeypatch, capsys):
    kind, settings, words, loss, batch = families.FAMILIES[name]
    small = {"members": 2} if name.startswith("duet") else {}
    monkeypatch.setitem(families.FAMILIES, name, (kind, settings | small, words and 9000, loss, min(batch, 2)))
    monkeypatch.setattr(families, "CANDIDATES", (2, 3))
    monkeypatch.setattr(families, "STEPS", 1)
    cells = families.measured(name)
    assert len(cells) == len(families.HEAD) and cells[0] == name and cells[1].endswith(" ms") and cells[3].endswith(" GB")
    assert cells[4].endswith(" triples") if loss else cells[4:] == ["", ""]
    assert families.main(["tk"]) == 2 and "no family tk; there are tk-1" in capsys.readouterr().err


@pytest.mark.smoke
def test_a_tiny_run_writes_records_table_and_figure(tmp_path):
    command = [sys.executable, "-m", "tests.bench", "tiny", str(tmp_path / "bench")]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    records = json.loads((tmp_path / "bench" / "bench.json").read_text())
    assert all(list(record) == KEYS for record in records)
    measured = {"train-step", "encode", "prune", "lookup", "query", "cross-encoder", "cross-encoder-query", "tk-run"} | (
        {"sparse-encoder"} if find_spec("sentence_transformers") else set()
    )
    measured |= {"encode-2-cores", "encode-2-threads"} if len(os.sched_getaffinity(0)) > 1 else set()
    assert measured <= {record["work"] for record in records}
    assert all(record["equal"] is True and record["ratio_low"] <= record["ratio"] <= record["ratio_high"] for record in records)
    pinned = json.loads((tmp_path / "bench" / "machine.json").read_text())["pinned"]
    assert pinned["OMP_WAIT_POLICY"] == "PASSIVE" and pinned["torch threads"] == 1
    for name in ("bench.md", "bench.png", "bench.pdf", "information.json"):
        assert (tmp_path / "bench" / name).stat().st_size > 100
    assert not list((tmp_path / "bench").glob(".scratch*"))
