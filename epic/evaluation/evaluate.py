"""Effectiveness of a run, query by query, over all judged queries."""

import logging

import pandas as pd

from epic.core.files import InputError
from epic.core.tables import read_table, write_table
from epic.corpus.runs import ranked_lists
from epic.corpus.text_files import read_qrels, read_queries
from epic.evaluation.measures import Measure, values_of
from epic.experiment.settings import reciprocal_rank

log = logging.getLogger(__name__)


def measures(hits: int, relevance: int) -> list[Measure]:
    """List the measures of a query set: recall only at the depth that was asked for."""
    graded = f"(rel={relevance})" if relevance > 1 else ""
    found = [Measure("RR@10", "recip_rank", 1, 10), Measure("nDCG@10", "ndcg_cut_10", 1, 10)]
    if graded:
        found.append(Measure(reciprocal_rank(relevance), "recip_rank", relevance, 10))
    return [
        *found,
        Measure(f"AP{graded}", "map", relevance, None),
        Measure(f"R{graded}@{hits}", f"recall_{hits}", relevance, None),
    ]


def evaluate(run_path, queries_path, qrels_path, hits: int, relevance: int, out) -> None:
    """Write the values of every judged query as TSV; refuse a run that has queries of another set."""
    known, qrels, wanted, answered = read_queries(queries_path), read_qrels(qrels_path), measures(hits, relevance), set()

    def lists():
        for query_id, found in ranked_lists(run_path):
            if query_id not in known:
                raise InputError(f"{run_path}: query {query_id} is not in {queries_path}; make the run from these queries")
            answered.add(query_id)
            yield query_id, [hit.doc_id for hit in found]

    values = values_of(qrels, lists(), wanted)
    log.info("%d of %d judged queries have hits", len(answered & qrels.keys()), len(qrels))
    frame = pd.DataFrame.from_dict(values, orient="index", columns=[measure.name for measure in wanted])
    write_table(frame.rename_axis("query_id"), out)


def read_values(path) -> pd.DataFrame:
    """Read what `evaluate` wrote: a row for each query, by its id, and a column for each measure."""
    return read_table(path, "per-query values", keys=["query_id"], number="RR@10", dtype="float64")
