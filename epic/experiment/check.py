"""Experiments: read, expanded, checked. An error names the file, the line that the user wrote, and the key."""

import re
from collections.abc import Iterator
from pathlib import Path

import jsonschema

from epic.core.files import ROOT, InputError
from epic.experiment.expansion import Expansion, ExperimentError, expand
from epic.experiment.families import declared
from epic.experiment.lookup import find, triples_wanted, tuning_set, with_purpose
from epic.experiment.measurements import FIRST_STAGES, TOGETHER
from epic.experiment.strict_schema import Validator, is_number, odd_texts, words_of
from epic.experiment.yaml_lines import Place, Written, read_yaml

KEYS_OF_KIND = {
    "first-stage": {"first_stage"},
    "model": {"first_stage", "model"},  # and `keep`, if the model's family precomputes
    "run-file": {"runs"},
    "published-only": set(),
}
KEYS_OF_TRIPLES = {"docpairs": {"dataset"}, "sampled": {"query_set", "first_stage", "depth", "seed"}}
SCHEMA = ROOT / "workflow" / "schemas" / "experiment.schema.yaml"
PUBLISHED = ROOT / "workflow" / "resources" / "published.yaml"
METRICS = ("RR@10", "nDCG@10", "R@1000", "ms/query")
NAME = re.compile(r"[a-z][a-z0-9_-]*")
MOST_TRIPLES = 100_000_000
FORMERLY = {("encode", "max_terms"): "say keep, a list of all numbers of kept terms: [100, 1000, 2000] in place of 2000"}
MIXED = ("float16", "bfloat16")
OPTIONAL = ("weighters",)  # keys of an experiment that may be left out
Problem = tuple[Place, str]  # a place in the expansion, and the error there


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
    for key in ("encoders", "query_sets", "first_stages", "weighters", "models", "rows", "comparisons"):
        items = said.get(key, [] if key in OPTIONAL else None)
        if not isinstance(items, list):
            yield (key,), "expected a list"
            continue
        for number, item in enumerate(items):
            if not isinstance(item, dict):
                yield (key, number), f"expected keys and values, found {item!r:.60}"
            elif key not in ("rows", "comparisons") and not isinstance(item.get("id"), str):
                yield (key, number), f"expected an id, a text; found {item.get('id')!r:.60}"


def read_published(path, metrics: tuple[str, ...] = METRICS) -> dict:
    """Read the published values of the literature: conditions, and by row a list of source, query set, metric and value."""
    written = read_yaml(path)
    said = written.value
    if not isinstance(said, dict) or not isinstance(said.get("rows"), dict) or not isinstance(said.get("conditions"), dict):
        raise InputError(f"{path}: expected conditions and rows")
    for name, entries in said["rows"].items():
        if not isinstance(entries, list):
            raise InputError(f"{path} line {written.line(('rows', name))}: expected a list of values for {name}")
        for number, entry in enumerate(entries):
            where = f"{path} line {written.line(('rows', name, number))}: {name}"
            if not isinstance(entry, dict) or entry.keys() != {"source", "query_set", "metric", "value"}:
                raise InputError(f"{where}: expected source, query_set, metric and value")
            if entry["metric"] not in metrics or not is_number(entry["value"]):
                raise InputError(
                    f"{where}: expected a number of one of {', '.join(metrics)}, found {entry['value']!r} of {entry['metric']}"
                )
    return said


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


def problems(settings: dict) -> Iterator[Problem]:
    """Yield violations of all rules that a schema cannot state: ids are unique, references exist, sizes fit together."""
    checks = (
        _twice_given,
        _models,
        _first_stages,
        _weighters,
        _encode,
        _rows,
        _comparisons,
        _purposes,
        _references,
        _sizes,
        _triples,
    )
    for check in checks:
        yield from check(settings)


def _twice_given(settings: dict) -> Iterator[Problem]:
    for key in ("query_sets", "first_stages", "weighters", "models", "rows"):
        ids = [item["id"] for item in settings[key]]
        if twice := _twice(ids):
            yield (key, len(ids) - 1 - ids[::-1].index(twice)), f"the id {twice} is given twice"
    lists = [("downloads", [download["file"] for download in settings["downloads"]])]
    lists += [(key, settings[key]["queries"]) for key in ("statistics", "texts")]
    for key, names in lists:
        if twice := _twice(names):
            yield (key,), f"{twice} is given twice"


