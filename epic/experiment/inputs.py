"""The files that a job reads, by name: outputs of other rules, published files, files of datasets. No paths.

`workflow/rules/inputs.smk` turns the names into paths. An empty list stands for an input that a job does not have.
"""

from collections.abc import Callable

from epic.core.files import InputError
from epic.experiment import lookup, measurements, trained, vector_inputs, word_inputs
from epic.experiment.first_stage_inputs import expansion
from epic.experiment.lookup import find
from epic.experiment.wanted import Dataset, Output, Shards, Source, Within, output


def documents(settings: dict) -> Dataset:
    """Name the collection."""
    return Dataset(settings["data"]["documents"], ("docs",))


def queries(settings: dict, query_set: str) -> Dataset:
    """Name the queries and judgments of a query set, as they are published."""
    return Dataset(find(settings["query_sets"], query_set, "query set")["dataset"], ("queries", "qrels"))


def counted_queries(settings: dict) -> list[Dataset]:
    """Name the queries and judgments that are counted."""
    return [Dataset(name, ("queries", "qrels")) for name in settings["statistics"]["queries"]]


def triples(settings: dict) -> dict:
    """Name the inputs of training triples: published pairs, or queries, judgments and a run to sample from."""
    source = settings["triples"]
    if source["source"] == "docpairs":
        return {"published": Dataset(source["dataset"], ("docpairs", "queries"))}
    return _judged_run(source["query_set"], source["first_stage"])


def _judged_run(query_set: str, first_stage: str) -> dict:
    return {
        "queries": output("queries.queries", query_set=query_set),
        "qrels": output("queries.qrels", query_set=query_set),
        "counts": output("queries.counts", query_set=query_set),
        "run": output("retrieve.run", query_set=query_set, first_stage=first_stage),
        "answers": output("retrieve.answers", query_set=query_set, first_stage=first_stage),
    }


def training(settings: dict, model: str) -> dict:
    """Name the inputs of a model's training: encoder, words or weights, if any, validation queries, triples if it learns."""
    entry, wanted = find(settings["models"], model, "model"), trained.triples_of(settings, model)
    judged = _judged_run(lookup.validation_set(settings), trained.train_of(settings, model)["validation_first_stage"])
    return {
        "encoder": output("encoder.folder", encoder=entry["encoder"]["id"]) if entry["encoder"] else [],
        "vocabulary": vocabulary(settings, model) if word_inputs.knows_words(settings, model) else [],
        "start": Source(entry["start"]["source"]) if entry["start"] else [],
        **{f"validation_{name}": file for name, file in judged.items()},
        **{name: output(f"triples.{name}", first=wanted) if entry["loss"] else [] for name in ("triples", "queries")},
    }


def vocabulary(settings: dict, model: str) -> Output:
    """Name the vocabulary of a model: models that know the same words have one."""
    return output("vocabulary.folder", model=word_inputs.vocabulary_of(settings, model))


def tuning(settings: dict, model: str, first_stage: str) -> dict:
    """Name the inputs for choosing the cut-off of a model on a first stage."""
    query_set = lookup.tuning_set(settings)
    vectors = output("weigh.vectors", model=model, query_set=query_set) if lookup.precomputes(settings, model) else []
    checkpoint = output("train.checkpoint", model=model)
    return _judged_run(query_set, first_stage) | {"checkpoint": checkpoint, "vectors": vectors}


def shown_qrels(settings: dict) -> dict[str, Output]:
    """Name the judgments that choose a passage to be shown, by query set."""
    return {name: output("queries.qrels", query_set=name) for name in lookup.shown_sets(settings)}


def shown_predictions(settings: dict) -> Source | Shards | list:
    """Name the queries that were predicted for the passages to be shown, as they are published or generated."""
    stage = lookup.expanded_stage(settings)
    return expansion(settings, stage)["predicted"] if stage and settings["texts"]["passages"] else []


def published_run(settings: dict, row: str, query_set: str) -> Source:
    """Name the file of a published run."""
    return Source(lookup.published_run(find(settings["rows"], row, "row"), query_set))


