"""Ranked lists in TREC's format. The order of the file is the ranking; scores are never sorted again.

A run has no line for a query that matches nothing. The stage that makes a run therefore writes the queries without hits into a
file of their own, so that a query that was lost on the way is never taken for one of them.
"""

import math
import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from epic.core.files import InputError, numbered_lines, read_json, replacing, write_json
from epic.corpus.text_files import is_id

LONGEST_LINE = 10_000  # letters: two of the longest ids, and more; a longer one would fill the screen
AGAIN = "the run is not whole: make it again"


class ScoredDoc(NamedTuple):
    """A retrieved document."""

    doc_id: str
    score: float


Run = dict[str, list[ScoredDoc]]  # query id -> documents in rank order


class Answers(NamedTuple):
    """What a run holds: queries with hits, lines, and the queries that are known to have none."""

    answered: int
    hits: int
    without_hits: frozenset[str]


def ranked(scores) -> list[ScoredDoc]:
    """Order (doc_id, score) pairs: score descending, then document id as a string, ascending."""
    return sorted((ScoredDoc(doc_id, score) for doc_id, score in scores), key=lambda hit: (-hit.score, hit.doc_id))


def ranked_lists(path, tag: str | None = None) -> Iterator[tuple[str, list[ScoredDoc]]]:
    """Yield (query id, hits) of a run, one query at a time; refuse a line that breaks the ranking or has another tag.

    tag: the last field of every line; that of the first line if none is given.
    """
    done: set[str] = set()
    query_id, hits, seen, lowest = None, [], set(), math.inf
    _refuse_a_cut_line(path)
    for number, line in numbered_lines(path):
        name, doc_id, rank, score, last = fields_of(path, number, line)
        if last != tag:
            if tag is not None:
                raise InputError(f"{path} line {number}: the line ends with {last[:60]!r}, not with {tag}; {AGAIN}")
            tag = last
        if name != query_id:
            if query_id is not None:
                yield query_id, hits
            if name in done:
                raise InputError(f"{path} line {number}: the hits of query {name} stand in two places; sort the run by query")
            query_id, hits, seen, lowest = name, [], set(), math.inf
            done.add(name)
        if rank != str(len(hits) + 1):
            raise InputError(
                f"{path} line {number}: rank {rank[:20]} of query {name} follows rank {len(hits)}; make the run again"
            )
        if doc_id in seen:
            raise InputError(f"{path} line {number}: document {doc_id} stands twice in query {name}")
        if score > lowest:
            raise InputError(
                f"{path} line {number}: score {score:.9g} of rank {rank} of query {name} is higher than that of the rank before; "
                "make the run again"
            )
        seen.add(doc_id)
        lowest = score
        hits.append(ScoredDoc(doc_id, score))
    if query_id is not None:
        yield query_id, hits


def read_run(path, hits: int | None = None) -> Run:
    """Read a run, at most `hits` documents a query."""
    return {query_id: found[:hits] for query_id, found in ranked_lists(path)}


def read_whole_run(path, answers_path, hits: int | None = None) -> Run:
    """Read a run as `read_run` does, and refuse one that lacks a query or a line of those that its stage wrote."""
    return {query_id: found[:hits] for query_id, found in whole_lists(path, answers_path)}


def whole_lists(path, answers_path) -> Iterator[tuple[str, list[ScoredDoc]]]:
    """Yield the same one query at a time, as `ranked_lists` does; what is lacking is known after the last."""
    answered, lines, odd = 0, 0, False
    answers = read_answers(answers_path)
    for query_id, found in ranked_lists(path):
        answered, lines, odd = answered + 1, lines + len(found), odd or query_id in answers.without_hits
        yield query_id, found
    if odd or (answered, lines) != answers[:2]:
        raise InputError(
            f"{path} has {lines} hits of {answered} queries, {answers_path} says {answers.hits} of {answers.answered}; {AGAIN}"
        )


def _refuse_a_cut_line(path) -> None:
    """Refuse a run whose last line has no end: part of its last field may be missing."""
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        if size and stream.read() != b"\n":
            raise InputError(f"{path}: the last line is cut off; {AGAIN}")


def fields_of(path, number: int, line: str) -> tuple[str, str, str, float, str]:
    """Return query id, document id, rank, score and tag of a line; refuse one that is not of a TREC run."""
    try:
        query_id, fixed, doc_id, rank, score, tag = line.split()
        if fixed != "Q0":
            raise ValueError("the second field is not Q0")
        if not line.isprintable() and not all(map(is_id, (query_id, doc_id, rank, tag))):  # tabs may be between
            raise ValueError("it has a control character")
        if len(line) > LONGEST_LINE:
            raise ValueError("it is longer than any line of a run")
        value = float(score)
        if not math.isfinite(value):
            raise ValueError("the score is NaN or infinite")
        if "_" in score or not score.isascii():  # float takes 1_0 and digits of other scripts
            raise ValueError("the score is no number")
        return query_id, doc_id, rank, value, tag
    except ValueError as error:
        raise InputError(f"{path} line {number}: not a line of a TREC run ({str(error)[:100]}): {line[:60]!r}") from error


def write_run(path, run: Run, tag: str) -> None:
    """Write a run in its own order, line by line: a large one has eleven million lines."""
    with replacing(path) as draft, open(draft, "w", encoding="utf-8", newline="\n") as stream:
        for query_id, hits in run.items():
            for rank, hit in enumerate(hits, start=1):
                stream.write(f"{query_id} Q0 {hit.doc_id} {rank} {hit.score:.9g} {tag}\n")


def write_answers(path, asked: Iterable[str], hits: dict[str, int]) -> None:
    """Write which of the queries that were asked have no hits, and how many the others have; hits: their number by query."""
    without = [query_id for query_id in asked if query_id not in hits]
    write_json(path, {"answered": len(hits), "hits": sum(hits.values()), "without_hits": without})


def read_answers(path) -> Answers:
    """Read what `write_answers` wrote."""
    found = read_json(path)
    try:
        answers = Answers(found["answered"], found["hits"], frozenset(found["without_hits"]))
        if not type(answers.answered) is type(answers.hits) is int or not isinstance(found["without_hits"], list):
            raise TypeError("its values are of other types")
        if not all(isinstance(query_id, str) for query_id in answers.without_hits):
            raise TypeError("a query id is no text")
        return answers
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: not the record of a run ({error}); make it again") from error


def refuse_lost_queries(run_path, answers_path, asked: Collection[str], answered: Collection[str]) -> None:
    """Refuse a run that has no hits of a query that is not known to have none."""
    without = read_answers(answers_path).without_hits
    lost = [query_id for query_id in asked if (query_id in answered) == (query_id in without)]
    if lost:
        has = "hits" if lost[0] in answered else "no hits"
        raise InputError(f"{run_path}: query {lost[0]} has {has} ({len(lost)} such), {answers_path} says otherwise; {AGAIN}")
