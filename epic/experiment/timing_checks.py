"""Rules about what is timed: models that answer for published runs, and models that answer fewer queries than the others."""

from collections.abc import Iterator

from epic.experiment.families import declared
from epic.experiment.lookup import find, is_replayed
from epic.experiment.measurements import COUNTS
from epic.experiment.yaml_lines import Place


def timing_problems(settings: dict) -> Iterator[tuple[Place, str]]:
    """Yield violations of the rules, each at its place in the expansion."""
    for number, row in enumerate(settings["rows"]):
        if "timed" in row:
            yield from _published_run(settings, row, ("rows", number, "timed"))
    for number, model in enumerate(settings["models"]):
        for key in COUNTS if "latency" in model else ():
            if model["latency"][key] > settings["latency"][key]:
                said = f"{model['latency'][key]} is more than latency.{key} ({settings['latency'][key]})"
                yield (
                    ("models", number, "latency", key),
                    f"{said}: a model may be timed on fewer queries than others, never on more",
                )


def _published_run(settings: dict, row: dict, place: Place) -> Iterator[tuple[Place, str]]:
    if row["kind"] != "run-file":
        yield place, f"a row of the kind {row['kind']} has no timed: only a published run names another model to be timed with"
        return
    absent = [key for key in ("model", "first_stage") if row["timed"][key] not in [item["id"] for item in settings[f"{key}s"]]]
    for key in absent:
        there = ", ".join(item["id"] for item in settings[f"{key}s"])
        yield (*place, key), f"no {row['timed'][key]} in {key}s; there are {there}"
    if not absent and is_replayed(settings, row["timed"]["first_stage"]):
        yield (*place, "first_stage"), f"{row['timed']['first_stage']} is a run file, which cannot be searched; name another"
    if not absent and declared(find(settings["models"], row["timed"]["model"])["family"]).precomputes:
        said = f"{row['timed']['model']} reads vectors that were made beforehand, and how many terms they keep is a row's own"
        yield (*place, "model"), f"{said}; name a model that runs over the texts"
