"""Published runs as rows: `query id TAB passage id TAB rank`, as MS MARCO's leaderboard has them, written as TREC runs."""

import logging
import re
from collections.abc import Iterator
from itertools import groupby

from epic.core.files import InputError, numbered_lines
from epic.corpus.documents import Documents
from epic.corpus.runs import Run, ScoredDoc, write_answers, write_run
from epic.corpus.text_files import is_id, read_queries

log = logging.getLogger(__name__)
RANK = re.compile(r"[0-9]{1,9}")


def replay(source, documents: Documents, queries_path, hits: int, tag: str, out, answers_out) -> None:
    """Write the first `hits` of each query, and which queries the run does not answer; refuse unknown queries and passages."""
    known, run = read_queries(queries_path), Run()
    for query_id, lines in groupby(_lines(source), key=lambda line: line[1]):
        if query_id not in known:
            raise InputError(f"{source}: query {query_id} is not in {queries_path}; the run is of another query set")
        if query_id in run:
            raise InputError(f"{source}: the hits of query {query_id} stand in two places; sort -s -k1,1n -k3,3n mends it")
        run[query_id] = _ranking(source, lines)[:hits]
    if not run:
        raise InputError(f"{source}: the run is empty; fetch it anew")
    if absent := documents.unknown(hit.doc_id for found in run.values() for hit in found):
        raise InputError(f"{source}: passage {absent[0]} is not in {documents.dataset} ({len(absent)} such)")
    log.info("%d of %d queries, %d hits", len(run), len(known), sum(map(len, run.values())))
    write_answers(answers_out, known, {query_id: len(found) for query_id, found in run.items()})
    write_run(out, run, tag)


def _ranking(source, lines) -> list[ScoredDoc]:
    """Return the hits of one query; ranks must rise, and may have gaps. Scores are made from positions: no run has any."""
    found: dict[str, int] = {}
    last = 0
    for number, _, doc_id, rank in lines:
        if rank <= last:
            raise InputError(f"{source} line {number}: rank {rank} follows rank {last}; sort -s -k1,1n -k3,3n mends it")
        if doc_id in found:
            raise InputError(f"{source} line {number}: passage {doc_id} stands twice in one ranking; fetch it anew")
        found[doc_id] = last = rank
    return [ScoredDoc(doc_id, 1 / place) for place, doc_id in enumerate(found, start=1)]


def _lines(source) -> Iterator[tuple[int, str, str, int]]:
    """Yield (line number, query id, passage id, rank)."""
    for number, line in numbered_lines(source):
        fields = line.split()
        if len(fields) != 3 or not RANK.fullmatch(fields[2]) or not (is_id(fields[0]) and is_id(fields[1])):
            raise InputError(f"{source} line {number}: expected query id, passage id and rank, found {line[:60]!r}")
        yield number, fields[0], fields[1], int(fields[2])
