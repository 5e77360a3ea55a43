"""First-stage retrieval: BM25 over a Lucene index, by Anserini."""

import logging

from epic.core.files import InputError, replacing, size_of
from epic.corpus.runs import read_run
from epic.corpus.text_files import read_queries
from epic.first_stage.anserini import anserini

log = logging.getLogger(__name__)
A_QUERY = 10_000  # bytes that a search goes through, roughly


def retrieve(index, queries, k1: float, b: float, hits: int, threads: int, memory_mb: int, out) -> None:
    """Write the run exactly as Anserini orders it; a query without any hit has no line."""
    asked = read_queries(queries)
    with replacing(out) as draft:
        said = anserini(
            "search.SearchCollection",
            *("-index", index, "-topics", queries, "-topicReader", "TsvString", "-output", draft),
            *("-bm25", "-bm25.k1", k1, "-bm25.b", b, "-hits", hits, "-threads", threads),
            memory_mb=memory_mb,
            work=max(size_of(index), len(asked) * A_QUERY),
        )
        log.info("%s", said)
        if not draft.exists():
            raise RuntimeError(f"Anserini reported success but wrote no run for {queries}; see the log")
        run = read_run(draft)
        if strange := next((query_id for query_id in run if query_id not in asked), None):
            raise InputError(f"{out}: the run answers query {strange}, which is not in {queries}")
        log.info("%d of %d queries have hits", len(run), len(asked))
