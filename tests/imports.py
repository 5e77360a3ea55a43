"""What sources import, each looked at in a process of its own; what is slow and may be there is imported once for many.

Run as `python -m tests.imports`: sources come as JSON on the standard input, what they loaded leaves as lines of JSON.
"""

import json
import os
import subprocess
import sys
from importlib import import_module
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
COMMON = ("jsonschema", "numba", "numpy", "yaml")  # what many sources import and no test asks about


class Source(NamedTuple):
    """Some lines of Python, and large libraries that may be there already when they are run."""

    name: str
    text: str
    beforehand: tuple[str, ...] = ()


BEFOREHAND = attrgetter("beforehand")


class Loaded(NamedTuple):
    """The modules that are there afterwards, and the files of those of this package."""

    modules: set[str]
    files: dict[str, str]


def loaded(sources: list[Source]) -> dict[str, Loaded]:
    """Run each source in a process of its own, and return what was loaded by its name."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.imports"], cwd=ROOT, input=json.dumps(sources), capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr
    found = map(json.loads, run.stdout.splitlines())
    return {name: Loaded(set(modules), files) for name, modules, files in found}


def in_a_process(function, *arguments) -> None:
    """Call a function in a copy of this process, and end as it does if it fails."""
    child = os.fork()
    if not child:
        function(*arguments)
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(1)


def look_at_all(beforehand, sources) -> None:
    for name in beforehand:
        import_module(name)
    for source in sources:
        in_a_process(look_at, source)


def look_at(source) -> None:
    exec(source.text, {"__name__": source.name})
    own = {name: module.__file__ for name, module in sys.modules.items() if name.startswith("epic.")}
    print(json.dumps([source.name, list(sys.modules), own]))


if __name__ == "__main__":
    for name in COMMON:
        import_module(name)
    asked = (Source(name, text, tuple(beforehand)) for name, text, beforehand in json.load(sys.stdin))
    for beforehand, sources in groupby(sorted(asked, key=BEFOREHAND), key=BEFOREHAND):
        in_a_process(look_at_all, beforehand, list(sources))
