"""Checks: what each kind of claim computes, and when there is nothing to compute."""

import pytest

from epic.judging.checks import CHECKS
from epic.judging.evidence import Found, UncheckedError
from tests.judging import verdicts


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
        ("bert-large-ms", 3500.0, "not comparable"),
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


def test_another_vocabulary_makes_sizes_incomparable(evidence):
    evidence.costs["paper"]["vocabulary"] = 50_265
    assert verdicts(evidence)["bytes-full"][1] == "not comparable"


def test_gains_that_do_not_add_up(evidence):
    evidence.rows["bm25-full"]["ours_headline"] = 0.31
    assert verdicts(evidence)["additive"] == ("not better", "does not hold")


def test_a_difference_in_time_within_chance_is_inconclusive(evidence):
    evidence.timings["together"]["bm25-full"] = evidence.timings["together"]["doctttttquery-full"]
    assert verdicts(evidence)["slower-on-bm25"][1] == "inconclusive"


def test_rows_are_compared_in_time_only_within_one_measurement(evidence):
    together = evidence.timings["together"]
    evidence.timings["first-stages"] = {"doctttttquery": together.pop("doctttttquery")}
    assert verdicts(evidence)["overhead"] == (None, "not checkable here")
    assert verdicts(evidence)["slower-on-bm25"] == ("slower", "holds")
    evidence.timings["paper"] = {"doctttttquery": evidence.timings["first-stages"]["doctttttquery"], **together}
    assert verdicts(evidence)["overhead"][1] == "holds"


def test_a_query_is_known_by_its_id_as_written(tmp_path, evidence):
    for name, value in (("e", 1.0), ("b", 0.5)):
        (tmp_path / f"{name}.values").write_text(f"query_id\tRR@10\n01048578\t{value}\n")  # no number: another id
    assert verdicts(evidence)["endless-pools"] == (None, "not checkable here")


def test_a_finding_is_a_number_with_its_surroundings(evidence):
    assert CHECKS["cutoff"](evidence, "paper", "bm25") == Found(99, detail="of 1 to 200")
    assert CHECKS["lower_cutoff"](evidence, "paper", "bm25", "doctttttquery") == Found(
        "not lower", False, "99 on bm25, 40 on doctttttquery"
    )
    assert CHECKS["values_at_most"](evidence, "paper", 1) == Found(0.74)


def test_a_query_vector_is_timed_only_on_the_device_that_was_used(evidence):
    assert CHECKS["query_vector_ms"](evidence, "paper", "cpu", "bm25", 1000) == Found(51.0, detail="bm25-1000, p95 60 ms")
    with pytest.raises(UncheckedError, match="the model runs on cpu in this experiment"):
        CHECKS["query_vector_ms"](evidence, "paper", "cuda", "bm25", 1000)
