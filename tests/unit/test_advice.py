"""No message advises to delete what is not ours: a user's file, a download placed by hand, ir_datasets' home."""

import ast
import re

import pytest

from tests.conftest import ROOT

WORDS = re.compile(r"\b(?:delet|remov|eras|unlink|rm\b|wip|discard|trash)\w*", re.IGNORECASE)
SAYING = {
    "InputError",
    "ExperimentError",
    "ValueError",
    "WorkflowError",
    "UncheckedError",
    "print",
    "warning",
    "info",
    "error",
    "exception",
}
REVIEWED = {  # messages with such a word, by module and clause: what they speak of is an output of ours, and damaged
    "epic/planning/repair.py": {  # what `mend` has done, and what the stage `discard` has
        "it was removed",
        "the vectors of {} of them were removed after use",
    },
    "epic/core/discarded.py": {"its vectors were removed after use", "expected what was removed"},  # vectors that are not kept
    "epic/planning/order.py": {"the vectors that this needs were removed after use"},
    "epic/vectors/discard.py": {"1f GB of vectors removed"},
    "epic/experiment/of_model.py": {"[] to have them removed after use"},
    "epic/core/run_lock.py": {  # the lock of a run, once a person is sure that it has ended
        "it was removed",
        "once you are sure that no run is at work here, remove it",
        "process %d, since %s, ended without removing it",
        "wait for it, or, if you are sure that it has ended, remove that file",
    },
}
FILES = [
    path for folder in ("epic", "workflow/scripts", "snakemake_logger_plugin_epic") for path in (ROOT / folder).rglob("*.py")
]


def literals(node):
    """Texts within a node, those of one f-string joined, values as {}."""
    inside = {part for inner in ast.walk(node) if isinstance(inner, ast.JoinedStr) for part in inner.values}
    for inner in ast.walk(node):
        if isinstance(inner, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in inner.values)
        elif isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner not in inside:
            yield inner.value


def said(source):
    """Texts that a module may show: arguments of errors and log records, and constants and variables that hold words."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in SAYING or name.endswith(("Error", "Failure")):
                yield from literals(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Return) and node.value is not None:
            yield from (text for text in literals(node.value) if " " in text)


def advice(source):
    """The clauses of these texts that speak of deleting."""
    clauses = (clause.strip() for text in said(source) for clause in re.split(r"[;:.?!()]|, (?:and|or) ", text))
    return {clause for clause in clauses if WORDS.search(clause)}


def test_every_message_that_speaks_of_deleting_is_reviewed():
    found = {str(path.relative_to(ROOT)): advice(path.read_text(encoding="utf-8")) for path in FILES}
    unknown = {module: clauses - REVIEWED.get(module, set()) for module, clauses in found.items()}
    assert {module: clauses for module, clauses in unknown.items() if clauses} == {}


@pytest.mark.parametrize(
    "source",
    [
        'raise InputError(f"{path}: damaged; delete it")',
        'log.warning("remove %s", path)',
        'said = f"rm -r {home} and try again"',
        'return _Failure(f"{place}: bad. Delete it to download it anew", False)',
        'raise InputError("neither a folder nor a zip; is it complete? Delete it")',
    ],
)
def test_such_a_message_is_found(source):
    assert advice(f"def f():\n    {source}\n")


def test_code_that_deletes_is_no_message():
    assert not advice('"""Remove a file."""\nremove(path)\npath.unlink()\nKEYS = {"deleted"}\n')


def test_rules_and_scripts_of_the_shell_advise_it_nowhere():
    texts = {
        path: path.read_text(encoding="utf-8") for path in [*(ROOT / "workflow/rules").glob("*.smk"), ROOT / "workflow/run.sh"]
    }
    lines = [
        line
        for text in texts.values()
        for line in text.splitlines()
        if re.search(r"\b(?:delete|rm)\b", line, re.IGNORECASE) and "probe" not in line
    ]
    assert lines == []
