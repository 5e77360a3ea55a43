"""Conditions of the published values, and in which an experiment differs. Values are compared only under the same ones.

Most values are of one collection. A row whose values are of another says so, by its own `published_on`.
"""

from collections.abc import Iterator

from epic.experiment.generation import generator_named
from epic.experiment.lookup import counting_model, find, systems
from epic.experiment.weighting import weighter_named


def other_conditions(settings: dict, model: str | None, published: dict | None = None) -> list[str]:
    """Return the differences from the conditions of published values: the collection, and for a model what it is made of.

    A model is made of its encoder, and of the settings that were published of its family: word vectors of TK and Duet, say.
    published: the conditions, if not those of most values.
    """
    published = published or settings["published_on"]
    found = _other_texts_of(settings["data"], published)
    if model is None:
        return found
    entry = find(settings["models"], model)
    encoder, theirs = (entry["encoder"] or {}).get("source"), published["encoders"].get(entry["family"])
    found += [] if encoder == theirs else ["encoder"]
    return [*found, *_others(entry["settings"], published.get("settings", {}).get(entry["family"], {}))]


def _other_texts_of(data: dict, published: dict) -> list[str]:
    """Return what is another of the documents: the collection, or of the same the field that is their text."""
    if data["documents"] != published["documents"]:
        return ["collection"]
    return [] if data["field"] == published["field"] else ["field"]


def _others(ours: dict, published: dict) -> Iterator[str]:
    """Yield the names of published settings, however deep, that ours differ in."""
    for name, value in published.items():
        if isinstance(value, dict):
            yield from _others(ours.get(name) or {}, value)
        elif ours.get(name) != value:
            yield name.replace("_", " ")


def _other_first_stage(settings: dict, first_stage: str, published: dict) -> list[str]:
    """Return "first stage" for another than the published one, or what its texts are written by, where that is another model."""
    stage, found = find(settings["first_stages"], first_stage), []
    if published.get("first_stage", first_stage) != first_stage:
        found.append("first stage")
    weighter, generator = (
        (stage[key] or {}).get(by) for key, by in (("weighted_text", "model"), ("predicted_queries", "generate"))
    )
    if weighter and weighter_named(settings, weighter)["encoder"]["source"] != published.get("weighter"):
        found.append("weighter")
    if generator and generator_named(settings, generator)["source"] != published.get("generator"):
        found.append("generator")
    return found


def row_conditions(settings: dict, row: dict) -> list[str]:
    """Return the differences, for a row, from the conditions of its published values: its model's, and its first stage's."""
    published = row.get("published_on", settings["published_on"])
    texts = _other_first_stage(settings, row["first_stage"], published) if "first_stage" in row else []
    return [*other_conditions(settings, row.get("model"), published), *texts]


def conditions_by_model(settings: dict) -> dict[str | None, list[str]]:
    """Return what differs from the conditions of most published values, the paper's among them, for each model with rows.

    Under None, where no model matters, stands what differs for the one that counts word-pieces.
    """
    found = {model: other_conditions(settings, model) for model in systems(settings)}
    return {None: other_conditions(settings, counting_model(settings)), **found}
