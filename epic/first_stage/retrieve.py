"""First-stage retrieval: BM25 over a Lucene index, by Anserini."""

import logging

from epic.core.files import InputError, replacing
from epic.corpus.runs import read_run
from epic.corpus.text_files import read_queries
from epic.first_stage.anserini import anserini

log = logging.getLogger(__name__)


def retrieve(index, queries, k1: float, b: float, hits: int, threads: int, memory_mb: int, out) -> None:
    """Write the run exactly as Anserini orders it; a query without any hit has no line."""
    with replacing(out) as draft:
        said = anserini(
            "search.SearchCollection",
            *("-index", index, "-topics", queries, "-topicReader", "TsvString", "-output", draft),
            *("-bm25", "-bm25.k1", k1, "-bm25.b", b, "-hits", hits, "-threads", threads),
            memory_mb=memory_mb,
        )
        log.info("%s", said)
        if not draft.exists():
            raise RuntimeError(f"Anserini reported success but wrote no run for {queries}; see the log")
        asked, run = read_queries(queries), read_run(draft)
        if strange := next((query_id for query_id in run if query_id not in asked), None):
            raise InputError(f"{out}: the run answers query {strange}, which is not in {queries}")
        log.info("%d of %d queries have hits", len(run), len(asked))
