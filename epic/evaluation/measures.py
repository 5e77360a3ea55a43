"""Measures of a ranking, query by query: MRR@10 as the official script has it, by rank and never by score.

Measures are named as ir_measures names them. Where judgments are graded, `(rel=2)` says from which grade on they count.
"""

import math
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import pytrec_eval

from epic.files import InputError

QUERIES_AT_A_TIME = 500  # so that memory does not grow with the run
Qrels = dict[str, dict[str, int]]


class Measure(NamedTuple):
    """A measure, how trec_eval calls it, from which grade on a passage is relevant, and how many hits it looks at."""

    name: str
    trec_eval: str
    relevance: int
    depth: int | None


def values_of(qrels: Qrels, lists: Iterable[tuple[str, list[str]]], wanted: list[Measure]) -> dict[str, list[float]]:
    """The values of every judged query, in the order of `wanted`; one that was not answered counts as zero.

    lists: (query id, document ids in rank order), as an iterator where a run is large. pytrec_eval sorts by score and
    breaks ties its own way, so it is given scores made from the ranks, exact in float32 and never tied.
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
    """The mean, summed exactly, so that it does not depend on the order of the queries."""
    values = list(values)
    return math.fsum(values) / len(values)


def mrr_at_10(qrels: Qrels, ranked: dict[str, list[str]], relevance: int = 1) -> float:
    """MRR@10 over all judged queries; ranked: query id -> document ids in rank order."""
    found = values_of(qrels, ranked.items(), [Measure("RR@10", "recip_rank", relevance, 10)])
    return mean(value for (value,) in found.values())
