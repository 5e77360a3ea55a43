"""Experiments: reading, checking, looking up. An experiment is one file, and nothing is merged into it."""

import re
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import yaml

from epic.files import InputError

KEYS_OF_KIND = {
    "first-stage": {"first_stage"},
    "model": {"first_stage", "model", "keep"},
    "run-file": {"runs"},
    "published-only": set(),
}


@dataclass(frozen=True)
class TrainSettings:
    """How a model is trained; the keys of `train` in an experiment."""

    batch_size: int
    micro_batch_size: int
    learning_rate: float
    learning_rate_new_layers: float
    validate_every: int
    validation_hits: int
    validation_first_stage: str
    validation_token_budget: int
    patience: int
    max_validations: int
    max_tokens: int | None
    precision: str
    threads: int


@dataclass(frozen=True)
class EncodeSettings:
    """How passages are encoded; the keys of `encode` in an experiment, but for the number of shards."""

    max_terms: int
    token_budget: int
    vocabulary_block: int


class _UniqueKeyLoader(yaml.SafeLoader):
    """YAML without silent overwriting: a key given twice is an error."""


def _mapping(loader, node):
    keys = [loader.construct_object(key) for key, _ in node.value]
    if (twice := _twice(keys)) is not None:
        raise yaml.constructor.ConstructorError(None, None, f"key {twice!r} is given twice", node.start_mark)
    return {loader.construct_object(key): loader.construct_object(value, deep=True) for key, value in node.value}


_UniqueKeyLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


KEYS_OF_TRIPLES = {"docpairs": {"dataset"}, "sampled": {"query_set", "first_stage", "depth", "seed"}}
NAME = re.compile(r"[a-z][a-z0-9_-]*")


def load_experiments(folders, schema_path) -> dict[str, dict]:
    """All experiments of some folders by name; a name that stands in two folders is refused."""
    schema = yaml.safe_load(Path(schema_path).read_text(encoding="utf-8"))
    experiments = {}
    for path in [path for folder in folders for path in sorted(Path(folder).glob("*.yaml"))]:
        if not NAME.fullmatch(path.stem):
            raise InputError(f"{path}: an experiment's name is lower-case letters, digits, - and _; rename the file")
        if path.stem in experiments:
            raise InputError(f"{path}: an experiment named {path.stem} exists already; rename the file")
        experiments[path.stem] = load_experiment(path, schema)
    return experiments


def load_experiment(path: Path, schema: dict) -> dict:
    """Read one experiment, or raise an InputError that names the file and the key."""
    try:
        settings = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeyLoader)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}") from error
    for error in jsonschema.Draft202012Validator(schema).iter_errors(settings):
        error = jsonschema.exceptions.best_match([error])
        raise InputError(f"{path}: {error.json_path}: {error.message}")
    _check_references(path, settings)
    return settings


