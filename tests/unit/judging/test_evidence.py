"""Evidence: rows and tests are found by what they are, and a lack has its reason."""

import json

import pytest

from epic.judging.evidence import UncheckedError, read_evidence, require
from tests.judging import compared, record

EVALUATED = {"headline": "dev", "measure": "AP", "selection": "Rprec"}


def test_evidence_is_read_from_files(tmp_path):
    def write(name, value):
        (tmp_path / name).write_text(json.dumps(value))
        return tmp_path / name

    table = write("table.json", {"rows": [record("a", "model", "s", "m", 1), record("b", "published-only", None, ours=None)]})
    tests = write("tests.json", {"families": [{"tests": [{"system": "a"}]}, {"tests": [{"system": "b"}]}]})
    cutoffs = {"m": {"s": write("cutoff.json", {"cutoff": 7})}}
    by_model = {"histories": {"m": "h"}, "frequencies": {"m": "f"}, "costs": {"m": write("costs.json", {"x": 1})}}
    by_model["texts"] = {"m": write("texts.json", {"queries": []})}
    by_row = {"latencies": {"a": write("l.json", {"ms": {}})}, "timings": {"m": {"a": "t"}}, "values": {"a": "v"}}
    found = read_evidence(EVALUATED, table, tests, write("s.json", {"passages": {}}), cutoffs, by_model, by_row)
    assert list(found.rows) == ["a"] and len(found.tests) == 2 and found.cutoffs == {("m", "s"): {"cutoff": 7}}
    assert found.costs == {"m": {"x": 1}} and found.latencies == {"a": {"ms": {}}} and found.timings == {"m": {"a": "t"}}
    assert found.texts == {"m": {"queries": []}} and found.values == {"a": "v"} and found.headline == "dev"
    assert (found.measure, found.selection) == ("AP", "Rprec")


def test_a_row_is_known_by_model_first_stage_and_pruning(evidence):
    assert evidence.row("paper", "bm25", 1000)["id"] == "bm25-1000" and evidence.first("bm25")["id"] == "bm25"
    with pytest.raises(UncheckedError, match="^paper on bm25 with r=7 is not run here$"):
        evidence.row("paper", "bm25", 7)
    with pytest.raises(UncheckedError, match="^deepct is not run here$"):
        evidence.first("deepct")


def test_of_two_tests_of_a_pair_the_one_with_a_margin_is_taken(evidence):
    system, baseline = record("s", "model", "bm25"), record("b", "first-stage", "bm25")
    plain, other = compared("s", "b", 0.1, True), compared("b", "s", 0.1, True, margin=0.02)
    informative = compared("s", "b", 0.1, True, margin=0.01, p_equivalence=0.5)
    evidence.tests = [plain, other, informative]
    assert evidence.test(system, baseline) is informative
    evidence.tests = [plain, other]
    assert evidence.test(system, baseline) is plain
    evidence.tests = [other]
    with pytest.raises(UncheckedError, match="^s is not compared with b in this experiment$"):
        evidence.test(system, baseline)


def test_a_lack_is_named(evidence):
    assert require({"a": 0}, "a", "count") == 0
    with pytest.raises(UncheckedError, match="^there is no count here$"):
        require({"a": 0}, "b", "count")
    row = record("s", "model", "bm25")
    assert evidence.other_set(row) == () and evidence.other_set(row | {"published_query_set": "dl19"}) == ("query set",)
