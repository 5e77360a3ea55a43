"""An experiment's settings as encoding sees them: vectors, word-pieces, and the candidates that are scored on the way."""

from epic.experiment.lookup import find, is_pruned, precomputes, systems, tuning_set, with_purpose
from epic.experiment.measurements import timed_rows
from epic.experiment.trained import max_cutoff

BEYOND = 20  # hits beyond a cut-off whose vectors are timed: equal scores may come in another order, one query at a time


def encoder_of(settings: dict, model: str) -> str:
    """Return the encoder whose tokenizer a model has."""
    return find(settings["models"], model, "model")["encoder"]["id"]


def asks_for_batches(settings: dict, encoder: str) -> bool:
    """Tell whether a model of an encoder wants to know the batches of the released code."""
    models = [model for model in settings["models"] if model["encoder"] and model["encoder"]["id"] == encoder]
    return any(model["settings"].get("released_batches", False) for model in models)


def precomputing_systems(settings: dict) -> dict[str, list[str]]:
    """Return the first stages that each model re-ranks whose passages are encoded beforehand."""
    return {model: stages for model, stages in systems(settings).items() if precomputes(settings, model)}


def reranked_sets(settings: dict) -> list[str]:
    """Return the query sets whose first-stage hits are re-ranked after training: for the choice of cut-offs, and for tests."""
    return list(dict.fromkeys([tuning_set(settings), *with_purpose(settings, "test")]))


def deepest(settings: dict, query_set: str) -> int:
    """Return the hits of a query set's runs that may be re-ranked by vectors, whatever cut-off is chosen."""
    cutoffs = [max_cutoff(settings, model) for model in precomputing_systems(settings)] or [settings["tune"]["max_cutoff"]]
    return min(find(settings["query_sets"], query_set)["hits"], max(cutoffs))


def encoded_depth(settings: dict, query_set: str) -> int:
    """Return the hits of a query set's runs that are encoded where only candidates are: all that may be re-ranked or timed."""
    deepest_cutoff, timed = deepest(settings, query_set), settings["latency"]
    if query_set != timed["query_set"] or not timed_rows(settings):
        return deepest_cutoff
    return min(find(settings["query_sets"], query_set)["hits"], max(timed["hits"], deepest_cutoff) + BEYOND)


def timed_unpruned(settings: dict, model: str, query_set: str) -> tuple[int, int]:
    """Return how many queries of a set are timed with unpruned vectors of a model, and the hits of each; the cut-off is not
    known before its vectors are."""
    timed = settings["latency"]
    unpruned = [row for row in timed_rows(settings) if row.get("model") == model and not is_pruned(row)]
    if query_set != timed["query_set"] or not unpruned:
        return 0, 0
    return timed["warm_up"] + timed["measured"], timed["hits"] + BEYOND
