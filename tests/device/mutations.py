"""Mutants of this package: each forgets one device, where the source names it, and the work that must notice.

A site is one of these in the source of a module:
    x.to(y)          without the move: x
    f(device=y)      without the device: f()
    f(y.device)      the CPU instead: f("cpu"); so with f(y.device.type)
    x.new_zeros(y)   where x does not matter: torch.zeros(y); so with others of that kind
    x.cpu()          without the way back: x
"""

import ast
import importlib.abc
import importlib.util
import sys
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT

MADE = ("new_zeros", "new_ones", "new_full", "new_tensor", "new_empty")
PACKAGES = ("model", "first_stage", "vectors", "training", "rankers", "analysis")


class Site(NamedTuple):
    """A place that names a device: the module, the function, and the words there; `number` counts sites of the module."""

    module: str
    function: str
    words: str
    number: int

    def __str__(self):
        return f"{self.module}.{self.function}: {self.words}"


class _Finder(ast.NodeTransformer):
    """Finds all sites of a module, and changes the one with a number."""

    def __init__(self, module: str, number: int | None = None):
        self.module, self.number, self.within, self.sites = module, number, [], []

    def _inside(self, node):
        self.within.append(node.name)
        self.generic_visit(node)
        self.within.pop()
        return node

    visit_FunctionDef = visit_ClassDef = _inside  # noqa: N815 - names of ast's

    def _chosen(self, words: ast.AST) -> bool:
        self.sites.append(Site(self.module, ".".join(self.within), ast.unparse(words), len(self.sites)))
        return len(self.sites) - 1 == self.number

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "cpu") and self._chosen(node):
            return node.func.value
        if isinstance(node.func, ast.Attribute) and node.func.attr in MADE and self._chosen(node):
            node.func = ast.parse(f"torch.{node.func.attr.removeprefix('new_')}", mode="eval").body
        for place, argument in enumerate(node.args):
            if ast.unparse(argument).endswith((".device", ".device.type")) and self._chosen(node):
                node.args[place] = ast.copy_location(ast.Constant("cpu"), argument)
        for keyword in list(node.keywords):
            if keyword.arg == "device" and self._chosen(node):
                node.keywords.remove(keyword)
        return node


def sites() -> list[Site]:
    """Return all sites of the packages that compute."""
    found = []
    for path in sorted(path for package in PACKAGES for path in (ROOT / "epic" / package).glob("*.py")):
        finder = _Finder(".".join(path.relative_to(ROOT).with_suffix("").parts))
        finder.visit(ast.parse(path.read_text()))
        found += finder.sites
    return found


class _Mutating(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module changed at one site, all others as they are."""

    def __init__(self, site: Site):
        self.site, self.path = site, ROOT / f"{site.module.replace('.', '/')}.py"

    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.site.module else None

    def exec_module(self, module):
        tree = _Finder(self.site.module, self.site.number).visit(ast.parse(self.path.read_text()))
        exec(compile(ast.fix_missing_locations(tree), str(self.path), "exec"), module.__dict__)


def work_as_mutant(site: Site | None, folder: str) -> None:
    """Do all work on a card, in a process of its own, with a site changed; it fails if anything is noticed."""
    if site is not None:
        assert not any(name.startswith("epic.") for name in sys.modules), "imported before it was changed"
        sys.meta_path.insert(0, _Mutating(site))
    from tests.device.work import work

    early = ("epic.training", "epic.rankers", "epic.model.checkpoint", "epic.model.authors_weights")
    module = site.module if site else ""
    work(Path(folder), module.startswith(early), module.startswith("epic.first_stage"))  # to fail soon
