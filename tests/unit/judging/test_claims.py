"""Claims: every sentence is data, and a verdict is given only where it may be."""

import json

import pytest
import yaml

from epic.checks import CHECKS
from epic.claims import _verdict, check, check_all, read_claims, shown, write_claims
from epic.evidence import Evidence, Found, read_evidence
from epic.files import InputError
from epic.history import Iteration, write_history
from epic.timings import write_latency
from tests.conftest import ROOT
from tests.unit.test_latency import total

CLAIMS = ROOT / "workflow" / "resources" / "claims.yaml"


def record(name, kind, stage, model=None, keep=None, ours=0.3, query_set="dev", ms=10.0):
    found = {"id": name, "kind": kind, "first_stage": stage, "model": model, "keep": keep, "ours": ours, "query_set": query_set}
    return found | {"published_query_set": "dev", "ours_headline": ours, "ours_ms": ms}


def compared(system, baseline, difference, significant, conclusion="", margin=None, p_equivalence=None):
    found = {"system": system, "baseline": baseline, "difference": difference, "significant": significant, "p_holm": 0.5}
    return found | {"conclusion": conclusion, "margin": margin, "p_equivalence_holm": p_equivalence}


@pytest.fixture
def evidence(tmp_path):
    def timings(name, *milliseconds):
        write_latency(
            {"warm": {str(i): total(ms) for i, ms in enumerate(milliseconds)}},
            "no",
            {},
            1,
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
            "bm25-1000": {
                "ms": {"query_vector": {"mean": 51.0, "p95": 60.0}, "score": {"mean": 1.0, "p95": 2.0}, "load": {"mean": 4.0}}
            }
        },
        timings={
            "bm25-full": timings("a", 106, 107, 105),
            "doctttttquery-full": timings("b", 78, 79, 77),
            "doctttttquery-1000": timings("c", 68, 67, 69),
            "doctttttquery": timings("d", 63, 62, 64),
            "bm25-1000": timings("e", 48, 49, 47),
        },
    )


def verdicts(evidence, differs=()):
    found = check_all(read_claims(CLAIMS), evidence, {None: list(differs), "paper": list(differs)})
    return {claim["id"]: (claim["results"][0]["ours"], claim["results"][0]["verdict"]) for claim in found}


@pytest.mark.parametrize(
    ("claim", "ours", "verdict"),
    [
        ("passages", 8_841_823, "holds"),
        ("passage-length", 73.5, "holds"),
        ("queries", None, "not checkable here"),  # none were counted
        ("best-iteration", 3, "does not hold"),
        ("mrr", 0.304, "holds"),
        ("beats-bm25", "better", "holds"),
        ("like-doctttttquery", "inconclusive", "inconclusive"),  # not significant is not the same
        ("additive", "better", "holds"),
        ("small-values", 0.74, "holds"),
        ("pruned-bm25", "no difference", "holds"),
        ("pruned-doctttttquery", "different", "does not hold"),
        ("drop-bm25", "worse", "holds"),
        ("drop-doctttttquery", "not worse", "does not hold"),
        ("cutoff-bm25", 99, "holds"),
        ("cutoff-doctttttquery", 40, "does not hold"),
        ("lower-cutoff", "lower", "holds"),
        ("query-vector-cpu", 51.0, "not comparable"),  # milliseconds never get a verdict
        ("query-vector-gpu", None, "not checkable here"),
        ("score", 1.0, "not comparable"),
        ("slower-on-bm25", "slower", "holds"),
        ("pruned-faster-bm25", "slower", "seen here"),
        ("pruned-faster-doctttttquery", "slower", "seen here"),
        ("loading", "loading", "holds"),
        ("pruned-like-doctttttquery", "no difference", "holds"),
        ("beats-doc2query", None, "not checkable here"),
        ("bert-large", 0.3653, "holds"),
        ("figure-3a", None, "not checkable here"),  # this query is not shown
        ("figure-3b", "high", "holds"),
        ("figure-4", "among them", "holds"),
        ("endless-pools", "higher", "holds"),
        ("overhead", 5.0, "holds"),  # but paired overheads
        ("speed-up", 63 / 48, "holds"),  # and ratios do
        ("hours", 14.0, "not comparable"),
        ("bytes-full", 61044 / 1024, "holds"),
        ("bytes-1000", None, "not checkable here"),  # no such store here
        ("total-full", 502.7, "holds"),
        ("car", None, "not checkable here"),
        ("tpu", None, "not checkable here"),
    ],
)
def test_each_claim_under_the_papers_conditions(evidence, claim, ours, verdict):
    assert verdicts(evidence)[claim] == (pytest.approx(ours) if isinstance(ours, float) else ours, verdict)


