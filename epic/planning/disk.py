"""Bytes on the disk: the layers of a model's vectors, outputs that are temporary, and what lies there at once."""

from epic.corpus.msmarco import VOCABULARY
from epic.experiment.lookup import TOGETHER
from epic.vectors.layers import chain, enough, planned

TERM, ROW_SUM = 4, 8  # bytes: a uint16 id and a float16 weight; a checksum in each row of a layer
KEPT = ["stores", "expanded"]  # of an experiment that does not say what it keeps: everything


def bytes_of_a_vector(settings: dict, keep: int | None = None) -> int:
    """Return the bytes of a passage in all layers, or in those from which `keep` terms are taken."""
    layers = planned(settings["encode"]["keep"], VOCABULARY)
    read = layers if keep is None else chain(layers, enough(layers, keep))
    return sum(TERM * layer.width + ROW_SUM for layer in read)


def is_copied(settings: dict, keep: int) -> bool:
    """Tell whether a store of fewer terms is a copy, made by pruning; else it is a layer, which encoding writes."""
    return not chain(planned(settings["encode"]["keep"], VOCABULARY), keep)


def is_temporary(settings: dict, what: str) -> bool:
    """Tell whether an experiment removes its `stores`, or its `expanded` texts, once nothing needs them any more."""
    return what not in settings.get("keep", KEPT)


def at_once(found: list[tuple], one_after_the_other: bool) -> float:
    """Return the most temporary bytes that lie there at once; found: pairs of a job and its cost.

    Those of the first stages are gone when vectors are written, since encoding needs the runs of all of them. Models come one
    after the other, unless they are timed together or run on many machines: then their stores are all there at the end.
    """
    groups: dict[str, float] = {}
    together = any(job.rule == "latency" and job.wildcards.get("timed") == TOGETHER for job, _ in found)
    for job, cost in found:
        model = job.wildcards.get("model")
        group = "" if model is None else model if one_after_the_other and not together else "models"
        groups[group] = groups.get(group, 0.0) + cost.temporary
    return max(groups.values(), default=0.0)
