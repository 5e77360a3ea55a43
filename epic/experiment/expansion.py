"""Expansion of an experiment as written: encoders by id, rows as products, comparisons as rules, published values by name.

Everything else in an experiment stays as it is written; nothing is merged and nothing has a default. Each expanded value
knows the place it was written at, so that an error can name the user's own line.
"""

import math
import re
from itertools import product
from typing import Any

import yaml

from epic.experiment.strict_schema import is_number
from epic.experiment.yaml_lines import Place, Written

FIELD = re.compile(r"\{([a-z_]+)(?:\.([a-z_]+))?\}")
WITHOUT_TOLERANCE = "ms/query"  # milliseconds come from other hardware: they get no tolerance and no verdict
OF_A_SYSTEM = ("model", "first_stage", "keep")
MOST_ROWS = 1000
OWN_FIRST_STAGE = "own-first-stage"


class ExperimentError(Exception):
    """An error at a place of an experiment as it is written."""

    def __init__(self, place: Place, message: str):
        super().__init__(message)
        self.place, self.message = place, message


class Expansion:
    """The whole truth of an experiment, and the place at which each part of it was written."""

    def __init__(self, settings: dict, rows: list[int], comparisons: list[int], encoders: dict[Place, int], lists: dict):
        self.settings = settings
        self._origin = {"rows": rows, "comparisons": comparisons}
        self._encoders, self._lists = encoders, lists

    def written_at(self, place: Place) -> Place:
        """Return the place at which the user wrote the value at a place of the expansion."""
        if len(place) < 2 or not isinstance(place[1], int):
            return place
        if place[2:3] == ("encoder",) and len(place) > 3 and place[:2] in self._encoders:
            return ("encoders", self._encoders[place[:2]], *place[3:])
        if place[0] not in self._origin:
            return place
        origin = (place[0], self._origin[place[0]][place[1]])
        rest = place[2:]
        if rest[:1] and rest[0] in self._lists.get(origin, ()):
            return (*origin, "for", *rest[:1])
        return (*origin, *rest)


def expand(written: Written, published: dict) -> Expansion:
    """Expand an experiment with the `published` values of the literature, or raise an ExperimentError with a written place."""
    said = written.value
    settings = {key: value for key, value in said.items() if key != "encoders"}
    of_experiment, encoders = _with_encoders(said)
    settings |= of_experiment
    rows, row_origins, lists = [], [], {}
    for number, row in enumerate(said.get("rows") or []):
        place = ("rows", number)
        expanded = _rows(row, settings, place)
        lists[place] = row.get("for") or {}
        for one in expanded:
            if not isinstance(one.get("id"), str):
                raise ExperimentError((*place, "id"), f"a row needs an id, a text; found {one.get('id')!r}")
            if one["id"] in [other["id"] for other in rows] + [other["id"] for other in expanded if other is not one]:
                raise ExperimentError((*place, "id"), f"the id {one['id']} is given twice")
        names = [one["published"] for one in expanded if isinstance(one.get("published"), str)]
        if names and not any(name in published["rows"] for name in names):
            raise ExperimentError((*place, "published"), f"published.yaml has no {names[0]}")
        rows += [_with_published(one, published, place) for one in expanded]
        row_origins += [number] * len(expanded)
    comparisons, family_origins = [], []
    for number, family in enumerate(said.get("comparisons") or []):
        expanded = _comparisons(family, settings["models"], rows, ("comparisons", number))
        comparisons += expanded
        family_origins += [number] * len(expanded)
    settings |= {"rows": rows, "comparisons": comparisons, "published_on": published["conditions"]}
    return Expansion(settings, row_origins, family_origins, encoders, lists)


def _with_encoders(said: dict) -> tuple[dict[str, list[dict]], dict[Place, int]]:
    """Return models and weighters with encoders in place of encoders' ids, and the number of the encoder at each such place."""
    encoders: dict[str, int] = {}
    for number, encoder in enumerate(said["encoders"]):
        if encoder["id"] in encoders:
            raise ExperimentError(("encoders", number), f"the id {encoder['id']} is given twice")
        encoders[encoder["id"]] = number
    items: dict[str, list[dict]] = {"models": [], "weighters": []}
    found: dict[Place, int] = {}
    written = [(kind, number, item) for kind in items for number, item in enumerate(said.get(kind) or [])]
    for kind, number, item in written:
        name = item.get("encoder")
        if name is not None and (not isinstance(name, str) or name not in encoders):
            raise ExperimentError((kind, number, "encoder"), f"no {name} in encoders; there are {', '.join(encoders) or 'none'}")
        if name is not None:
            found[kind, number] = encoders[name]
        items[kind].append(item | {"encoder": said["encoders"][encoders[name]]} if name is not None else item)
    if unused := [name for name, number in encoders.items() if number not in found.values()]:
        raise ExperimentError(("encoders", encoders[unused[0]]), "no model has this encoder, and no weighter; leave it out")
    return items, found


