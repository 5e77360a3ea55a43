"""Verdicts: only like is compared with like."""

import pytest

from epic.judging.verdicts import (
    delta_relative_improvement,
    effect_ratio,
    judge,
    kendall_tau,
    over_the_table,
    said,
)
from tests.judging import entry


@pytest.mark.parametrize(
    ("published", "metrics", "differs", "verdict", "because"),
    [
        (entry(0.3), {"test": {"RR@10": 0.309}}, [], "match", []),
        (entry(0.3), {"test": {"RR@10": 0.31}}, [], "match", []),  # at the tolerance, whatever the rounding
        (entry(0.3), {"test": {"RR@10": 0.311}}, [], "above", []),
        (entry(0.3), {"test": {"RR@10": 0.289}}, [], "below", []),
        (entry(0.3, query_set="dev"), {"test": {"RR@10": 0.3}}, [], "not comparable", ["other query set"]),
        (entry(0.3), {"test": {"RR@10": 0.3}}, ["encoder"], "not comparable", ["other encoder"]),
        (entry(0.3, "dev"), {"test": {"RR@10": 0.3}}, ["collection"], "not comparable", ["other collection", "other query set"]),
        (entry(48, "latency", None, "ms/query"), {"test": {"RR@10": 0.3}}, [], "not comparable", ["other hardware"]),
        (entry(0.3, tolerance=None), {"test": {"RR@10": 0.3}}, [], "not comparable", ["no tolerance is given"]),
        (entry(0.3), {}, ["encoder"], "not run", []),
        (
            entry(0.3, metric="AP"),
            {"test": {"RR@10": 0.9, "AP": 0.301}},
            [],
            "match",
            [],
        ),  # the same measure, whatever the table's
        (entry(0.3, metric="P@5"), {"test": {"P@5": 0.32}}, [], "above", []),
        (entry(0.3, metric="RR"), {"test": {"RR@10": 0.3}}, [], "not comparable", ["other measure"]),
        (entry(0.3, metric="RR"), {"test": {"RR(rel=2)": 0.3}}, [], "not comparable", ["other measure"]),
        (entry(0.3, "dev", metric="Rprec"), {"test": {"Rprec": 0.3}}, [], "not comparable", ["other query set"]),
    ],
)
def test_a_verdict_is_given_only_under_the_published_conditions(published, metrics, differs, verdict, because):
    found = judge(published, metrics, differs)
    assert (found["verdict"], found["because"]) == (verdict, because)
    compared = verdict in ("match", "above", "below")
    assert (found["difference"] is not None) == compared
    assert not compared or found["difference"] == pytest.approx(found["ours"] - 0.3)


def test_reasons_are_said_once():
    assert (
        said("not comparable", ["other a", "other b"]) == "not comparable: other a, b"
        and said("x", ["a", "other b"]) == "x: a, other b"
    )
    assert said("not comparable", ["other encoder"]) == "not comparable: other encoder" and said("match", []) == "match"


# The authors' own re-run (their README) against the paper: the yardstick for everybody else's.
PAPER = {"bm25": 0.198, "epic-bm25": 0.272, "doc": 0.277, "epic-doc": 0.303}
README = {"bm25": 0.1866, "epic-bm25": 0.2722, "doc": 0.2748, "epic-doc": 0.3029}


@pytest.mark.parametrize(("system", "ratio", "delta"), [("bm25", 1.157, -0.085), ("doc", 1.081, -0.008)])
def test_the_authors_rerun_against_their_paper(system, ratio, delta):
    pairs = [(values[f"epic-{system}"], values[system]) for values in (PAPER, README)]
    assert effect_ratio(*pairs) == pytest.approx(ratio, abs=5e-4)
    assert delta_relative_improvement(*pairs) == pytest.approx(delta, abs=5e-4)


def test_the_order_by_hand():
    assert kendall_tau([1, 2, 3], [10, 20, 30]) == 1 and kendall_tau([1, 2, 3], [3, 2, 1]) == -1
    assert kendall_tau([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    assert kendall_tau([1, 1], [1, 2]) is None and kendall_tau([], []) is None
    assert effect_ratio((0.3, 0.3), (0.2, 0.1)) is None and delta_relative_improvement((0.3, 0.0), (0.2, 0.1)) is None


def row(name, kind, stage, model=None, published=True, ours=README):
    metrics = {"dev": {"RR@10": ours[name]}} if ours else {}
    entries = [judge(entry(PAPER[name], "dev"), metrics, [])] if published else []
    return {"id": name, "kind": kind, "first_stage": stage, "model": model, "metrics": metrics, "published": entries}


def test_over_the_table():
    rows = [
        row("bm25", "first-stage", "bm25"),
        row("doc", "first-stage", "doc"),
        row("epic-bm25", "model", "bm25", "paper"),
        row("epic-doc", "model", "doc", "paper"),
        {"id": "tk", "kind": "published-only", "first_stage": None, "model": None, "metrics": {}, "published": [entry()]},
    ]
    (found,) = over_the_table(rows, "dev", "RR@10")["models"]
    assert (found["model"], found["systems"], found["kendall_tau"], found["because"]) == ("paper", 4, 1.0, [])
    assert [gain["system"] for gain in found["gains"]] == ["epic-bm25", "epic-doc"]
    assert found["gains"][0]["effect_ratio"] == pytest.approx(1.157, abs=5e-4)
    assert over_the_table(rows, "another", "RR@10") == {"query_set": "another", "models": []}


def test_over_the_table_by_another_measure():
    """By R-prec the re-ranker is worse than its first stage, by MRR@10 it is better."""
    metrics = {"bm25": {"RR@10": 0.2, "Rprec": 0.4}, "epic": {"RR@10": 0.3, "Rprec": 0.3}}
    theirs = {"bm25": {"RR@10": 0.2, "Rprec": 0.2}, "epic": {"RR@10": 0.3, "Rprec": 0.3}}
    rows = []
    for name, kind, model in (("bm25", "first-stage", None), ("epic", "model", "m")):
        entries = [
            judge(entry(value, "dev", metric=metric), {"dev": metrics[name]}, []) for metric, value in theirs[name].items()
        ]
        row = {"id": name, "kind": kind, "first_stage": "bm25", "model": model, "metrics": {"dev": metrics[name]}}
        rows.append(row | {"published": entries})
    for measure, tau, ratio in (("RR@10", 1.0, 1.0), ("Rprec", -1.0, -1.0)):
        (found,) = over_the_table(rows, "dev", measure)["models"]
        assert found["kendall_tau"] == pytest.approx(tau) and found["gains"][0]["effect_ratio"] == pytest.approx(ratio)
