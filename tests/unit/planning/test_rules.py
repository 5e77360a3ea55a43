"""What the plan knows of single rules: each is listed, or exempt with a reason, so that none is forgotten in silence."""

import re

import pytest

from epic.core.code_digest import modules_of
from epic.planning.estimates import FORMULAS
from epic.planning.preflight import NEED_JAVA
from epic.planning.sources import READ_DOCUMENTS
from tests.conftest import ROOT

SMK = "\n".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
RULES = sorted(re.findall(r"^rule (\w+):", SMK, re.MULTILINE))
QUICK = {  # they write little and take seconds, whatever the collection: the plan's default fits them
    "boolq", "charts", "claims", "costs", "curves", "cutoffs", "discard", "experiment", "figures", "frequencies", "interpret", "metadata", "models",
    "pruning", "replay", "report", "rows", "statistics", "table", "turn", "words",
}  # fmt: skip
WHERE_UNPRUNED = {"rerank", "latency"}  # they open the collection for rows that keep all terms; sources.py knows
ONLY_COUNT = {"prune", "metadata", "statistics"}  # they read the manifest's number of documents, not the documents


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_has_a_formula_or_is_quick(rule):
    assert (rule in FORMULAS) != (rule in QUICK)


def test_formulas_and_exemptions_are_of_rules_that_exist():
    assert set(FORMULAS) | QUICK | NEED_JAVA | READ_DOCUMENTS | WHERE_UNPRUNED | ONLY_COUNT <= set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_whose_code_starts_java_is_known_to_need_it(rule):
    starts = ROOT / "epic" / "first_stage" / "anserini.py" in modules_of(ROOT / "workflow" / "scripts" / f"{rule}.py")
    assert starts == (rule in NEED_JAVA)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_that_opens_the_collection_is_known(rule):
    body = re.search(rf"(?ms)^rule {rule}:\n(.*?)(?=^rule |\Z)", SMK)[1]
    opens = rule == "data" or "manifest=rules.data.output.manifest" in body or "timing(wildcards)" in body
    assert opens == (rule in READ_DOCUMENTS | WHERE_UNPRUNED | ONLY_COUNT)
