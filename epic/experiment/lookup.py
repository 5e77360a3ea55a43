"""An experiment's settings as its stages see them: the rows, models, query sets and tests there are. Names, no paths.

`settings` are those of an expanded and checked experiment (`epic.experiment.check`).
"""

from epic.core.files import InputError
from epic.experiment.families import declared
from epic.experiment.measure_names import computed, from_grade, on_set

AT_A_TIME = ("token_budget", "vocabulary_block", "validation_token_budget", "shards", "passages")  # no vector depends on them
OF_TRAINING = ("id", "family", "settings", "encoder", "start", "loss", "seed")  # of a model: all other keys only show it


def find(items: list[dict], name: str, what: str = "item") -> dict:
    """Return the item with the id `name`, or raise an InputError that lists the ids there are."""
    for item in items:
        if item["id"] == name:
            return item
    raise InputError(f"there is no {what} {name}; there are {', '.join(item['id'] for item in items)}")


def value_at(value, keys):
    """Return the value at some keys, one inside the other."""
    for key in keys:
        value = value[key]
    return value


def with_purpose(settings: dict, purpose: str) -> list[str]:
    """Return ids of the query sets that serve `purpose`."""
    return [query_set["id"] for query_set in settings["query_sets"] if query_set["purpose"] == purpose]


def sets_of(settings: dict, row: dict) -> list[str]:
    """Return ids of the query sets that a row is scored on: all test sets or those it names, a published run's, or none."""
    if row["kind"] in ("published-only", "run-file"):
        return [run["query_set"] for run in row.get("runs", [])]
    return row.get("query_sets") or with_purpose(settings, "test")


def depths_of(settings: dict, row: dict) -> dict[str, int]:
    """Return how many hits of a query the first stages' runs have, by the query sets that a row is scored on."""
    return {name: find(settings["query_sets"], name)["hits"] for name in sets_of(settings, row)}


def validation_set(settings: dict) -> str:
    """Return the query set that training is validated on."""
    return with_purpose(settings, "validation")[0]


def tuning_set(settings: dict) -> str:
    """Return the query set on which the re-ranking cut-off is chosen: one of its own, or that of validation."""
    return (with_purpose(settings, "tune") or with_purpose(settings, "validation"))[0]


def relevance_of(settings: dict, query_set: str) -> int:
    """Return the lowest grade that counts as relevant for a query set."""
    return find(settings["query_sets"], query_set, "query set")["relevance"]


def metric_of(settings: dict, query_set: str) -> str:
    """Return the measure by which a query set's systems are compared."""
    return from_grade(settings["evaluate"]["measure"], relevance_of(settings, query_set))


def measures_on(settings: dict, query_set: str) -> list[dict]:
    """Return the measures that are computed for every query of a set."""
    said, found = settings["evaluate"], find(settings["query_sets"], query_set, "query set")
    return [computed(name) for name in on_set(said["measures"], said["measure"], found["relevance"], found["hits"])]


def keeps_stores(settings: dict) -> bool:
    """Tell whether vectors stay on the disk after they were used."""
    return "stores" in settings["keep"]


def precomputes(settings: dict, model: str) -> bool:
    """Tell whether a model's passages are encoded before any query comes."""
    return declared(find(settings["models"], model)["family"]).precomputes


def training_of(model: dict) -> dict:
    """Return a model without the keys that only show it: all that training depends on."""
    return {key: model[key] for key in OF_TRAINING}


def compute_of(settings: dict) -> dict:
    """Return the device, threads and precision of torch; the memory an experiment needs changes no result, so it is no param."""
    return {key: settings["compute"][key] for key in ("device", "threads", "precision")}


def gpus(settings: dict) -> int:
    """Return the GPUs of a job that runs a model."""
    return int(settings["compute"]["device"] == "cuda")


def gpus_of_reranking(settings: dict, row: dict) -> int:
    """Return the GPUs of a row's re-ranking: a pruned row only looks vectors up."""
    return 0 if is_pruned(row) else gpus(settings)


def samples_of(settings: dict, first_stage: str) -> int | None:
    """Return how many predicted queries a first stage appends to a passage; None where it has none, or has them joined."""
    predicted = find(settings["first_stages"], first_stage, "first stage")["predicted_queries"]
    return predicted["samples"] if predicted else None


