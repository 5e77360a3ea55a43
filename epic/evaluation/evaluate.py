"""Effectiveness of a run, query by query, over all judged queries."""

import logging

from epic.files import InputError, numbered_lines, write_text
from epic.measures import Measure, values_of
from epic.records import read_qrels, read_queries
from epic.runs import ranked_lists

log = logging.getLogger(__name__)


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
