"""Measurements of latency: which rows are timed side by side, and what a measurement needs to know of them. Names, no paths.

Rows of one measurement take turns query by query, so that their differences are fair. Where all vectors are kept, one
measurement has all rows. Where a model's vectors are removed before the next model's are made, each model has its own.
"""

from epic.experiment import lookup

TOGETHER = "together"  # the measurement of all rows; others are named after their model or row
FIRST_STAGES = "first-stages"  # the measurement of first stages that no model stands on
TIMED = ("first-stage", "model")  # kinds of rows that answer queries here


def timed_rows(settings: dict) -> list[dict]:
    """List the rows that are timed here."""
    return [row for row in settings["rows"] if row["kind"] in TIMED]


def rows_timed(settings: dict, timed: str) -> list[dict]:
    """List the rows of a measurement: all that are timed here, those of a model with the first stages that they stand on,
    first stages that no model stands on, or the one row that is named."""
    rows, systems = timed_rows(settings), lookup.systems(settings)
    if timed == TOGETHER:
        return rows
    if timed in systems:
        return [row for row in rows if row.get("model") in (timed, None) and row["first_stage"] in systems[timed]]
    if timed == FIRST_STAGES:
        stood_on = {stage for stages in systems.values() for stage in stages}
        return [row for row in rows if row["kind"] == "first-stage" and row["first_stage"] not in stood_on]
    return [lookup.row_of_kind(lookup.find(settings["rows"], timed, "row"), TIMED)]


def measurements(settings: dict) -> dict[str, list[str]]:
    """Return the measurements of a whole experiment and the rows of each: one of all rows or, where vectors are not kept until
    all are there, one a model."""
    if lookup.keeps_stores(settings):
        return {TOGETHER: [row["id"] for row in timed_rows(settings)]}
    found = {name: [row["id"] for row in rows_timed(settings, name)] for name in (*lookup.systems(settings), FIRST_STAGES)}
    return {name: rows for name, rows in found.items() if rows}


def measurement_of(settings: dict, row: str) -> str:
    """Return the measurement of a whole experiment that tells a row's latency: of a first stage, the first that has it."""
    own = lookup.find(settings["rows"], row, "row").get("model")
    found = [name for name, rows in measurements(settings).items() if row in rows]
    return own if own in found else found[0]


def timed_settings(settings: dict, timed: str) -> dict[str, dict]:
    """Return the settings at query time of each row of a measurement."""
    stages = {row["id"]: lookup.find(settings["first_stages"], row["first_stage"]) for row in rows_timed(settings, timed)}
    shared = {"hits": settings["latency"]["hits"], "compute": lookup.compute_of(settings)}
    return {row: {"first_stage": stage} | shared for row, stage in stages.items()}


def timed_facts(settings: dict, timed: str) -> dict[str, dict]:
    """Return the facts that a measurement needs about each of its rows."""

    def facts(row: dict) -> dict:
        return {"kind": row["kind"], "keep": row.get("keep"), "family": lookup.family_of_row(settings, row)}

    return {row["id"]: facts(row) for row in rows_timed(settings, timed)}


def timed_models(settings: dict, timed: str) -> list[str | None]:
    """List the models of a measurement; None stands for rows without one."""
    return list(dict.fromkeys(row.get("model") for row in rows_timed(settings, timed)))


def gpus_of_timing(settings: dict, timed: str) -> int:
    """Return the GPUs of a measurement: a first stage runs no model."""
    return lookup.gpus(settings) if any("model" in row for row in rows_timed(settings, timed)) else 0


def needs_candidates(settings: dict, row: dict) -> bool:
    """Tell whether timed queries' candidates must be known beforehand: those of unpruned rows get their vectors then."""
    return lookup.precomputes(settings, row["model"]) and not lookup.is_pruned(row)
