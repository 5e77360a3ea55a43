"""What the repository promises about itself: names, budgets, pages."""

import re

import pytest

from epic.core.code_digest import modules_of
from tests.conftest import ROOT

LOOKUPS = {"common", "inputs"}
RULES = {path.stem for path in (ROOT / "workflow" / "rules").glob("*.smk")} - LOOKUPS
SCRIPTS = {path.stem for path in (ROOT / "workflow" / "scripts").glob("*.py")}
MODULES = sorted((ROOT / "epic").glob("**/*.py"))
SMK = "\n".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))


def test_a_stage_is_one_word_in_rules_scripts_and_package():
    modules = {path.stem for path in MODULES}
    packages = {path.parent.name for path in MODULES}
    assert RULES <= SCRIPTS and modules | packages >= RULES
    assert {
        "queries",
        "passages",
        "curves",
        "words",
        "charts",
        "cutoffs",
        "pruning",
        "turn",
    } == SCRIPTS - RULES  # the further rules of data, candidates, discard and figures


def test_every_rule_file_is_in_the_snakefile_and_every_rule_has_a_log_and_a_digest():
    included = set(re.findall(r'include: "workflow/rules/(\w+)\.smk"', (ROOT / "Snakefile").read_text()))
    assert included == RULES | LOOKUPS
    for name, body in re.findall(r"(?ms)^rule (\w+):\n(.*?)(?=^rule |\Z)", SMK):
        assert (
            re.search(rf'code=code(_of)?\("{name}"[,)]', body) and "\n    log:\n" in body and f"../scripts/{name}.py" in body
        ), name


def test_the_package_never_imports_snakemake():
    for path in MODULES:
        assert not re.search(r"^\s*(import|from) snakemake", path.read_text(), re.MULTILINE), path


def test_only_local_rules_can_reach_the_network():
    fetching = {path for path in MODULES if re.search(r"import requests|from huggingface_hub", path.read_text())}
    scripts = (ROOT / "workflow" / "scripts").glob("*.py")
    reaching = {script.stem for script in scripts if fetching & set(modules_of(script))}
    local = {name for names in re.findall(r"(?ms)^localrules:\n(.*?)\n\n", SMK) for name in re.findall(r"\w+", names)}
    assert reaching == {"data", "queries", "fetch", "triples", "statistics", "encoder", "generator"} and reaching <= local


@pytest.mark.parametrize(
    ("pattern", "lines"), [("epic/**/*.py", 300), ("workflow/rules/*.smk", 125), ("workflow/scripts/*.py", 30)]
)
def test_files_stay_small(pattern, lines):
    for path in ROOT.glob(pattern):
        assert len(path.read_text().splitlines()) <= lines, path


def test_the_rule_graph_of_the_readme_shows_every_rule_that_smoke_runs():
    picture = (ROOT / "workflow" / "report" / "rulegraph.svg").read_text()
    drawn = set(re.findall(r">(\w+)</text>", picture))
    rules = set(re.findall(r"^rule (\w+):", SMK, re.MULTILINE))
    assert drawn == (rules - {"fetch", "boolq", "passages", "discard", "generator", "generate"}) | {"smoke"}


def test_only_the_readme_of_results_is_in_git():
    assert "/results/*" in (ROOT / ".gitignore").read_text() and (ROOT / "results" / "README.md").exists()


def test_continuous_integration_calls_the_readme_test_command():
    assert re.search(r"^make test$", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    pinned = re.findall(r"uses: \S+@(\S+)", (ROOT / ".github" / "workflows" / "ci.yml").read_text())
    assert pinned and all(re.fullmatch(r"[0-9a-f]{40}", sha) for sha in pinned)
