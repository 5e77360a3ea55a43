"""Measures of a ranking, query by query: as the official scripts have them, but by rank and never by score.

Which measures there are, and how each is computed, is in `epic.experiment.measure_names`: a new one is no reason to train again.
"""

import math
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import pytrec_eval

from epic.core.files import InputError

QUERIES_AT_A_TIME = 500  # so that memory does not grow with the run
Qrels = dict[str, dict[str, int]]


class Measure(NamedTuple):
    """A measure, its name in trec_eval, the lowest grade at which a passage is relevant, and the number of hits it looks at."""

    name: str
    trec_eval: str
    relevance: int
    depth: int | None


def values_of(qrels: Qrels, lists: Iterable[tuple[str, list[str]]], wanted: list[Measure]) -> dict[str, list[float]]:
    """Return the values of every judged query, in the order of `wanted`; a query without hits counts as zero.

    lists: (query id, document ids in rank order), as an iterator if a run is large. pytrec_eval sorts by score and breaks
    ties its own way, so it is given scores made from the ranks, exact in float32 and never tied.
    """
    evaluators = [_evaluator(qrels, measure) for measure in wanted]
    found = {query_id: [0.0] * len(wanted) for query_id in qrels}
    judged = ((query_id, doc_ids) for query_id, doc_ids in lists if query_id in qrels and doc_ids)
    while some := list(islice(judged, QUERIES_AT_A_TIME)):
        for place, (measure, evaluator) in enumerate(zip(wanted, evaluators, strict=True)):
            run = {query_id: _by_rank(query_id, doc_ids[: measure.depth]) for query_id, doc_ids in some}
            for query_id, values in evaluator.evaluate(run).items():
                found[query_id][place] = values[measure.trec_eval]
    return found


def _evaluator(qrels: Qrels, measure: Measure) -> pytrec_eval.RelevanceEvaluator:
    family, _, cut = measure.trec_eval.rpartition("_")
    name = f"{family}.{cut}" if cut.isdigit() else measure.trec_eval
    return pytrec_eval.RelevanceEvaluator(qrels, {name}, relevance_level=measure.relevance)


def _by_rank(query_id: str, doc_ids: list[str]) -> dict[str, float]:
    scores = {doc_id: float(len(doc_ids) - place) for place, doc_id in enumerate(doc_ids)}
    if len(scores) != len(doc_ids):
        raise InputError(f"query {query_id}: a document stands twice in its ranking")
    return scores


def mean(values) -> float:
    """Return the mean, summed exactly, so that it does not depend on the order of the queries."""
    values = list(values)
    return math.fsum(values) / len(values)


def mean_of(qrels: Qrels, ranked: dict[str, list[str]], measure: Measure) -> float:
    """Return the mean of a measure over all judged queries; ranked: query id -> document ids in rank order."""
    found = values_of(qrels, ranked.items(), [measure])
    return mean(value for (value,) in found.values())