def test_on_other_data_numbers_are_not_compared_and_order_is_only_seen(evidence):
    found = verdicts(evidence, ["collection", "encoder"])
    assert found["mrr"][1] == found["small-values"][1] == found["overhead"][1] == "not comparable"
    assert found["beats-bm25"][1] == "seen here" and found["drop-doctttttquery"][1] == "not seen here"
    assert found["like-doctttttquery"][1] == "inconclusive"
    assert found["bytes-full"][1] == "holds"  # arithmetic holds everywhere
    said = {verdict for _, verdict in found.values()}
    assert said <= {
        "not comparable",
        "seen here",
        "not seen here",
        "inconclusive",
        "holds",
        "does not hold",
        "not checkable here",
    }


def test_a_number_of_another_query_set_is_not_compared(evidence):
    evidence.rows["doctttttquery-full"]["query_set"] = "dev-small"
    (claim,) = [claim for claim in read_claims(CLAIMS) if claim["id"] == "mrr"]
    found = check(claim, evidence, "paper", [])
    assert found["verdict"] == "not comparable" and found["because"] == ["other query set"]


def test_a_test_on_another_query_set_is_only_seen(evidence):
    evidence.headline = "dl19"
    assert verdicts(evidence)["beats-bm25"] == ("better", "seen here")


def test_a_significant_hair_is_no_considerable_drop(evidence):
    (test,) = [test for test in evidence.tests if test["system"] == "bm25-100"]
    test["difference"] = -0.0004
    assert verdicts(evidence)["drop-bm25"] == ("hardly worse", "does not hold")


def test_without_a_margin_nothing_is_called_equivalent(evidence):
    for test in evidence.tests:
        test["margin"] = test["p_equivalence_holm"] = None
    assert verdicts(evidence)["pruned-bm25"] == (None, "not checkable here")


def test_a_significant_hair_within_the_margin_makes_no_difference_that_matters(evidence):
    (test,) = [test for test in evidence.tests if (test["system"], test["baseline"]) == ("bm25-1000", "bm25-full")]
    test |= {"significant": True, "conclusion": "different, by less than 0.005"}
    assert verdicts(evidence)["pruned-bm25"] == ("no difference that matters", "holds")


def test_without_a_model_there_are_no_costs(evidence):
    evidence.costs.clear()
    assert verdicts(evidence)["bytes-full"] == (None, "not checkable here")


def test_a_bound_within_the_interval_is_inconclusive(evidence):
    evidence.timings["doctttttquery-1000"] = evidence.timings["doctttttquery-full"]  # 15 ms more, certainly
    assert verdicts(evidence)["overhead"][1] == "does not hold"
    claim = {"computed": {"x": []}, "needs": [], "published": 5, "at_most": 5.5}
    assert _verdict(claim, Found(4.9, interval=[1.0, 9.0]), []) == ("inconclusive", [])
    assert _verdict(claim, Found(4.9, interval=[4.0, 5.2]), []) == ("holds", [])


def test_another_vocabulary_makes_sizes_incomparable(evidence):
    evidence.costs["paper"]["vocabulary"] = 50_265
    assert verdicts(evidence)["bytes-full"][1] == "not comparable"


def test_gains_that_do_not_add_up(evidence):
    evidence.rows["bm25-full"]["ours_headline"] = 0.31
    assert verdicts(evidence)["additive"] == ("not better", "does not hold")


def test_a_difference_in_time_within_chance_is_inconclusive(evidence):
    evidence.timings["bm25-full"] = evidence.timings["doctttttquery-full"]
    assert verdicts(evidence)["slower-on-bm25"][1] == "inconclusive"


