"""Bytes on the disk: the layers of a model's vectors, outputs that are temporary, and what lies there at once."""

from epic.corpus.msmarco import VOCABULARY
from epic.experiment.measurements import TOGETHER
from epic.vectors.layers import chain, enough, planned

TERM, ROW_SUM = 4, 8  # bytes: a uint16 id and a float16 weight; a checksum in each row of a layer


def bytes_of_a_vector(settings: dict, keep: int | None = None) -> int:
    """Return the bytes of a passage in all layers, or in those from which `keep` terms are taken."""
    layers = planned(settings["encode"]["keep"], VOCABULARY)
    read = layers if keep is None else chain(layers, enough(layers, keep))
    return sum(TERM * layer.width + ROW_SUM for layer in read)


def is_copied(settings: dict, keep: int) -> bool:
    """Tell whether a store of fewer terms is a copy, made by pruning; else it is a layer, which encoding writes."""
    return not chain(planned(settings["encode"]["keep"], VOCABULARY), keep)


def at_once(found: list[tuple], settings: dict, place) -> float:
    """Return the most bytes that lie there at once of what is removed again; found: pairs of a job and its cost.

    That is temporary results, and what jobs need while they run. Those of the first stages are gone when vectors are written:
    encoding needs their runs. Models come one after the other, unless they are timed together or run on many machines.
    """
    together = place.cluster_jobs is not None or any(job.wildcards.get("timed") == TOGETHER for job, _ in found)
    phases: dict[str, list[tuple]] = {}
    for job, cost in found:
        model = _model_of(job, settings)
        phases.setdefault("" if model is None else "models" if together else model, []).append((job, cost))
    return max(map(lambda some: _in_one_phase(some, place), phases.values()), default=0.0)


def _in_one_phase(found: list[tuple], place) -> float:
    """Return the temporary bytes of some jobs, and what those of each rule that run side by side need at most."""
    scratch: dict[str, list[tuple]] = {}
    for job, cost in found:
        scratch.setdefault(job.rule, []).append((cost.scratch, place.at_once(job)))
    return sum(cost.temporary for _, cost in found) + sum(map(_largest, scratch.values()))


def _largest(found: list[tuple]) -> float:
    """Return the sum of the largest of some sizes, as many as run side by side; found: pairs of a size and of that number."""
    return sum(sorted((size for size, _ in found), reverse=True)[: min(side_by_side for _, side_by_side in found)])


def _model_of(job, settings: dict) -> str | None:
    """Return the model that a job is for; None for one of the first stages."""
    timed, models = job.wildcards.get("timed"), [model["id"] for model in settings["models"]]
    if timed in (TOGETHER, *models):
        return timed
    name = timed or job.wildcards.get("row")
    row = next((row for row in settings["rows"] if row["id"] == name), {})
    return job.wildcards.get("model") or row.get("model")
