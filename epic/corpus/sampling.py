"""Training triples drawn from judgments and first-stage hits, for collections that publish none.

One query at a time in a random order, and one relevant and one other passage of it each time. Where the relevant ones come from:

judged       all that are judged relevant, whether the first stage returns them or not; others are hits that are not relevant
retrieved    those among the first hits, as the authors' code draws them; others are hits of a lower grade, unjudged ones of 0

A collection may have half a million training queries: their hits are read one query at a time, and what may be drawn is kept as
a text, which takes a tenth of the memory of its parts.
"""

import itertools
import logging
import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from epic.core.files import InputError
from epic.corpus.runs import ScoredDoc
from epic.corpus.text_files import Triple

log = logging.getLogger(__name__)
Graded = list[tuple[str, int]]  # documents with their grades


class Pool(NamedTuple):
    """What may be drawn for a query: documents and grades, with blanks between, which no id has."""

    relevant: str
    hits: str


def pools_of(
    qrels: dict[str, dict[str, int]], lists: Iterable[tuple[str, list[ScoredDoc]]], depth: int, positives: str
) -> dict[str, Pool]:
    """Return the pools of all judged queries that have something of either kind to draw, in the order of the judgments.

    lists: hits by query, which are read once. The judgments are used up.
    """
    order, found = list(qrels), {}
    for query_id, hits in lists:
        if query_id in qrels and (pool := _pool(qrels[query_id], hits[:depth], positives)):
            found[query_id] = pool
        qrels.pop(query_id, None)
    if left_out := [query_id for query_id in order if query_id not in found]:
        lack = f"lack a relevant passage to draw, or another one among the first {depth} hits"
        log.warning("%d of %d judged queries %s; left out, first %s", len(left_out), len(order), lack, left_out[0])
    if not found:
        raise InputError(
            f"triples: no query has both a relevant passage to draw and another one among its first {depth} hits; "
            "set a larger depth, or retrieve with another first stage"
        )
    return {query_id: found.pop(query_id) for query_id in order if query_id in found}


def _pool(judged: dict[str, int], hits: list[ScoredDoc], positives: str) -> Pool | None:
    """Return the pool of a query; None if there is nothing to draw from."""
    graded = [(hit.doc_id, judged.get(hit.doc_id, 0)) for hit in hits]
    relevant = graded if positives == "retrieved" else sorted(judged.items())
    relevant = [(doc_id, grade) for doc_id, grade in relevant if grade > 0]
    if positives == "judged":
        graded = [(doc_id, grade) for doc_id, grade in graded if grade <= 0]
    if not relevant or not any(_others(graded, max(grade for _, grade in relevant), positives)):
        return None
    return Pool(_text(relevant), _text(graded))


def drawn(pools: dict[str, Pool], seed: int, positives: str) -> Iterator[Triple]:
    """Pass over the queries in a new random order each time, without end; draw one relevant and one other passage."""
    draw = random.Random(seed)
    while True:
        order = list(pools)
        draw.shuffle(order)
        for query_id in order:
            relevant, hits = map(_graded, pools[query_id])
            relevant_id, grade = draw.choice(relevant)
            if others := _others(hits, grade, positives):  # of several grades, nothing may be below the lowest
                yield Triple(query_id, relevant_id, draw.choice(others))


def _others(hits: Graded, grade: int, positives: str) -> list[str]:
    """Return the hits that may stand beside a relevant passage of a grade."""
    below = grade if positives == "retrieved" else 1
    return [doc_id for doc_id, found in hits if found < below]


def _text(graded: Graded) -> str:
    return " ".join(f"{doc_id} {grade}" for doc_id, grade in graded)


def _graded(text: str) -> Graded:
    fields = text.split(" ")
    return [(doc_id, int(grade)) for doc_id, grade in zip(fields[::2], fields[1::2], strict=True)]


def sample(qrels: dict, run: dict, count: int, seed: int, depth: int = 1000, positives: str = "judged") -> list[Triple]:
    """Return the first `count` triples that are drawn of judgments and hits in memory."""
    return list(itertools.islice(drawn(pools_of(dict(qrels), run.items(), depth, positives), seed, positives), count))
