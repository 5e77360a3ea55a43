"""Generators of queries as their stages see them; an experiment may list none."""

from epic.experiment.lookup import find

OF_DRAWING = ("top_k", "max_input", "max_output")


def generators_of(settings: dict) -> list[dict]:
    """Return the generators that an experiment lists."""
    return settings.get("generators", [])


def generator_named(settings: dict, generator: str) -> dict:
    """Return source, revision and sha256 of a generator."""
    found = find(generators_of(settings), generator, "generator")
    return {key: found[key] for key in ("source", "revision", "sha256")}


def drawing_of(settings: dict, generator: str, samples: str, seed: str) -> dict:
    """Return how a generator draws queries, given the numbers in the path of what it makes."""
    found = find(generators_of(settings), generator, "generator")
    return {"samples": int(samples), "seed": int(seed)} | {key: found[key] for key in OF_DRAWING}


def compute_of(settings: dict, generator: str) -> dict:
    """Return the device, threads and precision of a generator."""
    precision = find(generators_of(settings), generator, "generator")["precision"]
    return {key: settings["compute"][key] for key in ("device", "threads")} | {"precision": precision}


def batch_of(settings: dict, generator: str) -> int:
    """Return the passages that a generator reads at a time: memory, not results, depends on it, so it is no param."""
    return find(generators_of(settings), generator, "generator")["batch"]


def used_by(settings: dict, generator: str) -> list[str]:
    """Return the first stages that a generator writes queries for."""
    return [stage["id"] for stage in settings["first_stages"] if (stage["predicted_queries"] or {}).get("generate") == generator]
