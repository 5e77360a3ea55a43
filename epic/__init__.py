"""EPIC (SIGIR 2020), reproduced: the logic of every stage, without Snakemake.

`from epic import Epic` is the model for use from Python; torch is imported only then.
"""

import importlib


def __getattr__(name: str):
    """Import `Epic`, which needs torch, only when it is asked for."""
    if name == "Epic":
        return importlib.import_module("epic.api").Epic
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
