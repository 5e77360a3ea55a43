"""Bytes on the disk: the layers of a model's vectors, outputs that are temporary, and what lies there at once."""

from epic.experiment.lookup import TOGETHER

TERM = 4  # bytes: a uint16 id and a float16 weight
KEPT = ["stores", "expanded"]  # of an experiment that does not say what it keeps: everything


def widths(settings: dict) -> list[int]:
    """Return the numbers of terms that encoding keeps of a passage, the smallest first."""
    encode = settings["encode"]
    return sorted(encode["keep"]) if "keep" in encode else [encode["max_terms"]]


def layers(kept: list[int]) -> list[int]:
    """Return the terms of each file of a model's vectors, from numbers of kept terms: a wider one holds only what the one
    before it lacks, unless that has less than half of it; then it stands alone and is read alone.
    """
    found, before = [], 0
    for terms in kept:
        found.append(terms - before if 2 * before >= terms else terms)
        before = terms
    return found


def bytes_of_a_vector(settings: dict) -> int:
    """Return the bytes of a passage in all layers."""
    return TERM * sum(layers(widths(settings)))


def is_copied(settings: dict) -> bool:
    """Tell whether the stores of fewer terms are copies, made by pruning; else they are layers, which encoding writes."""
    return "keep" not in settings["encode"]


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
