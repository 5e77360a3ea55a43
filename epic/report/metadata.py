"""Facts of a run: versions, commit, digests of experiment, data and models, seeds, commands.

They are the same for the same run. Time and machine, which are not, stand in a block of their own, `this_run`. People publish
the file, so it names no user, no host and no folder outside of the working directory.
"""

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

from epic.core.files import ROOT, read_json, sha256_of, write_json
from epic.core.machine import machine
from epic.core.places import placeless
from epic.model.checkpoint import model_digest

SCHEMA = 1


def versions() -> dict[str, str]:
    """Return the version of every installed package."""
    found = {distribution.metadata["Name"]: distribution.version for distribution in distributions()}
    return {"python": platform.python_version()} | {name: found[name] for name in sorted(found, key=str.lower)}


def commit() -> dict:
    """Return the checked-out commit, and whether files had been changed; None for both outside of git."""
    try:
        head = _git("rev-parse", "HEAD")
        return {"commit": head, "changed_files": bool(_git("status", "--porcelain", "--untracked-files=no"))}
    except (OSError, subprocess.SubprocessError):
        return {"commit": None, "changed_files": None}


def _git(*arguments) -> str:
    run = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=30, check=True)
    return run.stdout.strip()


def seeds(settings: dict) -> dict:
    """Return every seed: of models, of sampled triples, and those in the code."""
    from epic.evaluation.resampling import SEED

    found = {f"model {model['id']}": model["seed"] for model in settings["models"]}
    if "seed" in settings["triples"]:
        found["triples"] = settings["triples"]["seed"]
    return found | {"bootstrap and randomisation": SEED}


def write_metadata(experiment, settings, manifest, query_files, checkpoints, rows, commands, stages, out) -> None:
    """Write both blocks; experiment: its file, query_files and checkpoints: paths by name, rows: paths, stages: code digests."""
    facts = {
        "schema": SCHEMA,
        "experiment": {"name": Path(experiment).stem, "sha256": sha256_of(experiment), "title": settings["title"]},
        "code": commit() | {"stages": stages},
        "seeds": seeds(settings),
        "collection": placeless(read_json(manifest)),
        "queries_sha256": {name: sha256_of(path) for name, path in query_files.items()},
        "models_sha256": {model: model_digest(path) for model, path in checkpoints.items()},
        "rows_sha256": {Path(path).stem: sha256_of(path) for path in rows},
        "commands": commands,
        "settings": placeless(settings),
        "versions": versions(),
    }
    now = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(out, facts | {"this_run": {"written": now, "machine": machine()}})
