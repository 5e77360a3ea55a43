"""First-stage retrieval: BM25 over a Lucene index, by Anserini, whose answers are counted: it loses queries without an error.

Anserini holds all hits in memory and writes them after the last query. A set of many queries is therefore searched in parts,
which are kept until the run is there: a search that was killed goes on after the last whole part. The run is the same, byte for
byte.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from epic.core import seals
from epic.core.files import InputError, replacing, sha256_of, size_of, write_text
from epic.corpus.query_counts import refuse_other_queries
from epic.corpus.runs import ranked_lists, write_answers
from epic.corpus.text_files import read_queries
from epic.first_stage.anserini import CLAUSES, Searcher, anserini, complaint
from epic.first_stage.lucene_files import SEGMENTS, refuse_damage

log = logging.getLogger(__name__)
A_QUERY = 10_000  # bytes that a search goes through, roughly
TAG = "Anserini"
QUERIES_AT_A_TIME = 50_000
Queries = dict[str, str]  # texts by id


class Search(NamedTuple):
    """Anserini's search of an index; `out` names the run in errors."""

    index: Path
    k1: float
    b: float
    hits: int
    threads: int
    memory_mb: int
    clauses: int
    out: Path

    def __call__(self, topics, asked: Queries, into) -> dict[str, int]:
        """Write the hits of the queries in a file, and count them by query; refuse what Anserini would pass over."""
        said = anserini(
            "search.SearchCollection",
            *("-index", self.index, "-topics", topics, "-topicReader", "TsvString"),
            *("-bm25", "-bm25.k1", self.k1, "-bm25.b", self.b, "-hits", self.hits, "-threads", self.threads, "-runtag", TAG),
            memory_mb=self.memory_mb,
            work=max(size_of(self.index), len(asked) * A_QUERY),
            clauses=self.clauses,
            into=into,
        )
        log.info("%s", said)
        found = _hits_of(into, asked, self.hits, self.out, topics)
        if complained := complaint(said):
            missing = [query_id for query_id in asked if query_id not in found]
            lost = f"; no hits of query {missing[0]} ({len(missing)} such)" if missing else ""
            raise RuntimeError(f"Anserini failed: {complained}{lost}; see the log")
        return found


def retrieve(
    index, queries, counts, k1: float, b: float, hits: int, threads: int, memory_mb: int, out, answers_out, state="", code=""
) -> None:
    """Write the run exactly as Anserini orders it, and which queries match nothing; a query without any hit has no line.

    counts: the number of queries that there must be; state: a folder for the parts of a large set; code: what these depend on
    besides settings and inputs.
    """
    asked = read_queries(queries)
    refuse_other_queries(queries, len(asked), counts)
    refuse_damage(index)
    clauses = max(CLAUSES, *map(len, asked.values()))  # no query has more terms than characters
    search = Search(index, k1, b, hits, threads, memory_mb, clauses, out)
    with replacing(out) as draft:
        if len(asked) <= QUERIES_AT_A_TIME:
            found = search(queries, asked, draft)
        else:
            found = _in_parts(search, asked, Path(state, _key(search, queries, code)), draft)
        refuse_matches(index, k1, b, {query_id: text for query_id, text in asked.items() if query_id not in found})
        write_answers(answers_out, asked, found)
        log.info("%d of %d queries have hits", len(found), len(asked))


def _key(search: Search, queries, code: str) -> str:
    """Return a digest of all that parts depend on. Lucene draws ids for the segments that it names in a file of the index."""
    named = [sha256_of(path) for path in sorted(Path(search.index).iterdir()) if path.name.startswith(SEGMENTS)]
    facts = [search.k1, search.b, search.hits, code, sha256_of(queries), named]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _in_parts(search: Search, asked: Queries, folder: Path, out) -> dict[str, int]:
    """Search for some queries at a time, but not for those of a part that is kept; join the parts, and count hits by query."""
    found: dict[str, int] = {}
    parts = list(_parts(asked))
    folder.mkdir(parents=True, exist_ok=True)
    with open(out, "wb") as whole:
        for number, some in enumerate(parts, start=1):
            part = folder / f"{number}-of-{len(parts)}.run"
            if part.exists() and seals.is_sealed(part) and seals.difference_of(part) is None:
                log.info("part %d of %d is there", number, len(parts))
                found |= _hits_of(part, some, search.hits, part, folder)
            else:
                seals.unseal([part])
                topics = part.with_suffix(".tsv")
                write_text(topics, "".join(f"{query_id}\t{text}\n" for query_id, text in some.items()))
                with replacing(part) as draft:
                    found |= search(topics, some, draft)
                seals.seal([part], "retrieve")
                log.info("part %d of %d", number, len(parts))
            with open(part, "rb") as stream:
                shutil.copyfileobj(stream, whole)
    return found


def _parts(asked: Queries) -> Iterator[Queries]:
    """Divide queries in the order of Java's texts, in which Anserini writes them: joined, the parts are what it would write."""
    order = iter(sorted(asked, key=lambda query_id: query_id.encode("utf-16-be")))
    while some := list(islice(order, QUERIES_AT_A_TIME)):
        yield {query_id: asked[query_id] for query_id in some}


def _hits_of(run, asked: Queries, hits: int, name, named) -> dict[str, int]:
    """Count the hits of each query in a run; refuse queries that were not asked, and more hits than were asked for."""
    found = {query_id: len(documents) for query_id, documents in ranked_lists(run, TAG)}
    if strange := next((query_id for query_id in found if query_id not in asked), None):
        raise InputError(f"{name}: the run answers query {strange}, which is not in {named}")
    if many := next((query_id for query_id, count in found.items() if count > hits), None):
        raise InputError(f"{name}: the run has {found[many]} hits of query {many}; {hits} were asked for")
    return found


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
