"""Whether a model's candidates are scored on the way, while the collection is encoded, or later by the model itself.

One pass is worth its candidates, of every first stage and query set, where all of a model's rows are asked for. A row by
itself must not need them. A shard that was made one way stays as it is: what is asked for later is no reason to encode again.
"""

from collections.abc import Collection
from pathlib import Path

from epic.experiment.deliverables import asks_for_all_rows, models_asked_for
from epic.experiment.lookup import precomputes

SCORED = "scored.json"  # in a shard that has scores (epic.vectors.asked)


def in_one_pass(name: str, settings: dict, model: str, targets: Collection[str], results="results") -> bool:
    """Tell whether a model of an experiment is encoded and scored in one pass; targets: of the command."""
    if not precomputes(settings, model):
        return False
    if settings["encode"]["passages"] == "candidates":
        return True
    made = next(Path(results, name, "encode", model).glob("*-of-*/header.json"), None)
    if made:
        return made.with_name(SCORED).exists()
    return asks_for_all_rows(name, targets) or model in models_asked_for(name, settings, targets)
