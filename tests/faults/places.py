"""Odd places: names with blanks and umlauts, moved and copied folders, homes that are missing or read-only, other users."""

import os
import pwd
import shutil
import subprocess
from functools import partial
from pathlib import Path

from tests.conftest import copy_repository, link_environment
from tests.faults.folder import Folder
from tests.faults.outcome import NOT_TRIED, SILENT, Outcome, Told, Trial, judged

ODD = "ein Ordner äöü 試験 'x' $HOME"
NOBODY = "nobody"


def trials(base: Folder, fresh: Folder, place: Path) -> list[Trial]:
    """List all trials; base: a finished run, fresh: the same before any run, with its passages inside."""
    whole = base.results()
    changes = {
        "no HOME": {"HOME": None},
        "HOME is not there": {"HOME": "/nonexistent/home"},
        "HOME with blanks": {"HOME": place / "a home ä"},
        "TMPDIR with blanks": {"TMPDIR": place / "a tmp ä"},
        "LANG=C": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": None, "PYTHONIOENCODING": None},
        "no locale": {"LANG": None, "LC_ALL": None, "PYTHONUTF8": None},
    }
    for change in changes.values():
        for value in change.values():
            if isinstance(value, Path):
                value.mkdir(exist_ok=True)
    found = [
        Trial("places", what, partial(elsewhere, base, place / f"place-{number}", whole, **change))
        for number, (what, change) in enumerate(changes.items())
    ]
    found += [
        Trial("places", "a folder with blanks, umlauts, quotes", partial(elsewhere, fresh, place / ODD, whole)),
        Trial("places", "a repository with blanks and umlauts, by make", partial(odd_repository, place / "ein Ordner äöü 試験")),
        Trial("places", "moved after half a run", partial(moved, fresh, place / "to move", whole)),
        Trial("places", "copied after half a run", partial(copied, fresh, place / "to copy", whole)),
        Trial("places", "umask 077", partial(elsewhere, base, place / "umask", whole, options={"umask": 0o077})),
        Trial("places", "HOME cannot be written", partial(as_nobody, fresh, place / "readonly", whole, home="/root")),
        Trial("places", "another user", partial(as_nobody, fresh, place / "nobody", whole)),
        Trial("places", "results of another user", partial(foreign_results, base, place / "foreign", whole)),
    ]
    return found


AGAIN = (
    "retrieve/bm25/test.run",
    "encode",
    "prune",
    "weigh",
    "tune",
    "latency",
    "rerank",
    "evaluate",
    "rows",
)  # Java, torch, numba


def elsewhere(start: Folder, path: Path, whole: dict, options=None, **environment) -> Outcome:
    """Run in a copy: from the beginning, or what uses all libraries if it is one of a finished run."""
    folder = start.copied(path)
    folder.forget(*AGAIN)
    return judged(folder.run(options=options, **environment), folder.results() == whole)


def odd_repository(path: Path) -> Outcome:
    """Run `make` in a repository whose name is odd."""
    folder = copy_repository(path)
    link_environment(folder)
    command = ["make", "plan", "TARGET=results/smoke/table.md"]
    environment = os.environ | {"LC_ALL": "C", "VERBOSE": ""}
    plan = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if plan.returncode:
        return judged(Told(plan.returncode, plan.stdout + plan.stderr), equal=False)
    target = "results/smoke/retrieve/bm25/test.run"
    run = Folder(folder, root=folder).run(target)
    return judged(run, (folder / target).exists() and (folder / target).stat().st_size > 0)


def moved(fresh: Folder, path: Path, whole: dict) -> Outcome:
    """Make the first half of a run, move the folder, make the rest."""
    folder = fresh.copied(path)
    first = folder.run("results/mine/train/paper/checkpoint")
    if first.code:
        return judged(first, equal=False)
    new = path.with_name(path.name + " away")
    path.rename(new)
    folder = Folder(new, fresh.root)
    return judged(folder.run(), folder.results() == whole)


def copied(fresh: Folder, path: Path, whole: dict) -> Outcome:
    """Copy a folder while its run is at work, with its lock, and run the copy to the end; the first goes on undisturbed."""
    folder = fresh.copied(path)
    run = folder.start()
    if not folder.wait_for(run, lambda: folder.process(".train.py")):
        return Outcome(SILENT, f"training never began: {run.communicate()[0][-500:]}")
    copy = folder.copied(path.with_name(path.name + " copy"))
    told = copy.run()
    said, _ = run.communicate(timeout=600)
    if run.returncode or folder.results() != whole:
        return Outcome(SILENT, f"the original was disturbed: {said[-500:]}")
    return judged(told, copy.results() == whole)


def as_nobody(fresh: Folder, path: Path, whole: dict, home=None) -> Outcome:
    """Run as a user without rights, in a folder of his own."""
    try:
        user = pwd.getpwnam(NOBODY)
        if os.geteuid():
            raise PermissionError("only root can become another user")
    except (KeyError, PermissionError) as error:
        return Outcome(NOT_TRIED, str(error))
    folder = fresh.copied(path)
    for found in [folder.path, *folder.path.rglob("*")]:
        shutil.chown(found, NOBODY, user.pw_gid)
    options = {"user": NOBODY, "group": user.pw_gid, "extra_groups": []}
    if not readable(folder, options):
        return Outcome(NOT_TRIED, f"{NOBODY} may not read {folder.root} or {folder.path}")
    environment = {"HOME": home or folder.path / "home", "PYTHONDONTWRITEBYTECODE": "1"}
    return judged(folder.run(options=options, **environment), folder.results() == whole)


def readable(folder: Folder, options: dict) -> bool:
    """Tell whether a user can read the repository and its environment."""
    command = ["python", "-c", "import snakemake, epic; open('experiments/mine.yaml')"]
    environment = folder.environment(PYTHONPATH=folder.root)
    try:
        run = subprocess.run(command, cwd=folder.path, env=environment, capture_output=True, check=False, **options)
    except OSError:
        return False
    return run.returncode == 0


def foreign_results(base: Folder, path: Path, whole: dict) -> Outcome:
    """Run in a folder whose results belong to another user: refused in one line, or right."""
    if os.geteuid():
        return Outcome(NOT_TRIED, "only root can become another user")
    folder = base.copied(path)
    folder.forget("rerank", "evaluate", "rows")
    options = {"user": NOBODY, "group": pwd.getpwnam(NOBODY).pw_gid, "extra_groups": []}
    if not readable(folder, options):
        return Outcome(NOT_TRIED, f"{NOBODY} may not read {folder.root} or {folder.path}")
    return judged(folder.run(options=options, HOME=place_of(folder)), folder.results() == whole)


def place_of(folder: Folder) -> Path:
    """Return a home that anybody may write to."""
    home = folder.path / "home"
    home.mkdir()
    home.chmod(0o777)
    return home
