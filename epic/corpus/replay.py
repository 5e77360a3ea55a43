"""Runs that others made: TREC's six columns, or `query id TAB passage id TAB rank` as MS MARCO's leaderboard has them.

They are taken over as they are, and written as TREC runs. The order is that of the ranks. A run of six columns keeps its
scores; the others have none.
"""

import logging
import math
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines
from epic.corpus.documents import Documents
from epic.corpus.runs import Run, ScoredDoc, fields_of, write_answers, write_run
from epic.corpus.text_files import is_id, read_queries

log = logging.getLogger(__name__)
RANK = re.compile(r"[0-9]{1,9}")
COLUMNS = {3: "query id, passage id and rank", 6: "the six columns of a TREC run"}
SORTED = {3: "sort -s -k1,1n -k3,3n", 6: "sort -s -k1,1n -k4,4n"}  # what mends the order, by the number of columns


class Line(NamedTuple):
    """A hit in a file; a score only if the file has six columns."""

    number: int
    query_id: str
    doc_id: str
    rank: int
    score: float | None

    @property
    def columns(self) -> int:
        """The number of columns of the file."""
        return 3 if self.score is None else 6


def replay(source, documents: Documents, queries_path, hits: int, tag: str, out, answers_out) -> None:
    """Write the first `hits` of each query, and which queries the run does not answer; refuse unknown queries and passages."""
    known, run = read_queries(queries_path), Run()
    for query_id, lines in groupby(_lines(source), key=lambda line: line.query_id):
        first, *others = lines
        if query_id not in known:
            raise InputError(f"{source}: query {query_id} is not in {queries_path}; the run is of another query set")
        if query_id in run:
            mends = SORTED[first.columns]
            raise InputError(f"{source}: the hits of query {query_id} stand in two places; {mends} mends it")
        run[query_id] = _ranking(source, [first, *others])[:hits]
    if not run:
        raise InputError(f"{source}: the run is empty; fetch it anew")
    if absent := documents.unknown(hit.doc_id for found in run.values() for hit in found):
        raise InputError(f"{source}: passage {absent[0]} is not in {documents.dataset} ({len(absent)} such)")
    log.info("%d of %d queries, %d hits", len(run), len(known), sum(map(len, run.values())))
    write_answers(answers_out, known, {query_id: len(found) for query_id, found in run.items()})
    write_run(out, run, tag)


def _ranking(source, lines: Iterable[Line]) -> list[ScoredDoc]:
    """Return the hits of one query; ranks must rise, and may have gaps. Without scores these are made from positions.

    TREC's ranks may begin at 0. Scores must not rise with the rank: whoever orders by them would see another ranking.
    """
    found: dict[str, float | None] = {}
    last, lowest = None, math.inf
    for number, _, doc_id, rank, score in lines:
        least = (1 if score is None else 0) if last is None else last + 1
        if rank < least:
            said = f"rank {rank} follows rank {least - 1}; {SORTED[3 if score is None else 6]} mends it"
            raise InputError(f"{source} line {number}: {said}")
        if doc_id in found:
            raise InputError(f"{source} line {number}: passage {doc_id} stands twice in one ranking; fetch it anew")
        if score is not None and score > lowest:
            raise InputError(
                f"{source} line {number}: the score of rank {rank} is higher than that of the rank before; number ranks by score"
            )
        found[doc_id], last, lowest = score, rank, lowest if score is None else score
    return [
        ScoredDoc(doc_id, 1 / place if score is None else score) for place, (doc_id, score) in enumerate(found.items(), start=1)
    ]


def _lines(source) -> Iterator[Line]:
    """Yield the lines of a file; all have as many columns as the first."""
    columns = None
    for number, line in numbered_lines(source):
        fields = line.split()
        columns = columns or (6 if len(fields) == 6 else 3)
        if columns == 6:
            query_id, doc_id, rank, score, _ = fields_of(source, number, line)
        else:
            query_id, doc_id, rank, score = (*fields, None) if len(fields) == 3 else ("", "", "", None)
        if not RANK.fullmatch(rank) or not (is_id(query_id) and is_id(doc_id)):
            raise InputError(f"{source} line {number}: expected {COLUMNS[columns]}, found {line[:60]!r}")
        yield Line(number, query_id, doc_id, int(rank), score)
