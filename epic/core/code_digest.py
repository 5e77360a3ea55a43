"""Digests of code: which modules a script depends on, and a fingerprint that ignores comments and docstrings.

Snakemake watches scripts and params, but not imported modules. Each rule therefore carries this digest in its
params, so that editing a module reruns exactly the stages that import it.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

from epic import ROOT

PACKAGE = "epic"
WITHOUT_RESULTS = {"log", "machine", "pace", "preflight"}  # what these write is never the same twice, and no result


def code_digest(script, root: Path = ROOT) -> str:
    """Fingerprint of a script and of all `epic` modules it reaches, in whatever place they are imported."""
    files = [Path(script), *modules_of(script, root)]
    return hashlib.sha256("\n".join(_canonical(path) for path in files).encode()).hexdigest()[:16]


def modules_of(script, root: Path = ROOT) -> list[Path]:
    """The `epic` source files that a script imports, directly or through one another, sorted."""
    found, queue = set(), [Path(script)]
    while queue:
        for name in _imports(queue.pop()):
            path = _source(name, root)
            if path and path not in found and path.stem not in WITHOUT_RESULTS:
                found.add(path)
                queue.append(path)
    return sorted(found)


def _source(name: str, root: Path) -> Path | None:
    """The file of a dotted name, or None where the name is a function or class inside a module."""
    base = root.joinpath(*name.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in candidates if path.exists()), None)


def _imports(path: Path) -> frozenset[str]:
    return _parsed(path, path.stat().st_mtime_ns)[0]


def _canonical(path: Path) -> str:
    return _parsed(path, path.stat().st_mtime_ns)[1]


@cache
def _parsed(path: Path, stamp: int) -> tuple[frozenset[str], str]:
    """The `epic` names that a file imports, and its syntax tree as text: no comments, no docstrings, no positions.

    Parsed once for all rules; `stamp` is the file's time, so that a file that changes is parsed anew.
    """
    tree, names = ast.parse(path.read_text(encoding="utf-8"), filename=str(path)), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return frozenset(name for name in names if name.split(".")[0] == PACKAGE), ast.dump(tree)
