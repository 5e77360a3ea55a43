"""EPIC (SIGIR 2020), reproduced: the logic of every stage, without Snakemake.

`from epic import Epic` is the model for use from Python, `from epic import load_ranker` loads a checkpoint of any family;
torch is imported only then.
"""

import importlib


def __getattr__(name: str):
    """Import what needs torch only when it is asked for."""
    if name in ("Epic", "load_ranker"):
        return getattr(importlib.import_module("epic.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
