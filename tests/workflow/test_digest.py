"""The digest of a stage covers every module that its script really imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from epic.core.code_digest import WITHOUT_RESULTS, modules_of
from tests.conftest import ROOT

SCRIPTS = sorted((ROOT / "workflow" / "scripts").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_module_a_script_imports_is_found(script):
    """What Python really imports at the head of a script is among the modules found by reading it."""
    head = "\n".join(line for line in script.read_text().split("with log_to")[0].splitlines())
    code = f"{head}\nimport sys\nprint(*[f'{{n}} {{m.__file__}}' for n, m in sys.modules.items() if n.startswith('epic.')], sep='\\n')"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = dict(line.split(" ", 1) for line in said.splitlines())
    imported = {path for name, path in found.items() if name not in WITHOUT_RESULTS and Path(path).stem != "__init__"}
    assert imported and imported <= {str(path) for path in modules_of(script)}
