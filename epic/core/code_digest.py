"""Digests of code: the modules that a script depends on, and a fingerprint of all that may change its results.

Snakemake watches scripts and params, but not imported modules. Each rule therefore carries this digest in its params, so that
editing a module reruns exactly the stages that import it. Words for people do not count: comments, docstrings, and the texts
of errors and of log records.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from epic.core.files import ROOT

PACKAGE = "epic"
SLICED = "epic.rankers."  # of its modules a stage depends on what it uses, not on the whole file
DYNAMIC = {"globals", "getattr", "vars", "locals", "eval", "exec"}  # a module that looks names up is taken whole
WITHOUT_RESULTS = {  # these write for people, never the same twice, say where code is, or refuse: no result depends on them
    "epic.core.discarded",
    "epic.core.log",
    "epic.core.machine",
    "epic.core.process",
    "epic.core.seals",
    "epic.core.stage",
    "epic.experiment.families",
    "epic.experiment.fits",
    "epic.experiment.word_schema",
    "epic.first_stage.positions",
    "epic.model.config_check",
    "epic.model.shapes",
    "epic.vectors.throughput",
    "epic.training.card",
}


def code_digest(script, root: Path = ROOT, source=None, members: Iterable[str] = ()) -> str:
    """Return the fingerprint of a script and of all modules it reaches, in whatever place they are imported.

    source, members: a module that the script imports by a name known only at run time, and what it uses of it. If it lies
    outside this package, the modules of its own package are followed as well.
    """
    follow = _Follow(root)
    parts = [follow.file(Path(script), PACKAGE)]
    if source:
        parts.append(follow.part(Path(source), frozenset(members)))
    parts += follow.reached()
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def modules_of(script, root: Path = ROOT) -> list[Path]:
    """Return the source files of this package that a script imports, directly or through one another, sorted."""
    follow = _Follow(root)
    follow.file(Path(script), PACKAGE)
    follow.reached()
    return sorted(follow.files)


class _Follow:
    """Imports followed from file to file; of modules in SLICED only the members that are used."""

    def __init__(self, root: Path):
        self.roots, self.files = {PACKAGE: root}, {}  # package -> the folder it lies in; file -> text
        self.members: dict[Path, frozenset[str]] = {}
        self._queue: list[str] = []

    def file(self, path: Path, package: str) -> str:
        """Return a file as text, and queue what it imports."""
        names, text = _parsed(path, package, path.stat().st_mtime_ns)
        self._queue += names
        return text

    def part(self, path: Path, members: frozenset[str]) -> str:
        """Return the part of a family's module that some members need, and queue what that part imports."""
        package = _package_of(path)
        top = package.split(".")[0]
        if top and top not in self.roots:
            self.roots[top] = path.parents[package.count(".") + 1]
        names, text = _slice(path, package, members, path.stat().st_mtime_ns)
        self._queue += names
        return text

    def reached(self) -> list[str]:
        """Follow all imports to their end, and return the texts of the files in the order of their names."""
        while self._queue:
            name = self._queue.pop()
            path = self._source(name)
            if path is None or name in WITHOUT_RESULTS:
                self._member(name)
            elif path not in self.files and not (name.startswith(SLICED) and path.name != "__init__.py"):
                self.files[path] = ""
                self.files[path] = self.file(path, _package_of(path))
        return [self.files[path] for path in sorted(self.files)]

    def _member(self, name: str) -> None:
        """Add one more member of a sliced module, as in epic.rankers.pairs.save."""
        module, _, member = name.rpartition(".")
        path = self._source(module) if module.startswith(SLICED) else None
        if path and member not in self.members.get(path, frozenset()):
            self.members[path] = self.members.get(path, frozenset()) | {member}
            self.files[path] = self.part(path, self.members[path])

    def _source(self, name: str) -> Path | None:
        """Return the file of a dotted name, or None where the name is a function or class inside a module."""
        root = self.roots.get(name.split(".")[0])
        base = root.joinpath(*name.split(".")) if root else None
        candidates = (base.with_suffix(".py"), base / "__init__.py") if base else ()
        return next((path for path in candidates if path.exists()), None)


def _package_of(path: Path) -> str:
    """Return the dotted package that a file belongs to: every folder above it that has an __init__.py."""
    names = []
    for folder in path.parents:
        if not (folder / "__init__.py").exists():
            break
        names.insert(0, folder.name)
    return ".".join(names)


@cache
def _parsed(path: Path, package: str, stamp: int) -> tuple[frozenset[str], str]:
    """Return the names that a file imports, and its syntax tree as text.

    It is parsed once for all rules; `stamp` is the file's time, so that a file that changes is parsed anew.
    """
    return _dumped(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)), package)


@cache
def _slice(path: Path, package: str, members: frozenset[str], stamp: int) -> tuple[frozenset[str], str]:
    """Return the names that the members of a module need to import, and the part of the module they need as text."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    if "*" not in members and not any(isinstance(node, ast.Name) and node.id in DYNAMIC for node in ast.walk(tree)):
        wanted, kept = set(members), []
        statements = [(node, _bound(node)) for node in tree.body]
        while more := [node for node, names in statements if node not in kept and (names is None or names & wanted)]:
            kept += more
            wanted |= {inner.id for node in more for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        tree.body = [_narrowed(node, wanted) for node in tree.body if node in kept]
    return _dumped(tree, package)


def _narrowed(node: ast.stmt, wanted: set[str]) -> ast.stmt:
    """Leave of an import the names that are wanted."""
    if isinstance(node, ast.ImportFrom) and _bound(node) is not None:
        node.names = [alias for alias in node.names if (alias.asname or alias.name) in wanted]
    return node


def _bound(node: ast.stmt) -> set[str] | None:
    """Return the names that a statement at the top of a module only gives a meaning to; None for one that may do more."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return None if node.decorator_list or node.name == "__getattr__" else {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        return None if "*" in names else names
    if isinstance(node, ast.Assign | ast.AnnAssign) and not any(isinstance(inner, ast.Call) for inner in ast.walk(node)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return {inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return set()  # a docstring
    return None


def _dumped(tree: ast.Module, package: str) -> tuple[frozenset[str], str]:
    """Return the names that a tree imports, and the tree as text: no comments, no positions, no words for people."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join(filter(None, [*above, node.module]))
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
        if isinstance(node, ast.Raise) and node.exc is not None:
            node.exc = _Speechless().visit(node.exc)
        elif isinstance(node, ast.Expr) and _is_logged(node.value):
            node.value = _Speechless().visit(node.value)
    return frozenset(names), ast.dump(tree)


def _is_logged(node: ast.expr) -> bool:
    """Tell whether an expression is a call like log.info(...)."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "log"


class _Speechless(ast.NodeTransformer):
    """A transformer that empties all texts."""

    def visit_JoinedStr(self, node):
        return ast.Constant("")

    def visit_Constant(self, node):
        return ast.Constant("") if isinstance(node.value, str) else node
