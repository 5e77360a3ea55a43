"""The vocabulary of a model that knows words: its settings, and the files it is made of, by name; no paths."""

from epic.core.files import InputError
from epic.experiment.families import declared
from epic.experiment.lookup import find
from epic.experiment.wanted import Source


def knows_words(settings: dict, model: str) -> bool:
    """Tell whether a model has a vocabulary of words."""
    return declared(find(settings["models"], model, "model")["family"]).words


def vocabulary_of(settings: dict, model: str) -> str:
    """Return the model under whose name a vocabulary is made: of those that know the same words, the first."""
    own = words_of(settings, model), vocabulary(settings, model)
    knowing = [other["id"] for other in settings["models"] if knows_words(settings, other["id"])]
    return next(name for name in knowing if (words_of(settings, name), vocabulary(settings, name)) == own)


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
