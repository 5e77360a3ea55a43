"""Ranked lists in TREC's format. The order of the file is the ranking; scores are never sorted again."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines, replacing


class ScoredDoc(NamedTuple):
    """A retrieved document."""

    doc_id: str
    score: float


Run = dict[str, list[ScoredDoc]]  # query id -> documents in rank order


def ranked(scores) -> list[ScoredDoc]:
    """Order (doc_id, score) pairs: score descending, then document id as a string, ascending."""
    return sorted((ScoredDoc(doc_id, score) for doc_id, score in scores), key=lambda hit: (-hit.score, hit.doc_id))


def ranked_lists(path) -> Iterator[tuple[str, list[ScoredDoc]]]:
    """Yield (query id, hits) of a run, one query at a time; refuse a line that breaks the ranking."""
    done: set[str] = set()
    query_id, hits, seen = None, [], set()
    for number, line in numbered_lines(path):
        name, doc_id, rank, score = _fields(path, number, line)
        if name != query_id:
            if query_id is not None:
                yield query_id, hits
            if name in done:
                raise InputError(f"{path} line {number}: the hits of query {name} stand in two places; sort the run by query")
            query_id, hits, seen = name, [], set()
            done.add(name)
        if rank != len(hits) + 1:
            raise InputError(f"{path} line {number}: rank {rank} of query {name} follows rank {len(hits)}; write it anew")
        if doc_id in seen:
            raise InputError(f"{path} line {number}: document {doc_id} stands twice in query {name}")
        seen.add(doc_id)
        hits.append(ScoredDoc(doc_id, score))
    if query_id is not None:
        yield query_id, hits


def read_run(path, hits: int | None = None) -> Run:
    """Read a run, at most `hits` documents a query."""
    return {query_id: found[:hits] for query_id, found in ranked_lists(path)}


def _fields(path, number: int, line: str):
    try:
        query_id, _, doc_id, rank, score, _ = line.split()
        score = float(score)
        if math.isnan(score):
            raise ValueError("the score is NaN")
        return query_id, doc_id, int(rank), score
    except ValueError as error:
        raise InputError(f"{path} line {number}: not a line of a TREC run ({error}): {line[:60]!r}") from error


def write_run(path, run: Run, tag: str) -> None:
    """Write a run in its own order, line by line: a large one has eleven million lines."""
    with replacing(path) as draft, open(draft, "w", encoding="utf-8", newline="\n") as stream:
        for query_id, hits in run.items():
            for rank, hit in enumerate(hits, start=1):
                stream.write(f"{query_id} Q0 {hit.doc_id} {rank} {hit.score:.9g} {tag}\n")
