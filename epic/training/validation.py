"""What a model is chosen on: MRR@10 of the validation queries' first-stage hits, re-ranked with unpruned vectors."""

from typing import NamedTuple

from epic.config import TrainSettings
from epic.documents import Documents
from epic.importance import query_vector
from epic.measures import mrr_at_10
from epic.model import Epic
from epic.records import read_qrels, read_queries
from epic.runs import Run, ranked, read_run
from epic.unpruned import unpruned_scores


class Validation(NamedTuple):
    """Queries, judgments and the first-stage hits that are re-ranked."""

    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    run: Run
    token_budget: int
    relevance: int = 1  # the lowest grade that counts


def open_validation(files, settings: TrainSettings, relevance: int) -> Validation:
    """The judged validation queries with the first hits of their first-stage run; files: named inputs of training."""
    qrels, run = read_qrels(files.validation_qrels), read_run(files.validation_run, settings.validation_hits)
    judged = {query_id: hits for query_id, hits in run.items() if query_id in qrels}
    return Validation(read_queries(files.validation_queries), qrels, judged, settings.validation_token_budget, relevance)


def validate(model: Epic, documents: Documents, validation: Validation) -> float:
    """MRR@10 over judged queries."""
    model.eval()
    vectors = {query_id: query_vector(model, validation.queries[query_id]) for query_id in validation.run}
    scored = unpruned_scores(model, documents, vectors, validation.run, validation.token_budget)
    order = {query_id: [hit.doc_id for hit in ranked(hits)] for query_id, hits in scored.items()}
    return mrr_at_10(validation.qrels, order, validation.relevance)
