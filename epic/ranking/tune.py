"""The re-ranking cut-off: the number of first-stage hits worth re-ranking, chosen on the validation queries."""

import logging

from epic.core.files import write_json
from epic.corpus.runs import Run
from epic.evaluation.measures import Measure, mean_of
from epic.experiment.measure_labels import spoken
from epic.ranking.rerank import merge

log = logging.getLogger(__name__)


def curve(qrels, first: Run, scored: Run, max_cutoff: int, measure: Measure) -> list[float]:
    """Return the mean of a measure at cut-offs 1, 2, ..., max_cutoff; hits below the cut-off keep their first-stage order."""
    values = []
    for cutoff in range(1, max_cutoff + 1):
        order = {}
        for query_id, hits in first.items():
            merged = merge(scored[query_id][:cutoff], hits[cutoff:], tail="keep")
            order[query_id] = [hit.doc_id for hit in merged]
        values.append(mean_of(qrels, order, measure))
    return values


def best_cutoff(values: list[float], least: int = 1) -> int:
    """Return the smallest cut-off with the best value, from the cut-off `least` on."""
    return values.index(max(values[least - 1 :]), least - 1) + 1


def write_cutoff(values: list[float], measure: Measure, out, least: int = 1) -> None:
    """Write the chosen cut-off with the whole curve of a measure, since a choice on few queries is noisy."""
    cutoff = best_cutoff(values, least)
    log.info("cut-off %d, %s %.4f", cutoff, spoken(measure.name), values[cutoff - 1])
    write_json(out, {"cutoff": cutoff, "curve": values})