def reranking(settings: dict, row: str, query_set: str) -> dict:
    """Name the inputs of a row's re-ranking; a store only if the row is pruned, query vectors only if its model precomputes."""
    found = lookup.row_of_kind(find(settings["rows"], row, "row"), ("model",))
    model, stage = found["model"], found["first_stage"]
    precomputed, gathered = lookup.precomputes(settings, model), found.get("keep") in settings["encode"]["keep"]
    return {
        "checkpoint": output("train.checkpoint", model=model),
        "store": output("prune.store", model=model, keep=found["keep"]) if lookup.is_pruned(found) else [],
        "shards": Shards("encode.vectors", {"model": model}) if gathered else [],  # the store only names them
        "cutoff": output("tune.cutoff", model=model, first_stage=stage),
        "vectors": output("weigh.vectors", model=model, query_set=query_set) if precomputed else [],
        "run": output("retrieve.run", first_stage=stage, query_set=query_set),
        "answers": output("retrieve.answers", first_stage=stage, query_set=query_set),
    }


def timing(settings: dict, timed: str, in_one_pass: Callable[[str], bool] = lambda model: False) -> dict[str, dict]:
    """Name the files that each row of a measurement needs at query time, by row; in_one_pass: whether a model's unpruned vectors
    of timed candidates were kept when it was encoded."""
    rows = measurements.rows_timed(settings, timed)
    if not rows:
        raise InputError(f"{timed} has nothing to time: first stages that are run files are not searched")
    return {row["id"]: _at_query_time(settings, row, in_one_pass) for row in rows}


def _at_query_time(settings: dict, row: dict, in_one_pass: Callable[[str], bool]) -> dict:
    system = measurements.answering(row)
    files = {"lucene": output("index.lucene", first_stage=system["first_stage"])}
    if "timed" in row:  # nothing was tuned: the published run says how many hits were re-ranked
        files |= {"manifest": output("data.manifest"), "checkpoint": output("train.checkpoint", model=system["model"])}
        files |= {name: [] for name in ("cutoff", "store", "shards", "run")}
    if row["kind"] == "model":
        more = reranking(settings, row["id"], settings["latency"]["query_set"]) | {"manifest": output("data.manifest")}
        files |= {name: more[name] for name in ("manifest", "checkpoint", "cutoff", "store", "shards")}
        files["run"] = more["run"] if measurements.needs_candidates(settings, row) else []
        files |= vector_inputs.scored(settings, row["model"]) if files["run"] and in_one_pass(row["model"]) else {}
    return files


def timed_queries(settings: dict) -> Output:
    """Name the queries that are timed."""
    return output("queries.queries", query_set=settings["latency"]["query_set"])


def latency_of(row: str, timed: str, kind: str = "json") -> Within:
    """Name the latency of a row in a measurement: its summary, or as `tsv` every query's."""
    return Within(output("latency.folder", timed=timed), f"{row}.{kind}")


def scored_run(settings: dict, row: str, query_set: str) -> dict[str, Output]:
    """Name the run that a row is scored on: re-ranked, taken over, or the first stage's own; and its queries without hits."""
    found = lookup.row_of_kind(find(settings["rows"], row, "row"), ("first-stage", "model", "run-file"))
    if found["kind"] == "run-file":
        return {name: output(f"replay.{name}", row=row, query_set=query_set) for name in ("run", "answers")}
    stage = {"first_stage": found["first_stage"], "query_set": query_set}
    run = output("rerank.run", row=row, query_set=query_set) if found["kind"] == "model" else output("retrieve.run", **stage)
    return {"run": run, "answers": output("retrieve.answers", **stage)}


def values(row: str, query_set: str) -> Output:
    """Name the per-query values of a row."""
    return output("evaluate.values", row=row, query_set=query_set)


def row_facts(settings: dict, row: str) -> dict:
    """Name evaluations and runs of a row, its cut-off if it re-ranks, the model it is timed with; no files for a row not run."""
    found = find(settings["rows"], row, "row")
    sets = lookup.sets_of(settings, found)
    if not sets:
        return {}
    scored = [scored_run(settings, row, name) for name in sets]
    files = {"values": [values(row, name) for name in sets], "runs": [one["run"] for one in scored]}
    files["answers"] = [one["answers"] for one in scored]
    files["counts"] = [output("queries.counts", query_set=name) for name in sets]
    if found["kind"] == "model":
        files |= {name: reranking(settings, row, sets[0])[name] for name in ("cutoff", "checkpoint")}
    if "timed" in found:
        files["checkpoint"] = output("train.checkpoint", model=found["timed"]["model"])
    return files


def page_latency(settings: dict, row: str, timed: Callable[[str], str]) -> Within | list:
    """Name the latency that a row's page shows; timed: gives the measurement of a row that is timed."""
    return latency_of(row, timed(row)) if measurements.is_timed(settings, find(settings["rows"], row, "row")) else []


