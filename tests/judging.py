"""Published values, rows and claims for tests."""

from functools import cache

from epic.judging.claims import check_all, read_claims
from epic.judging.verdicts import judge
from tests.conftest import ROOT

FAMILIES = {"paper": "epic", "other": "epic", "tk": "tk"}
CLAIMS = ROOT / "workflow" / "resources" / "claims.yaml"


def entry(value=0.3, query_set="test", tolerance=0.01, metric="RR@10", source="paper"):
    return {"source": source, "query_set": query_set, "metric": metric, "value": value, "tolerance": tolerance}


def row(metrics=None, published=(), **changes):
    found = {"id": "a", "label": "A & B_1", "group": "G", "kind": "model", "first_stage": "s", "model": "m", "keep": 10}
    found |= {"settings": {"keep": 10}, "metrics": metrics or {}}
    return found | {"published": [judge(one, found["metrics"], []) for one in published]} | changes


def record(name, kind, stage, model=None, keep=None, ours=0.3, query_set="dev", ms=10.0):
    found = {"id": name, "kind": kind, "first_stage": stage, "model": model, "keep": keep, "ours": ours, "query_set": query_set}
    return found | {"published_query_set": "dev", "ours_headline": ours, "ours_ms": ms}


def compared(system, baseline, difference, significant, conclusion="", margin=None, p_equivalence=None):
    found = {"system": system, "baseline": baseline, "difference": difference, "significant": significant, "p_holm": 0.5}
    return found | {"conclusion": conclusion, "margin": margin, "p_equivalence_holm": p_equivalence}


claims = cache(lambda: read_claims(CLAIMS))  # read once: nothing changes them


def verdicts(evidence, differs=()):
    found = check_all(claims(), evidence, {None: list(differs), "paper": list(differs)}, FAMILIES)
    return {claim["id"]: (claim["results"][0]["ours"], claim["results"][0]["verdict"]) for claim in found}
