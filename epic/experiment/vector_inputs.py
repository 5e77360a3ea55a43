"""The files that jobs with passage vectors read, by name, as in `epic.experiment.inputs`."""

from epic.core.files import InputError
from epic.experiment import encoding, lookup
from epic.experiment.lookup import find
from epic.experiment.wanted import Output, Shards, output


def precomputing(settings: dict, model: str) -> Output:
    """Name the checkpoint of a model whose passages are encoded beforehand; another model is refused."""
    find(settings["models"], model, "model")
    if not lookup.precomputes(settings, model):
        raise InputError(f"model {model} is of a family that precomputes nothing: it has no vectors")
    return output("train.checkpoint", model=model)


def shards(settings: dict, model: str) -> Shards:
    """Name the encoded passages of a model."""
    precomputing(settings, model)
    return Shards("encode.vectors", {"model": model})


def vectors_and_stores(settings: dict, model: str) -> dict:
    """Name all files that tell the cost of a model's vectors."""
    kept = list(stores(settings, model).values())
    return {
        "paces": Shards("encode.pace", {"model": model}),
        "shards": Shards("encode.vectors", {"model": model}),
        "stores": kept,
    }


def stores(settings: dict, model: str) -> dict[int, Output]:
    """Name all stores of a model by the number of kept terms, the widest first."""
    return {keep: output("prune.store", model=model, keep=keep) for keep in lookup.kept_terms(settings, model)}


def counting(settings: dict) -> dict:
    """Name the files of the model that counts word-pieces: one that precomputes, whose encoder's shards count the passages'.

    Where only candidates are encoded nobody counts the whole collection.
    """
    model = lookup.counting_model(settings)
    if model is None:
        return {"shards": [], "checkpoint": []}
    pieces = Shards("tokenise.pieces", {"encoder": encoding.encoder_of(settings, model)})
    whole = settings["encode"]["passages"] == "all"
    return {"shards": pieces if whole else [], "checkpoint": output("train.checkpoint", model=model)}


def encoded_passages(settings: dict) -> Output | list:
    """Name the list of the passages that are encoded, unless all are."""
    return output("passages.positions") if settings["encode"]["passages"] == "candidates" else []


def candidate_runs(settings: dict) -> dict[str, list]:
    """Name the first-stage runs that any model re-ranks, with the hits of each that may be re-ranked or timed."""
    stages = dict.fromkeys(stage for stages in encoding.precomputing_systems(settings).values() for stage in stages)
    found = [(name, stage) for name in encoding.reranked_sets(settings) for stage in stages]
    return {
        "runs": [output("retrieve.run", first_stage=stage, query_set=name) for name, stage in found],
        "depths": [encoding.encoded_depth(settings, name) for name, _ in found],
    }


def candidates(settings: dict, model: str) -> list[dict]:
    """Name the query sets whose candidates a model scores while it encodes, each with its files."""
    precomputing(settings, model)
    return [
        {
            "name": name,
            "vectors": output("weigh.vectors", model=model, query_set=name),
            "runs": [
                output("retrieve.run", first_stage=stage, query_set=name)
                for stage in encoding.precomputing_systems(settings).get(model, [])
            ],
            "depth": encoding.deepest(settings, name),
            "timed": encoding.timed_unpruned(settings, model, name),
        }
        for name in encoding.reranked_sets(settings)
    ]


def candidate_files(settings: dict, model: str) -> list[Output]:
    """Name all files of these query sets."""
    return [file for query_set in candidates(settings, model) for file in (query_set["vectors"], *query_set["runs"])]


def scored(settings: dict, model: str) -> dict:
    """Name the candidates of a model, and the shards that hold their scores."""
    return {"candidates": output("candidates.folder", model=model), "scored": shards(settings, model)}
