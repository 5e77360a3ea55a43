"""Effectiveness per query. MRR@10 is the official one: by rank, never by score, over all judged queries.

Measures are named as ir_measures names them. Where judgments are graded, `(rel=2)` says from which grade on they count.
"""

import logging
import math
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import pytrec_eval

from epic.data import read_qrels, read_queries
from epic.files import InputError, numbered_lines, write_text
from epic.runs import ranked_lists

log = logging.getLogger(__name__)
QUERIES_AT_A_TIME = 500  # so that memory does not grow with the run
Qrels = dict[str, dict[str, int]]


class Measure(NamedTuple):
    """A measure, how trec_eval calls it, from which grade on a passage is relevant, and how many hits it looks at."""

    name: str
    trec_eval: str
    relevance: int
    depth: int | None


def measures(hits: int, relevance: int) -> list[Measure]:
    """What a query set is evaluated by; recall at the depth that was asked for, and at no other."""
    graded = f"(rel={relevance})" if relevance > 1 else ""
    found = [Measure("RR@10", "recip_rank", 1, 10), Measure("nDCG@10", "ndcg_cut_10", 1, 10)]
    if graded:
        found.append(Measure(reciprocal_rank(relevance), "recip_rank", relevance, 10))
    return [
        *found,
        Measure(f"AP{graded}", "map", relevance, None),
        Measure(f"R{graded}@{hits}", f"recall_{hits}", relevance, None),
    ]


def reciprocal_rank(relevance: int) -> str:
    """The reciprocal rank that counts for a query set: that of its own grade."""
    return "RR@10" if relevance == 1 else f"RR(rel={relevance})@10"


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


def evaluate(run_path, queries_path, qrels_path, hits: int, relevance: int, out) -> None:
    """Write the values of every judged query as TSV; a run that has queries of another set is refused."""
    known, qrels, wanted, answered = read_queries(queries_path), read_qrels(qrels_path), measures(hits, relevance), set()

    def lists():
        for query_id, found in ranked_lists(run_path):
            if query_id not in known:
                raise InputError(f"{run_path}: query {query_id} is not in {queries_path}; make the run from these queries")
            answered.add(query_id)
            yield query_id, [hit.doc_id for hit in found]

    values = values_of(qrels, lists(), wanted)
    log.info("%d of %d judged queries have hits", len(answered & qrels.keys()), len(qrels))
    lines = ["\t".join(("query_id", *(measure.name for measure in wanted)))]
    lines += ["\t".join((query_id, *map(repr, found))) for query_id, found in values.items()]
    write_text(out, "\n".join(lines) + "\n")


def read_values(path) -> dict[str, dict[str, float]]:
    """What `evaluate` wrote: measure -> query id -> value."""
    lines = [line.split("\t") for _, line in numbered_lines(path)]
    if len(lines) < 2 or lines[0][:2] != ["query_id", "RR@10"] or any(len(line) != len(lines[0]) for line in lines):
        raise InputError(f"{path}: not a table of per-query values; delete it and run again")
    return {name: {line[0]: float(line[column]) for line in lines[1:]} for column, name in enumerate(lines[0]) if column}
