"""Bytes on the disk: the layers of a model's vectors, outputs that are temporary, and what lies there at once."""

from itertools import pairwise

from epic.experiment.lookup import TOGETHER

TERM, ROW_SUM = 4, 8  # bytes: a uint16 id and a float16 weight; a checksum in each row of a layer
FEW = 4  # a layer that has at least so many times the terms of the one before stands alone
KEPT = ["stores", "expanded"]  # of an experiment that does not say what it keeps: everything


def widths(settings: dict) -> list[int]:
    """Return the numbers of terms that encoding keeps of a passage, the smallest first."""
    encode = settings["encode"]
    return sorted(encode["keep"]) if "keep" in encode else [encode["max_terms"]]


def layers(kept: list[int]) -> list[int]:
    """Return the terms of each layer of a model's vectors, from ascending numbers of kept terms: a wider layer holds only what
    the one before it lacks, unless that has few; then it holds all, and is read alone.
    """
    return [terms if FEW * before <= terms else terms - before for before, terms in pairwise([0, *kept])]


def bytes_of_a_vector(settings: dict) -> int:
    """Return the bytes of a passage in all layers."""
    if "keep" not in settings["encode"]:
        return TERM * widths(settings)[-1]
    return sum(TERM * terms + ROW_SUM for terms in layers(widths(settings)))


def is_copied(settings: dict, keep: int) -> bool:
    """Tell whether a store of fewer terms is a copy, made by pruning; else it is a layer, which encoding writes."""
    return keep not in settings["encode"].get("keep", [])


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
