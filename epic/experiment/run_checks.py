"""Rules about first stages that are run files: they have a run for every query set that they are asked for, and no index."""

from collections.abc import Iterator

from epic.experiment.lookup import is_replayed, sets_of, tuning_set, validation_set
from epic.experiment.trained import train_of
from epic.experiment.yaml_lines import Place

OF_AN_INDEX = ("k1", "b")
TEXTS = ("predicted_queries", "weighted_text")


def run_problems(settings: dict) -> Iterator[tuple[Place, str]]:
    """Yield violations of the rules, each at its place in the expansion."""
    for number, stage in enumerate(settings["first_stages"]):
        place = ("first_stages", number)
        if not is_replayed(settings, stage["id"]):
            if absent := [key for key in OF_AN_INDEX if key not in stage]:
                yield (*place, absent[0]), f"a first stage needs {absent[0]}, or run, a run file by query set"
            continue
        for key in (key for key in OF_AN_INDEX if key in stage):
            yield (*place, key), f"a first stage that is a run file has no {key}: nothing is searched here"
        for key in (key for key in TEXTS if stage[key]):
            yield (*place, key), f"a first stage that is a run file has no {key}: nothing is indexed here; say null"
        yield from _runs(settings, stage, (*place, "run"))


def _runs(settings: dict, stage: dict, place: Place) -> Iterator[tuple[Place, str]]:
    """Yield query sets that do not exist, and those that this first stage is asked for without having a run of them."""
    known = [query_set["id"] for query_set in settings["query_sets"]]
    for name in stage["run"]:
        if name not in known:
            yield (*place, name), f"no {name} in query_sets; there are {', '.join(known)}"
    for name, why in asked_for(settings, stage["id"]).items():
        if name not in stage["run"]:
            yield place, f"there is no run of {name}, {why}"


def asked_for(settings: dict, first_stage: str) -> dict[str, str]:
    """Return the query sets that a first stage is searched for, each with the reason."""
    found: dict[str, str] = {}
    for row in (row for row in settings["rows"] if row.get("first_stage") == first_stage):
        found |= {name: f"on which row {row['id']} is scored" for name in sets_of(settings, row) if name not in found}
        if row["kind"] == "model":
            found.setdefault(tuning_set(settings), f"on which the cut-off of row {row['id']} is chosen")
    models = [model["id"] for model in settings["models"]]
    if any(train_of(settings, model)["validation_first_stage"] == first_stage for model in models):
        found.setdefault(validation_set(settings), "on which models are validated (train.validation_first_stage)")
    if settings["triples"].get("first_stage") == first_stage:
        found.setdefault(settings["triples"]["query_set"], "whose hits are drawn as negatives (triples)")
    return found
