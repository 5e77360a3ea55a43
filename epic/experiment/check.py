"""Experiments: read, expanded, checked. An error names the file, the line that the user wrote, and the key."""

import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema

from epic.core.files import ROOT, InputError
from epic.experiment.expansion import WITHOUT_TOLERANCE, Expansion, ExperimentError, expand
from epic.experiment.measure_names import KNOWN, is_known
from epic.experiment.problems import Problem, problems
from epic.experiment.strict_schema import Validator, is_number, odd_texts, words_of
from epic.experiment.yaml_lines import Place, Written, read_yaml

SCHEMA = ROOT / "workflow" / "schemas" / "experiment.schema.yaml"
PUBLISHED = ROOT / "workflow" / "resources" / "published.yaml"
NAME = re.compile(r"[a-z][a-z0-9_-]*")
FORMERLY = {("encode", "max_terms"): "say keep, a list of all numbers of kept terms: [100, 1000, 2000] in place of 2000"}
OPTIONAL = ("weighters", "generators")  # keys of an experiment that may be left out


def load_experiments(folders, schema_path=SCHEMA, published_path=PUBLISHED) -> dict[str, dict]:
    """Load all experiments of some folders by name, or raise an InputError for the first that is broken."""
    experiments, broken = sound_and_broken(folders, schema_path, published_path)
    for reason in broken.values():
        raise InputError(reason)
    return experiments


def sound_and_broken(folders, schema_path=SCHEMA, published_path=PUBLISHED) -> tuple[dict[str, dict], dict[str, str]]:
    """Load the experiments of some folders by name; of those that are broken, return the reason instead.

    A name that stands in two folders is broken: nobody can tell which one is meant.
    """
    schema, published = read_yaml(schema_path).value, read_published(published_path)
    experiments: dict[str, dict] = {}
    broken: dict[str, str] = {}
    for path in [path for folder in folders for path in sorted(Path(folder).glob("*.yaml"))]:
        try:
            if not NAME.fullmatch(path.stem):
                raise InputError(f"{str(path)!r}: an experiment's name is lower-case letters, digits, - and _; rename the file")
            if path.stem in experiments or path.stem in broken:
                experiments.pop(path.stem, None)
                raise InputError(f"{path}: an experiment named {path.stem} exists already; rename the file")
            experiments[path.stem] = load_experiment(path, schema, published)
        except InputError as error:
            broken[path.stem] = str(error)
    return experiments, broken


def load_experiment(path: Path, schema: dict, published: dict) -> dict:
    """Read and expand one experiment, or raise an InputError that names the file, the line and the key."""
    written = read_yaml(path)
    for place, message in (*odd_texts(written.value), *_shape(written.value, schema)):
        raise _refused(written, written.value, place, place, message)
    try:
        expansion = expand(written, published)
    except ExperimentError as error:
        raise _refused(written, written.value, error.place, error.place, error.message) from error
    _check_schema(written, expansion, schema)
    for place, message in problems(expansion.settings):
        raise _refused(written, expansion.settings, place, expansion.written_at(place), message)
    return expansion.settings


def _shape(said, schema: dict) -> Iterator[Problem]:
    """Yield what keeps an experiment from being expanded: keys that are missing or too many, and items that are no items."""
    if not isinstance(said, dict):
        yield (), "expected keys and values, as in workflow/experiments/"
        return
    known = [*(key for key in schema["required"] if key != "published_on"), "encoders", *OPTIONAL]
    if odd := [key for key in said if key not in known]:
        yield (odd[0],), f"there is no such key; there are {', '.join(known)}"
    if absent := [key for key in known if key not in said and key not in OPTIONAL]:
        yield (), f"the key {absent[0]} is missing"
    for key in ("encoders", "query_sets", "first_stages", "weighters", "generators", "models", "rows", "comparisons"):
        items = said.get(key, [] if key in OPTIONAL else None)
        if not isinstance(items, list):
            yield (key,), "expected a list"
            continue
        for number, item in enumerate(items):
            if not isinstance(item, dict):
                yield (key, number), f"expected keys and values, found {item!r:.60}"
            elif key not in ("rows", "comparisons") and not isinstance(item.get("id"), str):
                yield (key, number), f"expected an id, a text; found {item.get('id')!r:.60}"


def read_published(path) -> dict:
    """Read the published values of the literature: conditions, and by row a list of source, query set, metric and value.

    Rows of values that were measured elsewhere have the conditions of their group: `conditions_of`, by row.
    """
    written = read_yaml(path)
    said = written.value
    if not _is_group(said):
        raise InputError(f"{path}: expected conditions and rows")
    groups = {(): said} | {("elsewhere", name): group for name, group in (said.get("elsewhere") or {}).items()}
    rows: dict[str, list] = {}
    for place, group in groups.items():
        if not _is_group(group):
            raise InputError(f"{path} line {written.line(place)}: expected conditions and rows")
        for name, entries in group["rows"].items():
            _check_values(written, (*place, "rows", name), entries)
            if name in rows:
                raise InputError(f"{path} line {written.line((*place, 'rows', name))}: {name} is given twice")
            rows[name] = entries
    of = {name: group["conditions"] for place, group in groups.items() if place for name in group["rows"]}
    return {"conditions": said["conditions"], "rows": rows, "conditions_of": of}


def _is_group(said) -> bool:
    return isinstance(said, dict) and isinstance(said.get("rows"), dict) and isinstance(said.get("conditions"), dict)


def _check_values(written: Written, place: Place, entries) -> None:
    """Refuse the values of a row that are not as `read_published` says."""
    name = place[-1]
    if not isinstance(entries, list):
        raise InputError(f"{written.path} line {written.line(place)}: expected a list of values for {name}")
    for number, entry in enumerate(entries):
        where = f"{written.path} line {written.line((*place, number))}: {name}"
        if not isinstance(entry, dict) or entry.keys() != {"source", "query_set", "metric", "value"}:
            raise InputError(f"{where}: expected source, query_set, metric and value")
        known = entry["metric"] == WITHOUT_TOLERANCE or is_known(entry["metric"])
        if not known or not is_number(entry["value"]):
            said = f"found {entry['value']!r} of {entry['metric']!r:.60}"
            raise InputError(f"{where}: expected a number of {KNOWN} or {WITHOUT_TOLERANCE}, {said}")


def _check_schema(written: Written, expansion: Expansion, schema: dict) -> None:
    errors = Validator(schema).iter_errors(expansion.settings)
    for error in sorted(errors, key=lambda error: "comparisons" in list(error.absolute_path)[:1]):  # they name rows: those first
        error = jsonschema.exceptions.best_match([error])
        place = tuple(error.absolute_path)
        if error.validator == "additionalProperties":  # name the line of the superfluous key
            odd = [key for key in error.instance if key not in error.schema.get("properties", {})]
            place = (*place, odd[0]) if odd else place
        instead = f"; {FORMERLY[place]}" if place in FORMERLY else ""
        raise _refused(written, expansion.settings, place, expansion.written_at(place), words_of(error) + instead)


def _refused(written: Written, settings: dict, place: Place, origin: Place, message: str) -> InputError:
    said = named(written.value, origin) if place[:1] == ("comparisons",) else named(settings, place)
    return InputError(f"{written.path} line {written.line(origin)}: {said[:100]}: {message[:400]}")


def named(settings, place: Place) -> str:
    """Name a place for people: items of lists by their ids, as rows.bm25.label."""
    parts, value = [], settings
    for key in place:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            value = None
        item = value.get("id") if isinstance(value, dict) and isinstance(key, int) else None
        parts.append(str(item or key))
    return ".".join(parts) or "the experiment"
