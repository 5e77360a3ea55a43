"""Conditions of the published values, and in which an experiment differs. Values are compared only under the same ones."""

from collections.abc import Iterator

from epic.experiment.generation import generator_named
from epic.experiment.lookup import counting_model, find, systems
from epic.experiment.weighting import weighter_named


def other_conditions(settings: dict, model: str | None) -> list[str]:
    """Return the differences from the conditions of the published values: the collection, and for a model what it is made of.

    A model is made of its encoder, and of the settings that were published of its family: word vectors of TK and Duet, say.
    """
    published = settings["published_on"]
    found = [] if settings["data"]["documents"] == published["documents"] else ["collection"]
    if model is None:
        return found
    entry = find(settings["models"], model)
    encoder, theirs = (entry["encoder"] or {}).get("source"), published["encoders"].get(entry["family"])
    found += [] if encoder == theirs else ["encoder"]
    return [*found, *_others(entry["settings"], published["settings"].get(entry["family"], {}))]


def _others(ours: dict, published: dict) -> Iterator[str]:
    """Yield the names of published settings, however deep, that ours differ in."""
    for name, value in published.items():
        if isinstance(value, dict):
            yield from _others(ours.get(name) or {}, value)
        elif ours.get(name) != value:
            yield name.replace("_", " ")


def _other_texts(settings: dict, first_stage: str) -> list[str]:
    """Return what a first stage's texts are written by, where that is another model than wrote the published ones."""
    stage, published = find(settings["first_stages"], first_stage), settings["published_on"]
    weighter, generator = (
        (stage[key] or {}).get(by) for key, by in (("weighted_text", "model"), ("predicted_queries", "generate"))
    )
    found = []
    if weighter and weighter_named(settings, weighter)["encoder"]["source"] != published["weighter"]:
        found.append("weighter")
    if generator and generator_named(settings, generator)["source"] != published["generator"]:
        found.append("generator")
    return found


def row_conditions(settings: dict, row: dict) -> list[str]:
    """Return the differences, for a row, from the conditions of its published values: its model's, and its first stage's."""
    texts = _other_texts(settings, row["first_stage"]) if "first_stage" in row else []
    return [*other_conditions(settings, row.get("model")), *texts]


def conditions_by_model(settings: dict) -> dict[str | None, list[str]]:
    """Return what differs from the published conditions for each model with rows.

    Under None, where no model matters, stands what differs for the one that counts word-pieces.
    """
    found = {model: other_conditions(settings, model) for model in systems(settings)}
    return {None: other_conditions(settings, counting_model(settings)), **found}
