"""Declarations of families of re-rankers: read off their source, so that experiments are checked without importing torch.

A family is a module of `epic.rankers`, or the user's own by its dotted name. `epic.rankers` lists what it must offer.
"""

import ast
import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jsonschema

from epic.core.files import ROOT, InputError
from epic.experiment.fits import ENCODER, Rules, names_in, unmet
from epic.experiment.word_schema import DEFINITIONS

RANKERS = "epic.rankers"
KINDS = {"PRECOMPUTES": bool, "SETTINGS": dict, "STAGES": dict}
RULE = {"holds", "says", "at"}
MEMBERS = {  # the members of a family that a stage uses: its digest covers these, what they call, and no other member
    "train": ("create", "pair_scores", "score", "save", "NEW_LAYERS", "SPARSE", "Ranker"),
    "tune": ("load", "score_run", "Ranker"),
    "rerank": ("load", "score_run", "score_stored", "Ranker"),
    "latency": ("load", "timed", "STAGES", "Ranker"),
}


class Family(NamedTuple):
    """The declarations of a family: literals at the top of its module."""

    name: str
    source: Path
    precomputes: bool  # encode, prune, weigh and the stages after them exist for it, and its rows say what they keep
    settings: dict  # JSON schema of `settings` in an experiment's model
    stages: dict  # of its latency: {"beside": lanes of stages that run at once, "after": stages that follow}
    words: bool = False  # its models have a vocabulary of words, which the stage `vocabulary` makes
    fits: Rules = ()  # between sizes


def module_of(family: str) -> str:
    """Return the dotted name of a family's module."""
    return family if "." in family else f"{RANKERS}.{family}"


def built_in() -> list[str]:
    """List the families that come with this package."""
    modules = ROOT.joinpath(*RANKERS.split(".")).glob("*.py")
    return sorted(path.stem for path in modules if "PRECOMPUTES = " in path.read_text(encoding="utf-8"))


def declared(family: str) -> Family:
    """Return the declarations of a family, or raise an InputError that says what is wrong with its module."""
    if family.startswith("epic."):
        raise InputError(f"name a family of this package by its last word: {family.rpartition('.')[2]}")
    source = _source(family)
    if source is None:
        raise InputError(f"there is no family {family}; there are {', '.join(built_in())}, or name a module of your own")
    try:
        found = _literals(source, source.stat().st_mtime_ns)
    except (SyntaxError, UnicodeDecodeError, OSError) as error:
        raise InputError(f"{source}: not a module that can be read ({error})") from error
    for name, kind in KINDS.items():
        if not isinstance(found.get(name), kind):
            raise InputError(f"{source}: a family must declare {name} ({kind.__name__}), as a literal at the top of its module")
    try:
        _check_schema(source, source.stat().st_mtime_ns)
    except jsonschema.exceptions.SchemaError as error:
        raise InputError(f"{source}: SETTINGS is no JSON schema: {error.message}") from error
    if found["STAGES"].keys() != {"beside", "after"}:
        raise InputError(f"{source}: STAGES must have the keys beside and after")
    _check_rules(source, found)
    words, fits = found.get("WORDS") is True, found.get("FITS", ())
    settings = found["SETTINGS"] | ({"$defs": DEFINITIONS | found["SETTINGS"].get("$defs", {})} if words else {})
    return Family(family, source, found["PRECOMPUTES"], settings, found["STAGES"], words, fits)


def odd_settings(family: Family, settings) -> Iterator[tuple[tuple, str]]:
    """Yield (place, what is wrong) of settings by themselves, as a checkpoint keeps them."""
    from epic.experiment.strict_schema import Validator  # of YAML and all that; a job that makes a model needs none of it

    schema = family.settings.get("properties", {}).get("settings", {})
    for error in Validator(family.settings).descend(settings, schema):
        yield tuple(error.absolute_path), error.message[:200]
    if not isinstance(settings, dict):
        yield (), "expected keys and values"


def refuse_unfit(family: Family, settings: dict, encoder: Mapping) -> None:
    """Refuse sizes that do not fit together, or do not fit the encoder; encoder: its config.json, or {} if there is none."""
    for place, said in unmet(family.fits, settings, encoder):
        raise InputError(f"{'.'.join(place)}: {said}")


def _source(family: str) -> Path | None:
    """Return the file of a family. Python does not search for one of our own, so a copy of this package finds its own file."""
    if "." not in family:
        path = ROOT.joinpath(*RANKERS.split("."), f"{family}.py")
        return path if path.exists() else None
    try:
        spec = importlib.util.find_spec(family)
    except Exception:  # looking a module up imports the packages around it, which may raise anything
        return None
    return Path(spec.origin) if spec and spec.origin and Path(spec.origin).suffix == ".py" else None


@cache
def _literals(source: Path, stamp: int) -> dict:
    """Return the names to which a module assigns literals; `stamp` is the file's time, so that a changed file is read anew."""
    found = {}
    for node in ast.parse(source.read_text(encoding="utf-8"), filename=str(source)).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and node.value is not None:
            with suppress(ValueError, TypeError):
                found[targets[0].id] = ast.literal_eval(node.value)
    return found


@cache
def _check_schema(source: Path, stamp: int) -> None:
    """Raise a SchemaError where SETTINGS is no JSON schema: once a file, since Snakemake asks for a family at every job."""
    jsonschema.Draft202012Validator.check_schema(_literals(source, stamp)["SETTINGS"])


def _check_rules(source: Path, found: dict) -> None:
    """Refuse FITS that is no list of rules, or has a name that is no setting: nobody would ever hear of such a rule."""
    rules, settings = found.get("FITS", []), found["SETTINGS"].get("properties", {}).get("settings", {}).get("properties")
    if not isinstance(rules, list) or not all(isinstance(rule, dict) and rule.keys() == RULE for rule in rules):
        raise InputError(f"{source}: FITS must be a list of rules with {', '.join(sorted(RULE))}")
    for rule in rules:
        try:
            names = {name for name in (*names_in(rule), rule["at"]) if name.partition(".")[0] != ENCODER}
        except (ValueError, SyntaxError, TypeError, AttributeError) as error:
            raise InputError(f"{source}: FITS has a rule that cannot be kept: {error}") from error
        if settings is not None and (odd := sorted(names - settings.keys())):
            raise InputError(f"{source}: FITS speaks of {odd[0]}, which is no setting of SETTINGS")
