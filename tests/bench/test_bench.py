"""The benchmark: the plain way computes EPIC, what is not equal fails, and a tiny run writes what is promised."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from epic.model.epic import EpicModel
from epic.model.query_torch import query_vector
from epic.vectors.phi import document_vectors
from epic.vectors.topk import take, top_terms
from tests.bench import equality, inputs, plain
from tests.bench.measure import Record, Way, versus
from tests.conftest import ROOT

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


@pytest.mark.smoke
def test_a_tiny_run_writes_records_table_and_figure(tmp_path):
    command = [sys.executable, "-m", "tests.bench", "tiny", str(tmp_path / "bench")]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    records = json.loads((tmp_path / "bench" / "bench.json").read_text())
    assert all(list(record) == KEYS for record in records)
    assert {"train-step", "encode", "prune", "lookup", "query"} <= {record["work"] for record in records}
    assert all(record["equal"] is True and record["ratio_low"] <= record["ratio"] <= record["ratio_high"] for record in records)
    pinned = json.loads((tmp_path / "bench" / "machine.json").read_text())["pinned"]
    assert pinned["OMP_WAIT_POLICY"] == "PASSIVE" and pinned["torch threads"] == 1
    for name in ("bench.md", "bench.png", "bench.pdf", "information.json"):
        assert (tmp_path / "bench" / name).stat().st_size > 100
    assert not list((tmp_path / "bench").glob(".scratch*"))
