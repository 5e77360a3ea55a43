"""What tests of checks and of claims share: the findings of a made-up experiment."""

import pytest

from epic.judging.evidence import Evidence
from epic.latency.timings import write_latency
from epic.training.history import Iteration, write_history
from tests.judging import compared, record
from tests.latency import total


@pytest.fixture
def evidence(tmp_path):
    def timings(name, *milliseconds):
        write_latency(
            {"warm": {str(i): total(ms) for i, ms in enumerate(milliseconds)}},
            "no",
            {},
            {},
            tmp_path / f"{name}.json",
            tmp_path / f"{name}.tsv",
        )
        return str(tmp_path / f"{name}.tsv")

    write_history([Iteration(i, 8 * i, 0.1, 0.5, 0.5 - abs(i - 3) / 10, 1.0) for i in range(1, 6)], tmp_path / "history.tsv")
    (tmp_path / "f.tsv").write_text("value\tcount\n0.1\t74\n0.5\t26\n")
    stages = ("bm25", "doctttttquery")
    rows = {stage: record(stage, "first-stage", stage) for stage in stages}
    for stage, ours in (("bm25", 0.273), ("doctttttquery", 0.304)):
        for keep in ("full", 1000, 100):
            rows[f"{stage}-{keep}"] = record(f"{stage}-{keep}", "model", stage, "paper", keep, ours)
    rows["bert-large"] = record("bert-large", "run-file", None, ours=0.3653)
    query = {"text": "coastal processes are located on what vertebrae"}
    query |= {"pieces": ["coastal", "on", "what", "vertebrae"], "weights": [1.0, 0.1, 0.95, 0.9]}
    passage = {"text": "Endless Pools cost a lot", "expansion": {"pieces": ["price", "cost"]}}
    for name, value in (("e", 1.0), ("b", 0.5)):
        (tmp_path / f"{name}.values").write_text(f"query_id\tRR@10\n1048578\t{value}\n")
    return Evidence(
        headline="dev",
        measure="RR@10",
        selection="RR@10",
        values={"doctttttquery-full": tmp_path / "e.values", "doctttttquery": tmp_path / "b.values"},
        texts={"paper": {"queries": [query], "passages": [passage]}},
        rows=rows,
        tests=[
            compared("bm25-full", "bm25", 0.07, True),
            compared("doctttttquery-full", "doctttttquery", 0.03, True),
            compared("bm25-full", "doctttttquery", -0.004, False, "inconclusive", 0.01, 0.2),
            compared("bm25-1000", "bm25-full", -0.001, False, "equivalent within ±0.005", 0.005, 0.001),
            compared("doctttttquery-1000", "doctttttquery-full", -0.1, True, "different", 0.005, 1.0),
            compared("bm25-1000", "doctttttquery", -0.001, False, "equivalent within ±0.01", 0.01, 0.001),
            compared("bm25-100", "bm25-full", -0.03, True, margin=0.005, p_equivalence=1.0),
            compared("doctttttquery-100", "doctttttquery-full", 0.03, True),
        ],
        statistics={
            "passages": {"count": 8_841_823, "word_pieces": {"mean": 73.5, "sd": 28.0}},
            "queries": {"count": 0},
            "datasets": [],
        },
        cutoffs={
            ("paper", "bm25"): {"cutoff": 99, "curve": [0.0] * 200},
            ("paper", "doctttttquery"): {"cutoff": 40, "curve": [0.0] * 200},
        },
        histories={"paper": tmp_path / "history.tsv"},
        frequencies={"paper": tmp_path / "f.tsv"},
        costs={
            "paper": {
                "vocabulary": 30_522,
                "stores": [{"keep": "full", "bytes_per_passage": 61044, "ms_marco_gib": 502.7, "vocabulary_reduced_by": 0.0}],
                "compute": {"device": "cpu"},
                "passages_per_second": 175.0,
                "ms_marco_hours": 14.0,
            }
        },
        latencies={
            "bert-large": {"ms": {"total": {"mean": 3500.0, "p95": 3600.0}}},
            "bm25-1000": {
                "ms": {"query_vector": {"mean": 51.0, "p95": 60.0}, "score": {"mean": 1.0, "p95": 2.0}, "load": {"mean": 4.0}}
            },
        },
        timings={
            "together": {
                "bm25-full": timings("a", 106, 107, 105),
                "doctttttquery-full": timings("b", 78, 79, 77),
                "doctttttquery-1000": timings("c", 68, 67, 69),
                "doctttttquery": timings("d", 63, 62, 64),
                "bm25-1000": timings("e", 48, 49, 47),
            }
        },
    )
