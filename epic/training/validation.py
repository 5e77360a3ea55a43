"""The value that chooses a model: a measure of the validation queries' first-stage hits, re-ranked by the current model."""

from typing import NamedTuple

from epic.corpus.documents import Documents
from epic.corpus.query_counts import read_judgments
from epic.corpus.runs import Run, ranked, read_whole_run
from epic.corpus.text_files import read_queries
from epic.evaluation.measures import Measure, mean_of
from epic.experiment.settings import TrainSettings


class Validation(NamedTuple):
    """Queries, judgments and the first-stage hits that are re-ranked."""

    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]
    run: Run
    token_budget: int
    measure: Measure


def open_validation(files, settings: TrainSettings, measure: Measure) -> Validation:
    """Open the judged validation queries with the first hits of their first-stage run; files: named inputs of training."""
    qrels = read_judgments(files.validation_qrels, files.validation_counts)
    run = read_whole_run(files.validation_run, files.validation_answers, settings.validation_hits)
    judged = {query_id: hits for query_id, hits in run.items() if query_id in qrels}
    return Validation(read_queries(files.validation_queries), qrels, judged, settings.validation_token_budget, measure)


def validate(family, ranker, documents: Documents, validation: Validation) -> float:
    """Return the mean of the measure over judged queries."""
    ranker.eval()
    scored = family.score(ranker, validation.run, validation.queries, documents, validation.token_budget)
    order = {query_id: [hit.doc_id for hit in ranked(hits)] for query_id, hits in scored.items()}
    return mean_of(validation.qrels, order, validation.measure)
