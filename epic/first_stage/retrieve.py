"""First-stage retrieval: BM25 over a Lucene index, by Anserini, whose answers are counted: it loses queries without an error."""

import logging

from epic.core.files import InputError, replacing, size_of
from epic.corpus.query_counts import refuse_other_queries
from epic.corpus.runs import ranked_lists, write_answers
from epic.corpus.text_files import read_queries
from epic.first_stage.anserini import CLAUSES, Searcher, anserini, complaint
from epic.first_stage.lucene_files import refuse_damage

log = logging.getLogger(__name__)
A_QUERY = 10_000  # bytes that a search goes through, roughly
TAG = "Anserini"


def retrieve(index, queries, counts, k1: float, b: float, hits: int, threads: int, memory_mb: int, out, answers_out) -> None:
    """Write the run exactly as Anserini orders it, and which queries match nothing; a query without any hit has no line.

    counts: the number of queries that there must be.
    """
    asked = read_queries(queries)
    refuse_other_queries(queries, len(asked), counts)
    refuse_damage(index)
    with replacing(out) as draft:
        said = anserini(
            "search.SearchCollection",
            *("-index", index, "-topics", queries, "-topicReader", "TsvString"),
            *("-bm25", "-bm25.k1", k1, "-bm25.b", b, "-hits", hits, "-threads", threads, "-runtag", TAG),
            memory_mb=memory_mb,
            work=max(size_of(index), len(asked) * A_QUERY),
            clauses=max(CLAUSES, *map(len, asked.values())),  # no query has more terms than characters
            into=draft,
        )
        log.info("%s", said)
        found = {query_id: len(documents) for query_id, documents in ranked_lists(draft, TAG)}
        if strange := next((query_id for query_id in found if query_id not in asked), None):
            raise InputError(f"{out}: the run answers query {strange}, which is not in {queries}")
        if many := next((query_id for query_id, count in found.items() if count > hits), None):
            raise InputError(f"{out}: the run has {found[many]} hits of query {many}; {hits} were asked for")
        missing = {query_id: text for query_id, text in asked.items() if query_id not in found}
        if complained := complaint(said):
            lost = f"; no hits of query {next(iter(missing))} ({len(missing)} such)" if missing else ""
            raise RuntimeError(f"Anserini failed: {complained}{lost}; see the log")
        refuse_matches(index, k1, b, missing)
        write_answers(answers_out, asked, found)
        log.info("%d of %d queries have hits", len(found), len(asked))


def refuse_matches(index, k1: float, b: float, missing: dict[str, str]) -> None:
    """Search once more, one by one, for the queries that did not come back; a hit means that Anserini lost it."""
    if not missing:
        return
    lucene = Searcher(index, k1, b)
    try:
        for query_id, text in missing.items():
            if lucene.search(text, 1):
                raise RuntimeError(f"Anserini lost query {query_id}: it has hits, but none in the run; see the log")
    finally:
        lucene.close()
