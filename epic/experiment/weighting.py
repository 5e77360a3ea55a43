"""An experiment's settings as DeepCT's stages see them: weighters, their labels and their training; and the files these read."""

from epic.core.files import InputError
from epic.experiment.lookup import AT_A_TIME, find, relevance_of
from epic.experiment.wanted import Source, output


def weighter_named(settings: dict, weighter: str) -> dict:
    """Return a weighter, or raise an InputError that lists the weighters there are."""
    return find(settings["weighters"], weighter, "weighter")


def regression_of(settings: dict, weighter: str) -> dict:
    """Return all that a weighter's training depends on: nothing of how its weights become text."""
    return {key: weighter_named(settings, weighter)[key] for key in ("encoder", "max_pieces", "train")}


def form_of(settings: dict, weighter: str) -> dict:
    """Return how weights become text, but for what no text depends on: it is no param."""
    weigh = weighter_named(settings, weighter)["weigh"]
    return {key: value for key, value in weigh.items() if key not in AT_A_TIME}


def threads_of_regression(settings: dict, weighter: str) -> int:
    """Return the threads of a weighter's training; one where it has none."""
    return (weighter_named(settings, weighter)["train"] or {"threads": 1})["threads"]


def label_relevance(settings: dict, weighter: str) -> int:
    """Return the lowest grade that counts for the labels of a weighter that is trained."""
    train = weighter_named(settings, weighter)["train"]
    if not train:
        raise InputError(f"weighter {weighter} is not trained, so that it has no labels")
    return relevance_of(settings, train["query_set"])


def labelling(settings: dict, weighter: str) -> dict:
    """Name the inputs of a weighter's labels: queries, judgments, and a list of stop words if it has one."""
    label_relevance(settings, weighter)  # refuses one without labels
    train = weighter_named(settings, weighter)["train"]
    files = {name: output(f"queries.{name}", query_set=train["query_set"]) for name in ("queries", "qrels", "counts")}
    return files | {"stop_words": Source(train["stop_words"]) if train["stop_words"] else []}


def regression(settings: dict, weighter: str) -> dict:
    """Name the inputs of a weighter's training: its encoder, and labels if it is trained."""
    found = weighter_named(settings, weighter)
    labels = output("recall.labels", weighter=weighter) if found["train"] else []
    return {"encoder": output("encoder.folder", encoder=found["encoder"]["id"]), "labels": labels}
