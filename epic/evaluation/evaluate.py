"""Effectiveness of a run, query by query, over all judged queries."""

import logging

import pandas as pd

from epic.core.files import InputError
from epic.core.tables import read_table, write_table
from epic.corpus.query_counts import read_judgments, refuse_other_queries
from epic.corpus.runs import ranked_lists, refuse_lost_queries
from epic.corpus.text_files import read_queries
from epic.evaluation.measures import Measure, values_of

log = logging.getLogger(__name__)
ROUNDING = 1e-9  # a sum of shares may be a hair above 1


def evaluate(run_path, answers_path, queries_path, qrels_path, counts_path, measures: list[Measure], out) -> None:
    """Write the values of every judged query as TSV; refuse a run that has queries of another set, or lacks some of this one.

    answers_path: the queries without hits; counts_path: the numbers of queries and judgments that there must be; measures: a
    column each.
    """
    known, qrels = read_queries(queries_path), read_judgments(qrels_path, counts_path)
    answered = set()
    refuse_other_queries(queries_path, len(known), counts_path)

    def lists():
        for query_id, found in ranked_lists(run_path):
            if query_id not in known:
                raise InputError(f"{run_path}: query {query_id} is not in {queries_path}; make the run from these queries")
            answered.add(query_id)
            yield query_id, [hit.doc_id for hit in found]

    values = values_of(qrels, lists(), measures)
    refuse_lost_queries(run_path, answers_path, known, answered)
    log.info("%d of %d judged queries have hits", len(answered & qrels.keys()), len(qrels))
    frame = pd.DataFrame.from_dict(values, orient="index", columns=[measure.name for measure in measures])
    write_table(frame.rename_axis("query_id"), out)


def read_values(path, metric: str | None = None) -> pd.DataFrame:
    """Read what `evaluate` wrote: a row for each query, by its id, and a column for each measure, `metric` among them."""
    frame = read_table(path, "per-query values", keys=["query_id"], number=metric, dtype="float64")
    outside = ((frame < -ROUNDING) | (frame > 1 + ROUNDING)).any(axis="columns")
    if outside.any():
        where = f"{path} line {2 + outside.to_numpy().argmax()}"
        raise InputError(f"{where}: a value of query {outside.idxmax()} is not within 0 and 1; make it again")
    return frame