def _rows(row: dict, settings: dict, place: Place) -> list[dict]:
    """Return a row as it is, or a row for each combination of the values under `for`; the first key varies slowest."""
    choices = row.get("for")
    if choices is None:
        _items(row, settings, place)  # before any rule finds no pair for want of this row
        return [row]
    if twice := [key for key in OF_A_SYSTEM if key in row]:
        raise ExperimentError((*place, twice[0]), "a row with `for` has it there, and not beside it")
    if not isinstance(choices, dict) or not choices or any(key not in OF_A_SYSTEM for key in choices):
        raise ExperimentError((*place, "for"), f"expected lists of {', '.join(OF_A_SYSTEM)}")
    for key, values in choices.items():
        if not isinstance(values, list) or not 0 < len(values) <= MOST_ROWS or any(values.count(value) > 1 for value in values):
            raise ExperimentError((*place, "for", key), "expected a list of one or more, each once")
    if (count := math.prod(map(len, choices.values()))) > MOST_ROWS:
        raise ExperimentError((*place, "for"), f"{count} rows are more than the {MOST_ROWS} that a table may have")
    found = []
    for chosen in product(*choices.values()):
        system = dict(zip(choices, chosen, strict=True))
        names = fields(system, settings, place)
        rest = {key: value for key, value in row.items() if key != "for"}
        found.append({key: filled(value, names, (*place, key)) for key, value in rest.items()} | system)
    return found


def _items(system: dict, settings: dict, place: Place) -> dict[str, dict]:
    """Return the model and the first stage that a system names, or raise an ExperimentError that lists those there are."""
    found = {}
    for kind, key in (("models", "model"), ("first_stages", "first_stage")):
        if key in system:
            there = settings.get(kind) or []
            found[key] = next((item for item in there if item.get("id") == system[key]), None)
            if found[key] is None:
                names = ", ".join(str(item.get("id")) for item in there)
                raise ExperimentError((*place, key), f"no {system[key]} in {kind}; there are {names}")
    return found


def fields(system: dict, settings: dict, place: Place) -> dict[str, Any]:
    """List the fields that a text of a row or comparison may name: {model}, {model.KEY}, {first_stage.KEY}, {keep}, {pruned}."""
    found: dict[str, Any] = {}
    for key, item in _items(system, settings, (*place, "for")).items():
        found |= {key: item["id"]} | {f"{key}.{name}": value for name, value in item.items()}
    if "keep" in system:
        whole = system["keep"] == "full"
        found["keep"] = "full" if whole else f"r{system['keep']}"
        found["pruned"] = "" if whole else f", pruned r={system['keep']}"
    return found


def filled(value, names: dict[str, Any], place: Place):
    """Fill in the fields of a text; a text that is a single field becomes that value itself, even a number."""
    if not isinstance(value, str):
        return value

    def of(match) -> Any:
        name = ".".join(filter(None, match.groups()))
        if name not in names:
            raise ExperimentError(place, f"no {{{name}}} here; there are {', '.join(f'{{{known}}}' for known in names)}")
        return names[name]

    alone = FIELD.fullmatch(value)
    text = of(alone) if alone else FIELD.sub(lambda match: str(of(match)), value)
    if isinstance(text, str) and re.search(r"[{}]", text):
        raise ExperimentError(place, f"{text!r} has a brace that is part of no field like {{model.label}}")
    return text


def _with_published(row: dict, published: dict, place: Place) -> dict:
    """Return the row with the published values that it names, each with the row's tolerance; values written out stay.

    Some rows of a product may have no published value: nobody published r=500. Values that were measured elsewhere than most come
    with what they were measured on.
    """
    name = row.get("published")
    if isinstance(name, list):
        return row
    if not isinstance(name, str):
        raise ExperimentError(
            (*place, "published"), "expected a name of published.yaml, or a list of values, perhaps an empty one"
        )
    tolerance, rest = row.get("tolerance"), {key: value for key, value in row.items() if key != "tolerance"}
    sources = {entry["source"] for entry in published["rows"].get(name, [])}
    if isinstance(tolerance, dict) and (odd := sorted(map(str, tolerance.keys() - sources))):
        raise ExperimentError((*place, "tolerance"), f"{odd[0]} published nothing of {name}; {', '.join(sorted(sources))} did")
    entries = []
    for entry in published["rows"].get(name, []):
        allowed = tolerance.get(entry["source"]) if isinstance(tolerance, dict) else tolerance
        if entry["metric"] != WITHOUT_TOLERANCE and (not is_number(allowed) or allowed < 0):
            said = "there is none" if allowed is None else f"{allowed!r:.60} is none"
            raise ExperimentError((*place, "tolerance"), f"{said} for the value of {entry['source']} in {name}")
        entries.append(entry | {"tolerance": None if entry["metric"] == WITHOUT_TOLERANCE else allowed})
    elsewhere = {"published_on": found} if (found := published["conditions_of"].get(name)) else {}
    return rest | {"published": entries} | elsewhere


