"""Digests of stages: of a script, the modules it imports, and of a family the members that the stage uses."""

from collections.abc import Callable
from pathlib import Path

from epic.core.code_digest import code_digest
from epic.experiment.families import MEMBERS, declared
from epic.experiment.lookup import find


def digest_of(scripts: Path, settings: dict, stage: str, model: str | None, of_family: Callable | None = None) -> str:
    """Return the digest of a stage for a model; a row without a model uses no family's code.

    of_family: `family_digest`, or one that remembers its answers.
    """
    return (of_family or family_digest)(scripts, stage, find(settings["models"], model, "model")["family"] if model else None)


def family_digest(scripts: Path, stage: str, family: str | None) -> str:
    """Return the digest of a stage for a family."""
    return code_digest(scripts / f"{stage}.py", source=declared(family).source if family else None, members=MEMBERS[stage])


def all_digests(scripts: Path, settings: dict) -> dict[str, str]:
    """Return the digests of all stages: by script and, where a stage uses a family's code, by model."""
    found = {script.stem: code_digest(script) for script in sorted(scripts.glob("*.py"))}
    models = [model["id"] for model in settings["models"]]
    return found | {f"{stage} {model}": digest_of(scripts, settings, stage, model) for stage in MEMBERS for model in models}
