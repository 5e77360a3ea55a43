"""The files that jobs of one model read to show it, to remove its vectors, and to wait for its turn, by name; no paths."""

from epic.core.files import InputError
from epic.experiment import inputs, lookup, measurements, vector_inputs
from epic.experiment.wanted import Output, output


def rows_of(settings: dict, model: str) -> list[dict]:
    """List the rows of a model; refuse one that does not exist or has none."""
    lookup.find(settings["models"], model, "model")
    found = [row for row in lookup.model_rows(settings) if row["model"] == model]
    if not found:
        raise InputError(f"model {model} has no rows")
    return found


def discarding(settings: dict, model: str) -> dict:
    """Name the vectors of a model, and everything that must be there before they are removed: all that is made of them."""
    if lookup.keeps_stores(settings):
        raise InputError("its vectors are kept; write keep: [] to have them removed after use")
    shards = vector_inputs.shards(settings, model)
    pruned = [row for row in rows_of(settings, model) if lookup.is_pruned(row)]
    runs = [output("rerank.run", row=row["id"], query_set=name) for row in pruned for name in lookup.sets_of(settings, row)]
    timed = output("latency.folder", timed=model) if measurements.rows_timed(settings, model) else []
    others = {"latency": timed, "costs": output("costs.costs", model=model)}
    return {"shards": shards, "stores": list(vector_inputs.stores(settings, model).values()), "runs": runs, **others}


def waiting(settings: dict, model: str, all_rows: bool) -> list[Output]:
    """Name what the encoding of a model waits for: if all rows are asked for, that the vectors of the one before are removed."""
    models = lookup.models_with_rows(settings)["precomputing"]
    before = models[models.index(model) - 1] if model in models[1:] else None
    return [output("discard.discarded", model=before)] if before and all_rows and not lookup.keeps_stores(settings) else []


def showing(settings: dict, model: str, timed: str) -> dict:
    """Name everything that a model's page shows, by kind; timed: the measurement of its latencies."""
    rows, precomputes = [row["id"] for row in rows_of(settings, model)], lookup.precomputes(settings, model)
    beside = [row["id"] for row in measurements.rows_timed(settings, model)]
    made = {"costs": "costs.costs", "frequencies": "frequencies.counts", "texts": "interpret.texts"}
    known = made.keys() - ({"frequencies"} if settings["encode"]["passages"] == "candidates" else set())  # values of all passages
    gone = precomputes and not lookup.keeps_stores(settings)
    return {
        "rows": {row: output("rows.row", row=row) for row in rows},
        "cutoffs": inputs.cutoffs(settings)[model],
        "latencies": {row: inputs.latency_of(row, timed) for row in beside},
        "timings": {row: inputs.latency_of(row, timed, "tsv") for row in beside},
        "history": output("train.history", model=model) if lookup.find(settings["models"], model)["loss"] else [],
        **{kind: output(name, model=model) if precomputes and kind in known else [] for kind, name in made.items()},
        "discarded": output("discard.discarded", model=model) if gone else [],
    }


def own_first_stages(settings: dict, model: str) -> dict[str, str]:
    """Return the row of the first stage that each row of a model stands on, where it has one."""
    timed = {row["id"]: measurements.answering(row) for row in measurements.rows_timed(settings, model)}
    alone = {system["first_stage"]: row for row, system in timed.items() if "model" not in system}
    reranking = {row: system["first_stage"] for row, system in timed.items() if "model" in system}
    return {row: alone[stage] for row, stage in reranking.items() if stage in alone}


def compared(settings: dict, model: str) -> list[Output]:
    """Name the per-query values that the tests on a model's page compare."""
    return [file for row in rows_of(settings, model) for file in inputs.own_values(settings, row["id"])]


def tests(settings: dict, model: str) -> list[dict]:
    """List the declared tests of a model's rows against their own first stages, with their inputs."""
    rows = [row["id"] for row in rows_of(settings, model)]
    return [{"row": row} | test for row in rows for test in inputs.own_tests(settings, row)]