def _comparisons(family: dict, models: list[dict], rows: list[dict], place: Place) -> list[dict]:
    """Return a family as it is, or the result of its rule: once, or once for each model."""
    if "pairs" in family:
        return [family]
    rest = {key: value for key, value in family.items() if key not in ("each", "system", "baseline")}
    if family.get("each") not in (None, "model"):
        raise ExperimentError((*place, "each"), "a rule is for each model, or for none in particular")
    for key in ("system", "baseline"):
        if key not in family:
            raise ExperimentError(place, f"a family has pairs, or it has system and baseline; there is no {key}")
    if not isinstance(family["system"], dict):
        raise ExperimentError((*place, "system"), "expected what a row must have, like {keep: full}")
    if "each" in family and "model" in family["system"]:
        raise ExperimentError((*place, "system"), "a rule for each model names no model")
    _occurs(family["system"], rows, (*place, "system"))
    found = []
    for model in models if "each" in family else [None]:
        wanted = family["system"] | ({"model": model["id"]} if model else {})
        systems = [row for row in rows if _matches(row, wanted, (*place, "system"))]
        pairs = [[row["id"], other] for row in systems for other in _baselines(row, family["baseline"], rows, place)]
        names = {"model": model["id"], **{f"model.{key}": value for key, value in model.items()}} if model else {}
        if pairs:
            found.append({key: filled(value, names, (*place, key)) for key, value in rest.items()} | {"pairs": pairs})
    if not found:
        raise ExperimentError(place, "the rule fits no pair of rows")
    return found


def _occurs(wanted: dict, rows: list[dict], place: Place) -> None:
    """Refuse a value that no row has: a family that shrinks by a slip of the pen is corrected for fewer tests."""
    for key, values in wanted.items():
        for value in values if isinstance(values, list) else [values]:
            if key in OF_A_SYSTEM and not any(row.get("kind") == "model" and row.get(key) == value for row in rows):
                raise ExperimentError((*place, key), f"no row that re-ranks has the {key} {value}")


def _matches(row: dict, wanted: dict, place: Place) -> bool:
    """Tell whether a row re-ranks and has the wanted values; a list allows any of its values."""
    if odd := [key for key in wanted if key not in OF_A_SYSTEM]:
        raise ExperimentError(place, f"no key {odd[0]}; there are {', '.join(OF_A_SYSTEM)}")
    return row.get("kind") == "model" and all(
        row.get(key) in (value if isinstance(value, list) else [value]) for key, value in wanted.items()
    )


def _baselines(system: dict, baseline, rows: list[dict], place: Place) -> list[str]:
    """Return ids of the rows to compare a system with: its own first stage, named rows, or the same system but for some keys."""
    place = (*place, "baseline")
    if baseline == OWN_FIRST_STAGE:
        return [row["id"] for row in rows if row.get("kind") == "first-stage" and row.get("first_stage") == system["first_stage"]]
    if isinstance(baseline, list):
        return baseline
    if not isinstance(baseline, dict):
        raise ExperimentError(place, f"expected {OWN_FIRST_STAGE}, a list of rows, or what differs, like {{keep: full}}")
    _occurs(baseline, rows, place)
    same = {key: system[key] for key in OF_A_SYSTEM if key in system} | baseline
    return [row["id"] for row in rows if row["id"] != system["id"] and _matches(row, same, place)]


def as_yaml(settings: dict) -> str:
    """Return the expansion of an experiment as YAML: every value of every row and comparison, the text to diff."""
    head = "# An experiment as it is run: what was written, expanded. Made by the workflow; edit the experiment itself.\n"
    return head + yaml.dump(settings, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=130)


class _Plain(yaml.SafeDumper):
    """A dumper without anchors: what stands twice is written twice."""

    def ignore_aliases(self, data) -> bool:
        """Treat nothing as an alias."""
        return True