def own_values(settings: dict, row: str) -> list[Output]:
    """Name the per-query values that a row's declared tests against its own first stage compare."""
    tests = lookup.own_tests(settings, find(settings["rows"], row, "row"))
    return [values(name, query_set) for baseline, query_set in tests for name in (row, baseline)]


def own_tests(settings: dict, row: str) -> list[dict]:
    """List the declared tests of a row against its own first stage, with their inputs."""
    return [
        {
            "baseline_id": baseline,
            "query_set": query_set,
            "metric": lookup.metric_of(settings, query_set),
            "system": values(row, query_set),
            "baseline": values(baseline, query_set),
        }
        for baseline, query_set in lookup.own_tests(settings, find(settings["rows"], row, "row"))
    ]


def compared_values(settings: dict, query_set: str) -> dict[str, Output]:
    """Name the per-query values of all rows that a declared comparison names, by row."""
    return {row: values(row, query_set) for row in lookup.compared_rows(settings, query_set)}


def tests(settings: dict) -> dict[str, Output]:
    """Name the significance tests by query set."""
    return {name: output("significance.tests", query_set=name) for name in lookup.with_purpose(settings, "test")}


def headline_tests(settings: dict) -> Output:
    """Name the significance tests of the query set whose numbers stand in the table."""
    return output("significance.tests", query_set=settings["evaluate"]["headline"])


def latencies(settings: dict) -> dict[str, Within]:
    """Name the latency of each timed row."""
    rows = [row["id"] for row in measurements.timed_rows(settings)]
    return {row: latency_of(row, measurements.measurement_of(settings, row)) for row in rows}


def timings(settings: dict) -> dict[str, dict[str, Within]]:
    """Name every query's latencies by measurement and row: only rows of one measurement can be compared query by query."""
    found = measurements.measurements(settings)
    return {timed: {row: latency_of(row, timed, "tsv") for row in rows} for timed, rows in found.items()}


def cutoffs(settings: dict) -> dict[str, dict[str, Output]]:
    """Name the tuned cut-offs by model and first stage."""
    return {
        model: {stage: output("tune.cutoff", model=model, first_stage=stage) for stage in stages}
        for model, stages in lookup.systems(settings).items()
    }


def by_model(settings: dict) -> dict[str, dict[str, Output]]:
    """Name the results of each model's training, values, vectors and texts; only for models that have such."""
    models = lookup.models_with_rows(settings)
    kinds = {"histories": ("trained", "train.history"), "frequencies": ("precomputing", "frequencies.counts")}
    kinds |= {"costs": ("precomputing", "costs.costs"), "texts": ("precomputing", "interpret.texts")}
    found = {kind: {model: output(name, model=model) for model in models[which]} for kind, (which, name) in kinds.items()}
    return found if settings["encode"]["passages"] == "all" else found | {"frequencies": {}}  # else most values are not known


def costs(settings: dict) -> dict[str, Output]:
    """Name the costs of each model that precomputes."""
    return by_model(settings)["costs"]


def by_row(settings: dict) -> dict[str, dict]:
    """Name, for each row that is run, its latency and the values on the headline query set; timings by measurement and row."""
    headline = settings["evaluate"]["headline"]
    scored = [row["id"] for row in settings["rows"] if headline in lookup.sets_of(settings, row)]
    return {
        "latencies": latencies(settings),
        "timings": timings(settings),
        "values": {row: values(row, headline) for row in scored},
    }


def rows(settings: dict) -> dict[str, Output]:
    """Name the facts of every row."""
    return {row["id"]: output("rows.row", row=row["id"]) for row in settings["rows"]}


def report(settings: dict) -> dict:
    """Name the inputs of the report, except its figures; by name, and within that by model, row or query set."""
    return {
        "table": output("table.json"),
        "claims": output("claims.json"),
        "metadata": output("metadata.metadata"),
        "rows": rows(settings),
        "significance": tests(settings),
        **{kind: by_row(settings)[kind] for kind in ("latencies", "timings")},
        **{kind: by_model(settings)[kind] for kind in ("costs", "texts")},
    }


def query_files(settings: dict) -> dict[str, Output]:
    """Name the queries and judgments of every query set."""
    names = [query_set["id"] for query_set in settings["query_sets"]]
    return {f"{name}.{kind}": output(f"queries.{kind}", query_set=name) for name in names for kind in ("queries", "qrels")}


def checkpoints(settings: dict) -> dict[str, Output]:
    """Name the checkpoints by model."""
    models = [*lookup.systems(settings), *measurements.timed_systems(settings)]
    return {model: output("train.checkpoint", model=model) for model in dict.fromkeys(models)}