def shown_samples(settings: dict) -> int | None:
    """Return how many predicted queries a passage has where passages are shown with them; None as in `samples_of`."""
    stage = expanded_stage(settings)
    return samples_of(settings, stage) if stage else None


def watched(settings: dict, stage: str) -> dict:
    """Return the settings of a stage, but for those that no result depends on: they are no params."""
    return {key: value for key, value in settings[stage].items() if key not in AT_A_TIME}


def download_named(settings: dict, file: str) -> dict:
    """Return the download of a file, or raise an InputError that lists the downloads there are."""
    downloads = {download["file"]: download for download in settings["downloads"]}
    if file not in downloads:
        raise InputError(f"there is no download {file}; there are {', '.join(downloads) or 'none'}")
    return downloads[file]


def row_of_kind(row: dict, kinds: tuple[str, ...]) -> dict:
    """Return the row itself, or refuse it if it is of none of these kinds."""
    if row["kind"] not in kinds:
        nothing = {"published-only": "it is not run here", "run-file": "there is nothing to time or to re-rank"}
        why = nothing.get(row["kind"], "there is nothing to re-rank")
        raise InputError(f"row {row['id']} is of the kind {row['kind']}: {why}")
    return row


def published_run(row: dict, query_set: str) -> str:
    """Return the source of a published run of a query set."""
    sources = {run["query_set"]: run["source"] for run in row.get("runs", [])}
    if query_set not in sources:
        raise InputError(f"row {row['id']} has no published run of {query_set}")
    return sources[query_set]


def is_pruned(row: dict) -> bool:
    """Tell whether a row reads a store: a row that keeps all terms, or precomputes nothing, runs the model instead."""
    return row.get("keep") not in (None, "full")


def family_of_row(settings: dict, row: dict) -> str | None:
    """Return the family of a row's model; None for a row without one."""
    return find(settings["models"], row["model"])["family"] if "model" in row else None


def validation_measure(settings: dict) -> dict:
    """Return the measure by which training chooses a model, on the validation queries."""
    return computed(from_grade(settings["evaluate"]["selection"], relevance_of(settings, validation_set(settings))))


def tuning_measure(settings: dict) -> dict:
    """Return the measure by which a cut-off is chosen, on the tuning queries."""
    return computed(from_grade(settings["evaluate"]["selection"], relevance_of(settings, tuning_set(settings))))


def is_replayed(settings: dict, first_stage: str) -> bool:
    """Tell whether a first stage is a run that was made elsewhere: it has no index, and no query can be searched for."""
    return "run" in find(settings["first_stages"], first_stage, "first stage")


def bm25_of(settings: dict, first_stage: str) -> dict:
    """Return the two parameters of BM25; none where nothing is searched."""
    stage = find(settings["first_stages"], first_stage, "first stage")
    return {key: stage[key] for key in ("k1", "b") if key in stage}


def encoder_named(settings: dict, encoder: str) -> dict:
    """Return source, revision and sha256 of an encoder, and where its tokenizer comes from if that is elsewhere."""
    users = [*settings["models"], *settings["weighters"]]
    found = {user["encoder"]["id"]: user["encoder"] for user in users if user["encoder"]}
    if encoder not in found:
        raise InputError(f"there is no encoder {encoder}; there are {', '.join(found) or 'none'}")
    return {key: value for key, value in found[encoder].items() if key != "id"}


def families_of_models(settings: dict) -> dict[str, str]:
    """Return the family of each model."""
    return {model["id"]: model["family"] for model in settings["models"]}


def leaves(paths) -> list:
    """List all paths of nested dicts and lists."""
    if isinstance(paths, dict | list):
        return [leaf for value in (paths.values() if isinstance(paths, dict) else paths) for leaf in leaves(value)]
    return [paths]


def model_rows(settings: dict) -> list[dict]:
    """List the rows that re-rank."""
    return [row for row in settings["rows"] if row["kind"] == "model"]


def run_rows(settings: dict) -> list[dict]:
    """List the rows that are run here."""
    return [row for row in settings["rows"] if row["kind"] != "published-only"]