def _models(settings: dict) -> Iterator[Problem]:
    for number, model in enumerate(settings["models"]):
        if model["id"] in (TOGETHER, FIRST_STAGES):
            yield ("models", number, "id"), f"no model can be called {model['id']}: other latencies have that name"
        try:
            family = declared(model["family"])
        except InputError as error:
            yield ("models", number, "family"), str(error)
            continue
        for error in Validator(family.settings).iter_errors(model):
            explained = error.schema.get("description") if isinstance(error.schema, dict) else None
            yield ("models", number, *error.absolute_path), f"{error.message[:300]}{f' ({explained})' if explained else ''}"


def _first_stages(settings: dict) -> Iterator[Problem]:
    for number, stage in enumerate(settings["first_stages"]):
        if stage["predicted_queries"] and stage["weighted_text"]:
            yield ("first_stages", number), "predicted_queries and weighted_text exclude each other"
        if (weighted := stage["weighted_text"]) is not None and len(weighted) != 1:
            yield ("first_stages", number, "weighted_text"), "expected either source, published texts, or model, a weighter"
        elif weighted and "model" in weighted and (absent := _absent(settings, "weighters", weighted["model"])):
            yield ("first_stages", number, "weighted_text", "model"), absent


def _weighters(settings: dict) -> Iterator[Problem]:
    used = [(stage["weighted_text"] or {}).get("model") for stage in settings["first_stages"]]
    for number, weighter in enumerate(settings["weighters"]):
        if weighter["id"] not in used:
            yield ("weighters", number), "no first stage has this weighter as its weighted_text; leave it out"
        if weighter["train"]:
            yield from _serves(settings, weighter["train"]["query_set"], ("train",), ("weighters", number, "train", "query_set"))


def _encode(settings: dict) -> Iterator[Problem]:
    kept = settings["encode"]["keep"]
    if kept != sorted(set(kept)):
        yield ("encode", "keep"), f"{kept} do not ascend; write {sorted(set(kept))}"


def _rows(settings: dict) -> Iterator[Problem]:
    widest = settings["encode"]["keep"][-1]
    for number, row in enumerate(settings["rows"]):
        place = ("rows", number)
        for key, field in (("first_stages", "first_stage"), ("models", "model")):
            if field in row and (absent := _absent(settings, key, row[field])):
                yield (*place, field), absent
                return
        if row["id"] in (TOGETHER, FIRST_STAGES, *(model["id"] for model in settings["models"])):
            yield (*place, "id"), f"no row can be called {row['id']}: the latencies of several rows have that name"
        needed = set(KEYS_OF_KIND[row["kind"]])
        if row["kind"] == "model" and "model" in row and declared(find(settings["models"], row["model"])["family"]).precomputes:
            needed |= {"keep"}
        given = row.keys() & {"first_stage", "model", "keep", "runs"}
        if odd := sorted(given ^ needed):
            what = f"a row of the kind {row['kind']}" + (" and of this family" if odd[0] == "keep" and "model" in row else "")
            yield (*place, odd[0]), f"{what} {'has no' if odd[0] in given else 'needs'} {odd[0]}"
        if twice := _twice(run["query_set"] for run in row.get("runs", [])):
            yield (*place, "runs"), f"there are two runs of {twice}"
        for run, found in enumerate(row.get("runs", [])):
            yield from _serves(settings, found["query_set"], ("test",), (*place, "runs", run, "query_set"))
        if isinstance(row.get("keep"), int) and row["keep"] > widest:
            yield (*place, "keep"), f"{row['keep']} is more than the largest of encode.keep ({widest})"


def _comparisons(settings: dict) -> Iterator[Problem]:
    for number, family in enumerate(settings["comparisons"]):
        place = ("comparisons", number)
        if twice := _twice(map(tuple, family["pairs"])):
            yield place, f"the pair {', '.join(twice)} is given twice"
        if same := next((pair for pair in family["pairs"] if pair[0] == pair[1]), None):
            yield place, f"{same[0]} is compared with itself"
        for name in [name for pair in family["pairs"] for name in pair]:
            if absent := _absent(settings, "rows", name):
                yield place, absent
                break
            elif find(settings["rows"], name)["kind"] == "published-only":
                yield place, f"{name} is not run here"


