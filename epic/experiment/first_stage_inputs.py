"""The files that first stages are made from, by name, as in `epic.experiment.inputs`: texts to index, or a run file."""

from epic.core.files import InputError
from epic.experiment.lookup import find, is_replayed
from epic.experiment.wanted import Output, Shards, Source, output


def expansion(settings: dict, first_stage: str) -> dict:
    """Name the predicted queries and the weighted texts of a first stage, if it has them."""
    stage = find(settings["first_stages"], first_stage, "first stage")
    if is_replayed(settings, first_stage):
        raise InputError(f"first stage {first_stage} is a run file: there is nothing to index")
    weighted, predicted = stage["weighted_text"], stage["predicted_queries"]
    return {"predicted": _predicted(predicted) if predicted else [], "weighted": _weighted(weighted) if weighted else []}


def _predicted(said: dict) -> Source | Shards:
    """Name predicted queries: as they are published, or the shards that a generator writes."""
    if "source" in said:
        return Source(said["source"])
    return Shards("generate.queries", {"generator": said["generate"], "samples": said["samples"], "seed": said["seed"]})


def _weighted(said: dict) -> Source | Shards:
    """Name weighted texts: as they are published, or the shards that a weighter writes."""
    return Source(said["source"]) if "source" in said else Shards("reweigh.texts", {"weighter": said["model"]})


def retrieving(settings: dict, first_stage: str, query_set: str) -> dict[str, Output | Source | list]:
    """Name what a first stage's run is made from: its index, or a run that was made elsewhere, and the collection to check it."""
    stage = find(settings["first_stages"], first_stage, "first stage")
    if not is_replayed(settings, first_stage):
        return {"lucene": output("index.lucene", first_stage=first_stage), "published": [], "manifest": []}
    if query_set not in stage["run"]:
        raise InputError(f"first stage {first_stage} has no run of {query_set}; it has runs of {', '.join(stage['run'])}")
    meant = f"it is the run of {first_stage} on {query_set}, which is made elsewhere (docs/own-collection.md)"
    return {"lucene": [], "published": Source(stage["run"][query_set], meant), "manifest": output("data.manifest")}