def _check_references(path, settings) -> None:
    """Ids are unique, and every id that is referred to exists."""
    ids = {}
    for key in ("query_sets", "first_stages", "models", "rows"):
        ids[key] = [item["id"] for item in settings[key]]
        if twice := _twice(ids[key]):
            raise InputError(f"{path}: $.{key}: the id {twice} is given twice")

    def must_exist(key, name, where):
        if name not in ids[key]:
            raise InputError(f"{path}: {where}: no {name} in {key}; there are {', '.join(ids[key])}")

    def must_serve(name, purposes, where):
        must_exist("query_sets", name, where)
        if (purpose := find(settings["query_sets"], name)["purpose"]) not in purposes:
            raise InputError(f"{path}: {where}: {name} is for {purpose}, expected a set for {' or '.join(purposes)}")

    for model in settings["models"]:
        if model["start"] and model["formulation"] != "released":
            where = f"$.models.{model['id']}.start"
            raise InputError(f"{path}: {where}: the authors' weights are of the formulation released")
    for stage in settings["first_stages"]:
        if stage["predicted_queries"] and stage["weighted_text"]:
            raise InputError(f"{path}: $.first_stages.{stage['id']}: predicted_queries and weighted_text exclude each other")
    for row in settings["rows"]:
        given = row.keys() & {"first_stage", "model", "keep", "runs"}
        _check_keys(f"{path}: $.rows.{row['id']}: a row of the kind {row['kind']}", given, KEYS_OF_KIND[row["kind"]])
        for key, field in (("first_stages", "first_stage"), ("models", "model")):
            if field in row:
                must_exist(key, row[field], f"$.rows.{row['id']}.{field}")
        for run in row.get("runs", []):
            must_serve(run["query_set"], ("test",), f"$.rows.{row['id']}.runs")
        widest = settings["encode"]["max_terms"]
        if isinstance(row.get("keep"), int) and row["keep"] > widest:
            raise InputError(f"{path}: $.rows.{row['id']}.keep: {row['keep']} is more than encode.max_terms ({widest})")
    for place, family in enumerate(settings["comparisons"]):
        where = f"$.comparisons[{place}]"
        if twice := _twice(map(tuple, family["pairs"])):
            raise InputError(f"{path}: {where}: the pair {', '.join(twice)} is given twice")
        for name in [name for pair in family["pairs"] for name in pair]:
            must_exist("rows", name, where)
            if find(settings["rows"], name)["kind"] == "published-only":
                raise InputError(f"{path}: {where}: {name} is not run here")

    if len(with_purpose(settings, "validation")) != 1 or len(with_purpose(settings, "tune")) > 1:
        raise InputError(f"{path}: $.query_sets: exactly one set must have the purpose validation, and at most one tune")
    for passage in settings["texts"]["passages"]:
        if isinstance(passage, dict):
            must_exist("query_sets", passage["query_set"], "$.texts.passages")
    must_serve(settings["latency"]["query_set"], ("latency", "test"), "$.latency.query_set")
    must_serve(settings["evaluate"]["headline"], ("test",), "$.evaluate.headline")
    if find(settings["query_sets"], settings["evaluate"]["headline"])["relevance"] != 1:
        raise InputError(f"{path}: $.evaluate.headline: the table shows MRR@10 from grade 1 on; choose a set with relevance: 1")
    must_exist("first_stages", settings["train"]["validation_first_stage"], "$.train.validation_first_stage")
    every, size = settings["train"]["validate_every"], settings["train"]["batch_size"]
    if every % size:
        raise InputError(f"{path}: $.train.validate_every: {every} is no multiple of batch_size ({size})")
    tuned_on = find(settings["query_sets"], tuning_set(settings))
    if settings["tune"]["max_cutoff"] > tuned_on["hits"]:
        where = f"$.tune.max_cutoff: {settings['tune']['max_cutoff']}"
        raise InputError(f"{path}: {where} is more than the hits of {tuned_on['id']} ({tuned_on['hits']})")
    timed_on = find(settings["query_sets"], settings["latency"]["query_set"])
    deepest = max(settings["tune"]["max_cutoff"], settings["latency"]["hits"])
    if timed_on["hits"] < deepest and any(row.get("keep") == "full" for row in settings["rows"]):
        where = f"$.latency.query_set: {timed_on['id']} has {timed_on['hits']} hits"
        raise InputError(f"{path}: {where}; unpruned rows may be timed with {deepest} (latency.hits, tune.max_cutoff)")
    if settings["compute"]["precision"] != "float32" and settings["compute"]["device"] != "cuda":
        raise InputError(f"{path}: $.compute.precision: mixed precision is for the device cuda; say float32")
    triples = settings["triples"]
    says = f"{path}: $.triples: the source {triples['source']}"
    _check_keys(says, triples.keys() - {"source"}, KEYS_OF_TRIPLES[triples["source"]])
    if triples["source"] == "sampled":
        must_serve(triples["query_set"], ("train",), "$.triples.query_set")
        must_exist("first_stages", triples["first_stage"], "$.triples.first_stage")


def _twice(items):
    """The first item that stands twice, or None."""
    items = list(items)
    return next((item for item in items if items.count(item) > 1), None)


def _check_keys(what: str, given: set[str], needed: set[str]) -> None:
    if odd := sorted(given ^ needed):
        raise InputError(f"{what} {'has no' if odd[0] in given else 'needs'} {odd[0]}")


def find(items: list[dict], name: str, what: str = "item") -> dict:
    """The item with the id `name`, or an InputError that lists those there are."""
    for item in items:
        if item["id"] == name:
            return item
    raise InputError(f"there is no {what} {name}; there are {', '.join(item['id'] for item in items)}")


def with_purpose(settings: dict, purpose: str) -> list[str]:
    """Ids of the query sets that serve `purpose`."""
    return [query_set["id"] for query_set in settings["query_sets"] if query_set["purpose"] == purpose]


def sets_of(settings: dict, row: dict) -> list[str]:
    """Ids of the query sets that a row is scored on: all test sets, those a published run has, or none."""
    if row["kind"] in ("published-only", "run-file"):
        return [run["query_set"] for run in row.get("runs", [])]
    return with_purpose(settings, "test")


def validation_set(settings: dict) -> str:
    """The query set that training is validated on."""
    return with_purpose(settings, "validation")[0]


def tuning_set(settings: dict) -> str:
    """The query set that the re-ranking cut-off is chosen on: one of its own, or that of validation."""
    return (with_purpose(settings, "tune") or with_purpose(settings, "validation"))[0]
