"""Names of measures: those of ir_measures, and no other module knows them."""

import re

import ir_measures
import pytest

from epic.core.files import InputError
from epic.experiment.measure_names import AT_DEPTH, KNOWN, Parts, computed, from_grade, is_known, on_set, parts_of, recall_depth
from epic.experiment.strict_schema import Validator
from tests.conftest import ROOT
from tests.written import schema

NAMES = ["RR", "RR@10", "AP", "Rprec", "P@5", "nDCG", "nDCG@10", "R@1000"]
ODD = [
    "",
    "MRR",
    "RR10",
    "MAP",
    "P",
    "R",
    "AP@10",
    "Rprec@5",
    "RR@0",
    "RR@010",
    "RR@10000",
    "RR@10 ",
    "rr@10",
    "RR@10\n",
    "R@hits",
]
HERE = [ROOT / "epic" / "experiment" / f"measure_{name}.py" for name in ("names", "labels")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("grade", [1, 2, 3, 10])
def test_a_measure_from_a_grade_on_has_the_name_that_ir_measures_gives_it(name, grade):
    graded = from_grade(name, grade)
    assert str(ir_measures.parse_measure(graded)) == graded and from_grade(graded, grade) == graded
    weighs = name.startswith("nDCG")
    assert parts_of(graded).grade == (1 if weighs else grade) and (graded == name) == (weighs or grade == 1)
    assert parts_of(graded)._replace(grade=1) == parts_of(name)


def test_a_name_by_hand():
    assert parts_of("RR(rel=2)@10") == Parts("RR", 2, 10) and parts_of("Rprec") == Parts("Rprec", 1, None)
    assert [from_grade(name, 2) for name in NAMES] == [
        "RR(rel=2)", "RR(rel=2)@10", "AP(rel=2)", "Rprec(rel=2)", "P(rel=2)@5", "nDCG", "nDCG@10", "R(rel=2)@1000",
    ]  # fmt: skip


@pytest.mark.parametrize("name", [*ODD, "nDCG(rel=2)@10", "RR(rel=1)", "RR(rel=0)@10", "RR@10(rel=2)"])
def test_another_name_is_refused_with_those_there_are(name):
    with pytest.raises(InputError, match=f"^there is no measure {re.escape(name)}; there are {re.escape(KNOWN)}$"):
        parts_of(name)
    assert not is_known(name) and not is_known(None) and not is_known(["RR"])


def test_the_schema_knows_the_same_names():
    evaluate = schema()["properties"]["evaluate"]["properties"]
    for name in (*NAMES, *ODD, "RR(rel=2)@10"):
        expected = is_known(name) and "rel" not in name
        assert Validator(schema()["$defs"]["measure"]).is_valid(name) == expected, name
        assert Validator(evaluate["measures"]["items"]).is_valid(name) == (expected or name == AT_DEPTH), name


def test_of_graded_judgments_the_headline_is_taken_from_grade_1_on_too():
    listed = ["RR@10", "nDCG@10", "AP", "R@hits"]
    assert on_set(listed, "RR@10", 1, 200) == ["RR@10", "nDCG@10", "AP", "R@200"]
    assert on_set(listed, "RR@10", 2, 1000) == ["RR@10", "nDCG@10", "RR(rel=2)@10", "AP(rel=2)", "R(rel=2)@1000"]
    assert on_set(listed, "AP", 2, 9) == ["nDCG@10", "AP", "RR(rel=2)@10", "AP(rel=2)", "R(rel=2)@9"]
    assert on_set(["P@5", "R@20", "R@hits"], "P@5", 1, 20) == ["P@5", "R@20"]  # the same one twice stands once


def test_only_recall_has_a_depth_that_must_have_been_asked_for():
    assert [recall_depth(name) for name in ("R@20", "R(rel=2)@20", "R@hits", "P@5", "Rprec", "RR@10")] == [20, 20] + [None] * 4


def test_jobs_are_told_how_a_measure_is_computed():
    usual = [computed(name) for name in ("RR@10", "RR(rel=2)@10", "nDCG@10", "AP", "R(rel=2)@1000")]
    assert [tuple(one.values()) for one in usual] == [  # as results were made with, before measures were a setting
        ("RR@10", "recip_rank", 1, 10),
        ("RR(rel=2)@10", "recip_rank", 2, 10),
        ("nDCG@10", "ndcg_cut_10", 1, 10),
        ("AP", "map", 1, None),
        ("R(rel=2)@1000", "recall_1000", 2, 1000),
    ]
    car = [tuple(computed(name).values())[1:] for name in ("RR", "Rprec", "P@5", "nDCG")]
    assert car == [("recip_rank", 1, None), ("Rprec", 1, None), ("P_5", 1, 5), ("ndcg", 1, None)]


def test_no_other_module_knows_a_measure_by_its_name():
    """A measure is a setting of the experiment; what is published and claimed, and experiments, name theirs."""
    facts = [ROOT / "workflow" / name for name in ("experiments", "resources", "schemas")]  # patterns of names in the last
    paths = [path for folder in ("epic", "workflow") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    read = [
        path
        for path in paths
        if path.parent.name != "__pycache__" and path not in HERE and not any(at in path.parents for at in facts)
    ]
    assert len(read) > 250
    named = re.compile(r"RR@\d|\b(MRR|MAP|Rprec|R-prec)\b|[\"'](RR|AP|nDCG@\d+|P@\d+|R@\d+)[\"']")
    assert [path for path in read if named.search(path.read_text(encoding="utf-8"))] == []
    assert "RR@10" not in (ROOT / "workflow" / "schemas" / "experiment.schema.yaml").read_text()
    assert all(named.search(path.read_text()) for path in HERE) and named.search('read_values(path, "AP")')
