"""Conditions of the published values, and in which an experiment differs. Values are compared only under the same ones."""

from epic.experiment.lookup import counting_model, find, systems


def other_conditions(settings: dict, model: str | None) -> list[str]:
    """Return the differences from the conditions of the published values: the collection, and for a model its encoder."""
    published = settings["published_on"]
    found = [] if settings["data"]["documents"] == published["documents"] else ["collection"]
    if model is None:
        return found
    entry = find(settings["models"], model)
    encoder, theirs = (entry["encoder"] or {}).get("source"), published["encoders"].get(entry["family"])
    return found if encoder == theirs else [*found, "encoder"]


def row_conditions(settings: dict, row: dict) -> list[str]:
    """Return the differences, for a row, from the conditions of its published values."""
    return other_conditions(settings, row.get("model"))


def conditions_by_model(settings: dict) -> dict[str | None, list[str]]:
    """Return what differs from the published conditions for each model with rows.

    Under None, where no model matters, stands what differs for the one that counts word-pieces.
    """
    found = {model: other_conditions(settings, model) for model in systems(settings)}
    return {None: other_conditions(settings, counting_model(settings)), **found}