def test_what_an_experiment_lacks_is_said_and_not_invented(evidence):
    found = check_all(read_claims(CLAIMS), evidence, {None: [], "other": []})
    reasons = {claim["id"]: claim["results"][0]["because"] for claim in found}
    assert reasons["best-iteration"] == ["there is no training of this model here"]
    assert reasons["mrr"] == ["other on doctttttquery with r=full is not run here"]
    evidence.tests.clear()
    missing = check_all(read_claims(CLAIMS), evidence, {None: [], "paper": []})
    because = {claim["id"]: claim["results"][0]["because"] for claim in missing}
    assert because["beats-bm25"] == ["bm25-full is not compared with bm25 in this experiment"]


def test_the_file_names_what_the_paper_says():
    claims = {claim["id"]: claim for claim in read_claims(CLAIMS)}
    published = {
        "small-values": 0.74, "query-vector-gpu": 18, "query-vector-cpu": 51, "score": 1, "overhead": 5, "speed-up": 1.3,
        "cutoff-bm25": 99, "cutoff-doctttttquery": 15, "best-iteration": 42, "bytes-full": 60, "total-full": 500, "bytes-1000": 3.9,
        "total-1000": 34, "hours": 14, "vocabulary-2000": 0.934, "vocabulary-1000": 0.967, "car": 0.353, "passage-length": 73.1,
        "query-length": 7.5, "judgments": 0.7, "answered": 0.62, "judgments-of-answered": 1.1,
    }  # fmt: skip
    assert {name: claims[name]["published"] for name in published} == published
    used = {name for claim in claims.values() for name in claim.get("computed", {})}
    assert used == set(CHECKS)  # and nothing is computed that nobody claims


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"surprise": 1}, "has no key surprise"),
        ({"computed": {"nonsense": []}}, "no function nonsense"),
        ({"says_why": "both"}, "needs either computed or says_why"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, change, said):
    claim = {"id": "x", "section": "s", "says": "t", "published": 1, "computed": {"cutoff": ["bm25"]}, "needs": []}
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([claim | change]))
    with pytest.raises(InputError, match=rf"claims\.yaml: claim x.*{said}"):
        read_claims(tmp_path / "claims.yaml")


def test_values_for_people():
    assert shown(0.742, "share") == "74.2 %" and shown(8_841_823, "passages") == "8,841,823 passages"
    assert shown(None, "ms") == "-" and shown("lower", None) == "lower" and shown(3.90625, "KiB") == "3.91 KiB"
    assert Found("x").holds is None


def test_both_forms_are_written_and_say_the_same(tmp_path, evidence):
    outs = {"json": tmp_path / "claims.json", "md": tmp_path / "claims.md"}
    write_claims(CLAIMS, evidence, {None: [], "paper": []}, "T", "the note", outs)
    found, text = json.loads(outs["json"].read_text()), outs["md"].read_text()
    assert len(found["claims"]) == len(read_claims(CLAIMS)) and "the note" in text
    assert text.count("| holds |") == sum(r["verdict"] == "holds" for claim in found["claims"] for r in claim["results"])


def test_evidence_is_read_from_files(tmp_path):
    def write(name, value):
        (tmp_path / name).write_text(json.dumps(value))
        return tmp_path / name

    table = write("table.json", {"rows": [record("a", "model", "s", "m", 1), record("b", "published-only", None, ours=None)]})
    tests = write("tests.json", {"families": [{"tests": [{"system": "a"}]}, {"tests": [{"system": "b"}]}]})
    cutoffs = {"m": {"s": write("cutoff.json", {"cutoff": 7})}}
    by_model = {"histories": {"m": "h"}, "frequencies": {"m": "f"}, "costs": {"m": write("costs.json", {"x": 1})}}
    by_model["texts"] = {"m": write("texts.json", {"queries": []})}
    by_row = {"latencies": {"a": write("l.json", {"ms": {}})}, "timings": {"a": "t"}, "values": {"a": "v"}}
    found = read_evidence("dev", table, tests, write("s.json", {"passages": {}}), cutoffs, by_model, by_row)
    assert list(found.rows) == ["a"] and len(found.tests) == 2 and found.cutoffs == {("m", "s"): {"cutoff": 7}}
    assert found.costs == {"m": {"x": 1}} and found.latencies == {"a": {"ms": {}}} and found.timings == {"a": "t"}
    assert found.texts == {"m": {"queries": []}} and found.values == {"a": "v"} and found.headline == "dev"