def _purposes(settings: dict) -> Iterator[Problem]:
    if len(with_purpose(settings, "validation")) != 1 or len(with_purpose(settings, "tune")) > 1:
        yield ("query_sets",), "exactly one set must have the purpose validation, and at most one tune"


def _references(settings: dict) -> Iterator[Problem]:
    for number, passage in enumerate(settings["texts"]["passages"]):
        if isinstance(passage, dict) and (absent := _absent(settings, "query_sets", passage["query_set"])):
            yield ("texts", "passages", number), absent
    yield from _serves(settings, settings["latency"]["query_set"], ("latency", "test"), ("latency", "query_set"))
    headline = settings["evaluate"]["headline"]
    yield from _serves(settings, headline, ("test",), ("evaluate", "headline"))
    if find(settings["query_sets"], headline)["relevance"] != 1:
        yield ("evaluate", "headline"), "the table shows MRR@10 from grade 1 on; choose a set with relevance: 1"
    if absent := _absent(settings, "first_stages", settings["train"]["validation_first_stage"]):
        yield ("train", "validation_first_stage"), absent


def _sizes(settings: dict) -> Iterator[Problem]:
    every, size = settings["train"]["validate_every"], settings["train"]["batch_size"]
    if every % size:
        yield ("train", "validate_every"), f"{every} is no multiple of batch_size ({size})"
    if (wanted := triples_wanted(settings)) > MOST_TRIPLES:
        said = f"{wanted} triples (validate_every times max_validations) are more than {MOST_TRIPLES}"
        yield ("train", "max_validations"), f"{said}, and they are held in memory"
    deepest, tuned_on = settings["tune"]["max_cutoff"], find(settings["query_sets"], tuning_set(settings))
    if deepest > tuned_on["hits"]:
        yield ("tune", "max_cutoff"), f"{deepest} is more than the hits of {tuned_on['id']} ({tuned_on['hits']})"
    timed_on, deepest = find(settings["query_sets"], settings["latency"]["query_set"]), max(deepest, settings["latency"]["hits"])
    if timed_on["hits"] < deepest and any(row.get("keep") == "full" for row in settings["rows"]):
        said = f"{timed_on['id']} has {timed_on['hits']} hits; unpruned rows may be timed with {deepest}"
        yield ("latency", "query_set"), f"{said} (latency.hits, tune.max_cutoff)"
    if settings["compute"]["precision"] in MIXED and settings["compute"]["device"] != "cuda":
        yield ("compute", "precision"), "mixed precision is for the device cuda; say float32"


def _triples(settings: dict) -> Iterator[Problem]:
    triples = settings["triples"]
    given, needed = triples.keys() - {"source"}, KEYS_OF_TRIPLES[triples["source"]]
    if odd := sorted(given ^ needed):
        yield ("triples", odd[0]), f"the source {triples['source']} {'has no' if odd[0] in given else 'needs'} {odd[0]}"
    elif triples["source"] == "sampled":
        yield from _serves(settings, triples["query_set"], ("train",), ("triples", "query_set"))
        if absent := _absent(settings, "first_stages", triples["first_stage"]):
            yield ("triples", "first_stage"), absent


def _absent(settings: dict, key: str, name: str) -> str | None:
    """Return the message for a name that no item has, or None."""
    ids = [item["id"] for item in settings[key]]
    return None if name in ids else f"no {name} in {key}; there are {', '.join(ids) or 'none'}"


def _serves(settings: dict, name: str, purposes: tuple[str, ...], place: Place) -> Iterator[Problem]:
    if absent := _absent(settings, "query_sets", name):
        yield place, absent
    elif (purpose := find(settings["query_sets"], name)["purpose"]) not in purposes:
        yield place, f"{name} is for {purpose}, expected a set for {' or '.join(purposes)}"


def _twice(items):
    """Return the first item that stands twice, or None."""
    seen = set()
    return next((item for item in items if item in seen or seen.add(item)), None)
