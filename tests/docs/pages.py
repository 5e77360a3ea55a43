"""The pages that people read, and the experiments they speak of.

Every check of a page is a function from a page to a list of complaints, so that each test file can show that its checks complain.
"""

import re
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from epic.experiment.check import PUBLISHED, SCHEMA, load_experiment, load_experiments, read_published
from epic.experiment.yaml_lines import read_yaml
from tests.conftest import ROOT

FILES = ["README.md", "CHANGELOG.md", "results/README.md", "config/README.md"]
FILES += sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))
TREE = ("epic", "workflow", "tests", "docs", "profiles", "requirements", "config")  # what a path in backticks begins with
MINE = "mine"  # the experiment that a reader writes


class Page(NamedTuple):
    """A page: its path below the repository, and its text."""

    name: str
    text: str

    @property
    def prose(self) -> str:
        """The text without its blocks of code; as many lines as before."""
        return re.sub(r"(?ms)^ *```.*?^ *```$", lambda block: "\n" * block.group().count("\n"), self.text)

    def blocks(self, language: str) -> list[str]:
        """The blocks of code in a language."""
        return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", self.text)


def page(name: str) -> Page:
    return Page(name, (ROOT / name).read_text(encoding="utf-8"))


@cache
def experiments() -> dict:
    return load_experiments([ROOT / "workflow" / "experiments"])


@cache
def expansions(found: Page) -> list[dict]:
    """Experiments that a page's blocks of YAML make of `smoke`, each with its own keys instead of smoke's."""
    schema, published, settings = read_yaml(SCHEMA).value, read_published(PUBLISHED), []
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for block in found.blocks("python"):  # a module that the page shows, with its path in the first line
            if named := re.match(r"# (\S+\.py)\n", block):
                path = Path(folder, named.group(1))
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block)
        for block in found.blocks("yaml"):
            smoke = yaml.safe_load((ROOT / "workflow" / "experiments" / "smoke.yaml").read_text())
            path = Path(folder, f"{MINE}.yaml")
            path.write_text(yaml.safe_dump(smoke | yaml.safe_load(block)))
            settings.append(load_experiment(path, schema, published))
            for name in [name for name in sys.modules if name.startswith("my_")]:
                del sys.modules[name]
    return settings
