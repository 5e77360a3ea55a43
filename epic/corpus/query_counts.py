"""Counts of a query set, recorded when its files are written: a file that was cut or edited has others."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from epic.core.files import InputError, read_json, write_json
from epic.corpus.text_files import read_qrels

AGAIN = "one of the two files is damaged or was edited: make both again"


class Counts(NamedTuple):
    """Numbers of a query set, and a digest of the ids of its judged queries, in the order of their judgments."""

    queries: int
    judged: int
    judgments: int
    judged_ids: str


def digest_of_ids(ids: Iterable[str]) -> str:
    """Return the sha256 of some ids in their order."""
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def counts_of(queries: Iterable[str], qrels: dict[str, dict[str, int]]) -> Counts:
    """Count the queries and judgments of a set."""
    return Counts(len(list(queries)), len(qrels), sum(map(len, qrels.values())), digest_of_ids(qrels))


def write_counts(path, counts: Counts) -> None:
    """Write the counts of a query set."""
    write_json(path, counts._asdict())


def read_counts(path) -> Counts:
    """Read what `write_counts` wrote."""
    found = read_json(path)
    try:
        counts = Counts(**found)
    except TypeError:
        counts = None
    if counts is None or any(type(count) is not int for count in counts[:3]) or not isinstance(counts.judged_ids, str):
        raise InputError(f"{path}: not the counts of a query set; make it again")
    return counts


def refuse_other_queries(path, count: int, counts_path) -> None:
    """Refuse a file with another number of queries than were written."""
    if count != (expected := read_counts(counts_path).queries):
        raise InputError(f"{path} has {count} queries, {counts_path} says {expected}; {AGAIN}")


def read_judgments(path, counts_path) -> dict[str, dict[str, int]]:
    """Read relevance by query id and document id; refuse a file with other judged queries or judgments than were written."""
    qrels = read_qrels(path)
    found, expected = counts_of((), qrels), read_counts(counts_path)
    if found[1:3] != expected[1:3]:
        raise InputError(
            f"{path} has {found.judgments} judgments of {found.judged} queries, {counts_path} says {expected.judgments} of "
            f"{expected.judged}; {AGAIN}"
        )
    refuse_other_ids(path, qrels, counts_path)
    return qrels


def refuse_other_ids(path, judged: Iterable[str], counts_path) -> None:
    """Refuse a file that is not about the judged queries of the set, all of them, in their order."""
    judged, expected = list(judged), read_counts(counts_path)
    if len(judged) != expected.judged:
        raise InputError(f"{path} has {len(judged)} judged queries, {counts_path} says {expected.judged}; {AGAIN}")
    if digest_of_ids(judged) != expected.judged_ids:
        raise InputError(f"{path} has other judged queries than {counts_path} says; {AGAIN}")
