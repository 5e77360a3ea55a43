"""What a job loads before it begins: large libraries only where they are used, and of this package what its digest covers.

The table below is the documentation. Beyond it a job imports what it needs when it needs it: `latency`, for instance, loads
pandas after the last query has been timed, and what a family of rankers imports is asked for by its name at run time.
"""

from pathlib import Path

import pytest

from epic.core.code_digest import WITHOUT_RESULTS, modules_of
from tests import imports
from tests.conftest import ROOT

SCRIPTS = ROOT / "workflow" / "scripts"
HEAVY = ("pandas", "torch", "pyserini", "transformers", "matplotlib", "ir_datasets")
FRAMES, TENSORS = {"pandas"}, {"torch"}
ALLOWED = {  # script: what its imports may load of the above
    # documents, queries, indexes
    "boolq": set(),
    "data": set(),  # ir_datasets once a dataset is opened; it brings no pandas
    "expand": set(),
    "fetch": set(),
    "generate": TENSORS,
    "generator": set(),
    "index": set(),  # of pyserini only the jar is used, here and elsewhere
    "queries": set(),
    "recall": set(),
    "replay": set(),
    "retrieve": set(),
    "triples": set(),
    # models and vectors
    "candidates": set(),
    "passages": set(),
    "tokenise": set(),
    "vocabulary": set(),
    "discard": set(),
    "encode": TENSORS,
    "encoder": set(),
    "frequencies": set(),
    "interpret": TENSORS,
    "prune": set(),
    "regress": TENSORS,
    "rerank": set(),
    "reweigh": TENSORS,
    "train": TENSORS,
    "tune": set(),
    "weigh": set(),  # torch only where a query vector is not computed by ONNX
    # tables
    "claims": FRAMES,
    "evaluate": FRAMES,
    "latency": set(),
    "models": FRAMES,
    "report": FRAMES,
    "rows": FRAMES,
    "significance": FRAMES,
    "table": FRAMES,
    # everything else
    "charts": set(),  # matplotlib once there is something to draw
    "costs": set(),
    "curves": set(),
    "cutoffs": set(),
    "experiment": set(),
    "figures": set(),
    "metadata": set(),
    "pruning": set(),
    "statistics": set(),
    "turn": set(),
    "words": set(),
}
MODULES = {  # the same of modules that are imported by name, of the command line, and of a library
    "epic": set(),
    "epic.__main__": set(),
    "epic.evaluation.evaluate": FRAMES,
    "epic.latency.latency": set(),
    "epic.rankers.epic": set(),
    "epic.training.train": TENSORS,
    "ir_datasets": {"ir_datasets"},
}
SEEN = {"epic.evaluation.evaluate": FRAMES, "encode": TENSORS, "nothing": set()}  # with nothing there beforehand
WORKFLOW = (ROOT / "Snakefile", *sorted((ROOT / "workflow" / "rules").glob("*.smk")))


def head_of(script) -> str:
    """The imports of a script: all that stands before its work."""
    imports, work, _ = (SCRIPTS / f"{script}.py").read_text().partition("\nwith stage(")
    assert work, f"{script}.py does not begin its work by `with stage(`"
    return imports


def workflow_head() -> str:
    """What Snakemake imports of the package while it reads the rules, for a dry run too."""
    lines = (line for path in WORKFLOW for line in path.read_text().splitlines())
    return "\n".join(line for line in lines if line.startswith(("from epic", "import epic")))


@pytest.fixture(scope="module")
def loaded():
    """What each script, module and the rules load, in a Python of their own; what they may load can be there already."""
    heads = {script: head_of(script) for script in ALLOWED} | {name: f"import {name}" for name in MODULES}
    allowed = {name: tuple(sorted(names)) for name, names in (ALLOWED | MODULES).items() if name not in SEEN}
    heads |= {"the rules": workflow_head(), "nothing": ""}
    return imports.loaded([imports.Source(name, text, allowed.get(name, ())) for name, text in heads.items()])


@pytest.fixture(scope="module")
def found(loaded):
    """The same, of the large libraries only."""
    return {name: modules & set(HEAVY) for name, (modules, _) in loaded.items()}


def test_every_script_is_in_the_table():
    assert {path.stem for path in SCRIPTS.glob("*.py")} == set(ALLOWED)


@pytest.mark.parametrize("script", ALLOWED)
def test_a_job_loads_no_more_than_the_table_allows(found, script):
    assert found[script] <= ALLOWED[script], f"{script}.py loads {', '.join(sorted(found[script] - ALLOWED[script]))}"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_loads_no_more_than_the_table_allows(found, module):
    assert found[module] <= MODULES[module]


def test_reading_the_rules_loads_none_of_them(found):
    assert workflow_head().count("from epic") > 5 and found["the rules"] == set()


def test_what_is_loaded_is_seen(found):
    assert {name: found[name] for name in SEEN} == SEEN


@pytest.mark.parametrize("script", ALLOWED)
def test_every_module_a_script_imports_is_in_its_digest(loaded, script):
    """What Python really imports at the head of a script is among the modules found by reading it."""
    files = {path for name, path in loaded[script].files.items() if name not in WITHOUT_RESULTS and Path(path).stem != "__init__"}
    assert files and files <= {str(path) for path in modules_of(SCRIPTS / f"{script}.py")}
