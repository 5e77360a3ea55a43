"""Effectiveness per query. MRR@10 is the official one: by rank, never by score, over all judged queries."""

import math

import pytrec_eval

from epic.data import read_qrels
from epic.files import InputError, numbered_lines, write_text
from epic.runs import read_run

METRICS = ("RR@10", "nDCG@10")


def per_query(qrels: dict[str, dict[str, int]], ranked: dict[str, list[str]], relevance: int = 1) -> dict[str, dict[str, float]]:
    """RR@10 and nDCG@10 of every judged query; one that was not answered counts as zero.

    ranked: query id -> document ids in rank order; relevance: the lowest grade that counts for RR. pytrec_eval sorts by
    score and breaks ties its own way, so it is given scores made from the ranks, exact in float32 and never tied.
    """
    ten = {query_id: doc_ids[:10] for query_id, doc_ids in ranked.items() if query_id in qrels and doc_ids}
    for query_id, doc_ids in ten.items():
        if len(set(doc_ids)) != len(doc_ids):
            raise InputError(f"query {query_id}: a document stands twice among the first ten")
    run = {query_id: {doc_id: float(10 - i) for i, doc_id in enumerate(ids)} for query_id, ids in ten.items()}
    measured = {}
    if run:
        measured = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "ndcg_cut.10"}, relevance_level=relevance).evaluate(run)
    names = {"RR@10": "recip_rank", "nDCG@10": "ndcg_cut_10"}
    return {query_id: {metric: measured.get(query_id, {}).get(name, 0.0) for metric, name in names.items()} for query_id in qrels}


def mean(values) -> float:
    """The mean, summed exactly, so that it does not depend on the order of the queries."""
    values = list(values)
    return math.fsum(values) / len(values)


def mrr_at_10(qrels, ranked, relevance: int = 1) -> float:
    """MRR@10 over all judged queries."""
    return mean(values["RR@10"] for values in per_query(qrels, ranked, relevance).values())


def evaluate(run_path, qrels_path, relevance: int, out) -> None:
    """Write the values of every judged query as TSV."""
    ranked = {query_id: [hit.doc_id for hit in hits] for query_id, hits in read_run(run_path).items()}
    values = per_query(read_qrels(qrels_path), ranked, relevance)
    lines = ["\t".join(("query_id", *METRICS))]
    lines += ["\t".join((query_id, *(repr(found[metric]) for metric in METRICS))) for query_id, found in values.items()]
    write_text(out, "\n".join(lines) + "\n")


def read_values(path) -> dict[str, dict[str, float]]:
    """What `evaluate` wrote: metric -> query id -> value."""
    lines = [line.split("\t") for _, line in numbered_lines(path)]
    if len(lines) < 2 or tuple(lines[0]) != ("query_id", *METRICS) or any(len(line) != len(lines[0]) for line in lines):
        raise InputError(f"{path}: not a table of per-query values; delete it and run again")
    return {metric: {line[0]: float(line[column]) for line in lines[1:]} for column, metric in enumerate(METRICS, start=1)}
