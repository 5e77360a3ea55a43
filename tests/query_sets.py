"""The records that stages write beside queries, judgments and runs, for tests that write these files themselves."""

from pathlib import Path

from epic.corpus.query_counts import counts_of, write_counts
from epic.corpus.runs import read_run, write_answers
from epic.corpus.text_files import read_qrels, read_queries


def counted(queries, qrels) -> Path:
    """Count a query set as it is now, in a file beside its queries."""
    path = Path(queries).with_name("counts.json")
    write_counts(path, counts_of(read_queries(queries), read_qrels(qrels)))
    return path


def answered(queries, run) -> Path:
    """Record the queries that a run has no hits for, in a file beside it; a run that cannot be read answers none."""
    path = Path(run).with_name("answers.json")
    hits = {query_id: len(found) for query_id, found in read_run(run).items()}
    write_answers(path, read_queries(queries), hits)
    return path
