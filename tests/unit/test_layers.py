"""The house: which package may import from which, and a test for every module."""

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

# A package imports from packages of strictly lower rank and from itself; lazy imports count.
RANKS = {
    "core": 0,
    "experiment": 1,
    "corpus": 2,
    "first_stage": 4,
    "evaluation": 3,
    "model": 3,
    "vectors": 4,
    "rankers": 5,
    "training": 6,
    "ranking": 6,
    "latency": 6,
    "analysis": 6,
    "judging": 7,
    "report": 8,
    "planning": 8,
}
TOP = 9  # epic/__init__.py, __main__.py, api.py
MODULES = sorted((ROOT / "epic").glob("**/*.py"))
IN_PACKAGES = {
    f"{path.parent.name}/{path.stem}": path for path in MODULES if path.stem != "__init__" and path.parent.name != "epic"
}
TESTS = {f"{path.parent.name}/{path.stem}": path for path in sorted((ROOT / "tests" / "unit").glob("*/test_*.py"))}
# Modules without a tests/unit/<package>/test_<module>.py: the file that tests them, and why there.
ELSEWHERE = {
    "model/bert": "tests/parity/test_bert.py: what it computes is right if transformers computes the same",
    "model/body": "tests/parity/test_body.py: what it loads and runs is right if transformers does the same",
}
OTHERS = {  # files of tests that belong to no single module
    "corpus/test_cord19": "what data and documents make of a collection in the formats of CORD-19",
    "experiment/test_check_rows": "mistakes in rows and comparisons, which check, expansion, problems and the schema find",
    "experiment/test_our_experiments": "what our own experiments say, in workflow/experiments",
    "planning/test_rules": "what estimates, preflight and sources say of each rule of the workflow",
}


def imported(text):
    """(line, dotted name) of every import of the package, wherever it stands."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def rank_of(name):
    """The rank of a dotted name; that of the top where it is in no package."""
    parts = name.split(".")
    return RANKS.get(parts[1], TOP) if len(parts) > 1 else TOP


def violations(path, text):
    """Imports of a module that reach a package of the same or a higher rank."""
    own = path.relative_to(ROOT / "epic").parts[0] if path.parent != ROOT / "epic" else None
    rank = RANKS.get(own, TOP)
    return [
        f"{path.relative_to(ROOT)}:{line} ({own}, {rank}) imports {name} ({rank_of(name)})"
        for line, name in imported(text)
        if name.split(".")[0] == "epic" and name.split(".")[1] != own and rank_of(name) >= rank
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT / "epic")))
def test_a_package_imports_only_from_lower_ranks(path):
    assert not violations(path, path.read_text())


def test_an_import_of_a_higher_rank_is_named_with_its_line():
    found = violations(ROOT / "epic" / "core" / "files.py", "import os\ndef f():\n    from epic.model.bert import Bert\n")
    assert found == ["epic/core/files.py:3 (core, 0) imports epic.model.bert.Bert (3)"]
    assert violations(ROOT / "epic" / "model" / "bert.py", "from epic.evaluation import measures\n")
    assert not violations(ROOT / "epic" / "model" / "bert.py", "from epic.model import tokens\nfrom epic.corpus import runs\n")


def test_every_package_has_a_rank_and_nothing_but_a_sentence_in_its_init():
    packages = {path.parent.name for path in MODULES if path.name == "__init__.py"} - {"epic"}
    assert packages == set(RANKS)
    for package in packages - {"rankers"}:
        tree = ast.parse(Path(ROOT, "epic", package, "__init__.py").read_text())
        assert len(tree.body) == 1 and ast.get_docstring(tree), package


def names(text, package, module):
    """Whether a test imports a module, or names it in code that it runs elsewhere."""
    return bool(re.search(rf"\bepic\.{package}(\.{module}\b| import (\w+( as \w+)?, )*{module}\b)", text))


def without_tests(modules, tests, elsewhere):
    """Modules that no file tests, by the names of modules and of files of tests."""
    mirrored = {f"{package}/{name.removeprefix('test_')}" for package, name in (test.split("/") for test in tests)}
    return sorted(set(modules) - mirrored - set(elsewhere))


def test_every_module_has_its_tests_or_is_said_to_have_them_elsewhere():
    assert not without_tests(IN_PACKAGES, TESTS, ELSEWHERE)


def test_a_module_without_tests_is_named():
    assert without_tests(["a/b", "a/c", "b/c", "b/d"], ["a/test_b", "b/test_b"], {"b/d": "reason"}) == ["a/c", "b/c"]


@pytest.mark.parametrize("module", ELSEWHERE)
def test_nothing_is_tested_elsewhere_without_need(module):
    path, _, reason = ELSEWHERE[module].partition(": ")
    package, name = module.split("/")
    assert module in IN_PACKAGES and f"{package}/test_{name}" not in TESTS
    assert reason and names((ROOT / path).read_text(), package, name)


@pytest.mark.parametrize("test", TESTS)
def test_every_file_of_tests_belongs_to_the_module_of_its_name(test):
    package, name = test.split("/")
    module = f"{package}/{name.removeprefix('test_')}"
    if test in OTHERS:
        assert module not in IN_PACKAGES and OTHERS[test]
    else:
        assert module in IN_PACKAGES and names(TESTS[test].read_text(), *module.split("/"))


def test_files_that_belong_to_no_module_exist():
    assert set(OTHERS) <= set(TESTS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from epic.model.bert import Bert", True),
        ("from epic.model import bert", True),
        ("from epic.model import body as b, bert as other", True),
        ("from epic.model import body, berta", False),
        ("from epic.model.bertram import x", False),
        ("from epic.other.bert import x", False),
        ('monkeypatch.setattr("epic.model.bert.SIZE", 1)', True),
        ("import bert", False),
    ],
)
def test_how_a_test_names_its_module(text, found):
    assert names(text, "model", "bert") is found