def systems(settings: dict) -> dict[str, list[str]]:
    """Return the first stages that each model with rows re-ranks, in the order of the rows."""
    found: dict[str, list[str]] = {}
    for row in model_rows(settings):
        stages = found.setdefault(row["model"], [])
        stages += [] if row["first_stage"] in stages else [row["first_stage"]]
    return found


def models_with_rows(settings: dict) -> dict[str, list[str]]:
    """Return ids of the models that have rows: all of them, those that are trained, those that precompute."""
    used = [model for model in settings["models"] if model["id"] in systems(settings)]
    return {
        "all": [model["id"] for model in used],
        "trained": [model["id"] for model in used if model["loss"]],
        "precomputing": [model["id"] for model in used if declared(model["family"]).precomputes],
    }


def kept_terms(settings: dict, model: str) -> list[int]:
    """Return the numbers of terms that a model's rows keep, the largest first, without rows that keep all."""
    kept = {row.get("keep") for row in model_rows(settings) if row["model"] == model}
    return sorted((keep for keep in kept if isinstance(keep, int)), reverse=True)


def counting_model(settings: dict) -> str | None:
    """Return the model whose encoded shards count the passages' word-pieces: the first with rows that precomputes."""
    return next(iter(models_with_rows(settings)["precomputing"]), None)


def expanded_stage(settings: dict) -> str | None:
    """Return the first of the first stages with predicted queries."""
    return next((stage["id"] for stage in settings["first_stages"] if stage["predicted_queries"]), None)


def shown_sets(settings: dict) -> list[str]:
    """Return the query sets whose judgments name a passage to be shown."""
    passages = settings["texts"]["passages"]
    return list(dict.fromkeys(passage["query_set"] for passage in passages if isinstance(passage, dict)))


def comparisons_on(settings: dict, query_set: str) -> list[dict]:
    """Return families with the pairs that can be compared on a query set; a published run may be of another one."""
    scored = {row["id"] for row in settings["rows"] if query_set in sets_of(settings, row)}
    found = [family | {"pairs": [pair for pair in family["pairs"] if scored >= set(pair)]} for family in settings["comparisons"]]
    return [family for family in found if family["pairs"]]


def compared_rows(settings: dict, query_set: str) -> list[str]:
    """Return the rows that a declared comparison on a query set names."""
    families = comparisons_on(settings, query_set)
    return list(dict.fromkeys(row for family in families for pair in family["pairs"] for row in pair))


def own_tests(settings: dict, row: dict) -> list[tuple[str, str]]:
    """Return (baseline, query set) of a row's declared tests against its own first stage; one row needs no other comparison."""
    first_stages = [other for other in settings["rows"] if other["kind"] == "first-stage"]
    own = [other["id"] for other in first_stages if other["first_stage"] == row.get("first_stage")]
    declared_pairs = [pair for family in settings["comparisons"] for pair in family["pairs"]]
    baselines = [baseline for system, baseline in declared_pairs if system == row["id"] and baseline in own]
    sets = {other["id"]: sets_of(settings, other) for other in first_stages}
    return [(name, query_set) for name in baselines for query_set in sets_of(settings, row) if query_set in sets[name]]


def row_settings(settings: dict, row: dict) -> dict:
    """Return the settings that a reader needs to repeat a row."""
    found = {key: row[key] for key in ("keep",) if key in row}
    if "first_stage" in row:
        found["first_stage"] = find(settings["first_stages"], row["first_stage"])
        if generator := (found["first_stage"]["predicted_queries"] or {}).get("generate"):
            found["generator"] = find(settings["generators"], generator)
        if weighter := (found["first_stage"]["weighted_text"] or {}).get("model"):
            found["weighter"] = find(settings["weighters"], weighter)
    if "model" in row:
        found |= {"model": training_of(find(settings["models"], row["model"])), "tail": settings["rerank"]["tail"]}
    if "timed" in row:
        items = (("model", "models", training_of), ("first_stage", "first_stages", dict))
        of = {key: shown(find(settings[kind], row["timed"][key])) for key, kind, shown in items}
        found["timed"] = of | {"hits": row["timed"]["hits"]}
    return found
