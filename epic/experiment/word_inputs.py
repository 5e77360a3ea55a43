"""The vocabulary of a model that knows words: its settings, and the files it is made of, by name; no paths."""

from epic.core.files import InputError
from epic.experiment.families import declared
from epic.experiment.lookup import find
from epic.experiment.wanted import Source


def knows_words(settings: dict, model: str) -> bool:
    """Tell whether a model has a vocabulary of words."""
    return declared(find(settings["models"], model, "model")["family"]).words


def words_of(settings: dict, model: str) -> dict:
    """Return the settings of a model's vocabulary, but for its sources; refuse a model that has none."""
    if not knows_words(settings, model):
        raise InputError(f"model {model} has no vocabulary: its family knows no words")
    said = find(settings["models"], model)["settings"]
    words = {"tokeniser": said["words"]["tokeniser"]}
    if not said["words"].get("vocabulary"):
        words |= {"at_least": said["words"].get("at_least") or 1, "most": said["words"].get("most")}
    return {"words": words, "dimensions": said["dimensions"] if said["words"].get("vectors") else None}


def vocabulary(settings: dict, model: str) -> dict:
    """Name the published words, idf and vectors of a model's vocabulary, those it has."""
    words_of(settings, model)
    words = find(settings["models"], model, "model")["settings"]["words"]
    return {name: Source(words[name]) if words.get(name) else [] for name in ("vocabulary", "idf", "vectors")}
