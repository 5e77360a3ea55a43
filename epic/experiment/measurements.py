"""Measurements of latency: which rows are timed side by side, and what a measurement needs to know of them. Names, no paths.

Rows of one measurement take turns query by query, so that their differences are fair. Where all vectors are kept, one
measurement has all rows. Where a model's vectors are removed before the next model's are made, each model has its own.

A row of a published run answers no query here. If it says `timed`, the model and the first stage that it names answer for it.
Neither does a row whose first stage is a run file: nobody searches, so that it is not timed.
A model may be too slow for all queries that are timed: its `latency` says with how many it warms up and on how many it counts,
and its rows take their turns only then. Those queries are the last of the warm-up and the first that count, so that whatever
is compared query by query has them in common.
"""

from epic.experiment import lookup

TOGETHER = "together"  # the measurement of all rows; others are named after their model or row
FIRST_STAGES = "first-stages"  # the measurement of first stages that no model stands on
TIMED = ("first-stage", "model")  # kinds of rows that answer queries here
COUNTS = ("warm_up", "measured")  # of queries
PREPARED = {"predicted_queries": "queries predicted", "weighted_text": "words reweighted"}  # of a first stage


def answering(row: dict) -> dict:
    """Return what answers a row's queries when it is timed: itself, or the model and the first stage that it names for that."""
    return row.get("timed", row)


def is_timed(settings: dict, row: dict) -> bool:
    """Tell whether a row is timed here."""
    return (row["kind"] in TIMED or "timed" in row) and not lookup.is_replayed(settings, answering(row)["first_stage"])


def timed_rows(settings: dict) -> list[dict]:
    """List the rows that are timed here."""
    return [row for row in settings["rows"] if is_timed(settings, row)]


def timed_systems(settings: dict) -> dict[str, list[str]]:
    """Return the first stages on which each model is timed, in the order of the rows."""
    systems = [system for system in map(answering, timed_rows(settings)) if "model" in system]
    stages = {system["model"]: {} for system in systems}
    for system in systems:
        stages[system["model"]][system["first_stage"]] = True
    return {model: list(names) for model, names in stages.items()}


def rows_timed(settings: dict, timed: str) -> list[dict]:
    """List the rows of a measurement: all that are timed here, those of a model with the first stages that they stand on,
    first stages that no model stands on, or the one row that is named. None, if no row of the model is timed."""
    rows, systems = timed_rows(settings), timed_systems(settings)
    if timed == TOGETHER:
        return rows
    if timed in systems:
        beside = [row for row in rows if answering(row).get("model") in (timed, None)]
        return [row for row in beside if answering(row)["first_stage"] in systems[timed]]
    if timed == FIRST_STAGES:
        stood_on = {stage for stages in systems.values() for stage in stages}
        return [row for row in rows if row["kind"] == "first-stage" and row["first_stage"] not in stood_on]
    if timed in [model["id"] for model in settings["models"]]:
        return []
    found = lookup.find(settings["rows"], timed, "row")
    if "timed" not in found:
        lookup.row_of_kind(found, TIMED)
    return [found] if is_timed(settings, found) else []


def measurements(settings: dict) -> dict[str, list[str]]:
    """Return the measurements of a whole experiment and the rows of each: one of all rows or, where vectors are not kept until
    all are there, one a model."""
    names = [TOGETHER] if lookup.keeps_stores(settings) else [*timed_systems(settings), FIRST_STAGES]
    found = {name: [row["id"] for row in rows_timed(settings, name)] for name in names}
    return {name: rows for name, rows in found.items() if rows}


def measurement_of(settings: dict, row: str) -> str:
    """Return the measurement of a whole experiment that tells a row's latency: of a first stage, the first that has it."""
    own = answering(lookup.find(settings["rows"], row, "row")).get("model")
    found = [name for name, rows in measurements(settings).items() if row in rows]
    return own if own in found else found[0]


def queries_of(settings: dict, row: dict) -> dict[str, int]:
    """Return with how many queries a row warms up and on how many it counts: its model's own numbers, or the experiment's."""
    shared, model = {key: settings["latency"][key] for key in COUNTS}, answering(row).get("model")
    return shared | (lookup.find(settings["models"], model).get("latency", {}) if model else {})


def timed_settings(settings: dict, timed: str) -> dict[str, dict]:
    """Return the settings at query time of each row of a measurement."""

    def of(row: dict) -> dict:
        stage = lookup.find(settings["first_stages"], answering(row)["first_stage"])
        hits = answering(row).get("hits", settings["latency"]["hits"])
        return {"first_stage": stage, "hits": hits, "compute": lookup.compute_of(settings), "queries": queries_of(settings, row)}

    return {row["id"]: of(row) for row in rows_timed(settings, timed)}


def timed_facts(settings: dict, timed: str) -> dict[str, dict]:
    """Return the facts that a measurement needs about each of its rows."""

    def facts(row: dict) -> dict:
        return {"kind": row["kind"], "keep": row.get("keep"), "family": lookup.family_of_row(settings, answering(row))}

    return {row["id"]: facts(row) for row in rows_timed(settings, timed)}


def done_before(settings: dict) -> dict[str, list[dict]]:
    """Return, by timed row, what was done to passages before any query came, apart from indexing, and by which model if known."""
    found = {}
    for row, system in ((row["id"], answering(row)) for row in timed_rows(settings)):
        stage = lookup.find(settings["first_stages"], system["first_stage"])
        done = [{"says": says} for key, says in PREPARED.items() if stage[key]]
        if "model" in system and lookup.precomputes(settings, system["model"]):
            done.append({"says": "passages encoded", "model": system["model"]})
        found[row] = done
    return found


def timed_models(settings: dict, timed: str) -> list[str | None]:
    """List the models of a measurement; None stands for rows without one."""
    return list(dict.fromkeys(answering(row).get("model") for row in rows_timed(settings, timed)))


def gpus_of_timing(settings: dict, timed: str) -> int:
    """Return the GPUs of a measurement: a first stage runs no model."""
    return lookup.gpus(settings) if any(timed_models(settings, timed)) else 0


def needs_candidates(settings: dict, row: dict) -> bool:
    """Tell whether timed queries' candidates must be known beforehand: those of unpruned rows get their vectors then."""
    return lookup.precomputes(settings, row["model"]) and not lookup.is_pruned(row)
