"""The amounts that jobs deal with: passages, pairs of queries and passages, bytes of whole vectors; and what a job is."""

import math
from typing import NamedTuple

from epic.corpus.msmarco import VOCABULARY
from epic.experiment.encoding import deepest, encoded_depth, reranked_sets
from epic.experiment.lookup import find, systems
from epic.experiment.measurements import timed_rows
from epic.planning.cards import Speed
from epic.planning.flop import WORD_PIECES
from epic.planning.rates import CANDIDATES_BEYOND


class Job(NamedTuple):
    """A job that would run, as the workflow describes it."""

    rule: str
    wildcards: dict[str, str]
    threads: int = 1
    gpus: int = 0
    memory_mb: int = 0
    local: bool = True  # it runs on this machine, not on a node of a cluster
    outputs: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


class Collection(NamedTuple):
    """The sizes of a collection and of its query sets."""

    passages: int
    passage_bytes: float
    queries: dict[str, int]  # query set -> number of queries
    pieces: float = WORD_PIECES  # of a passage that a model reads


class Cost(NamedTuple):
    """The cost of one job: bytes it leaves on the disk, its time, and bytes it needs there while it runs.

    Of the bytes it leaves, some are `temporary`: removed as soon as nothing needs them any more.
    """

    written: float
    seconds: float
    scratch: float = 0.0
    temporary: float = 0.0


class Given(NamedTuple):
    """What costs depend on besides a job and its settings."""

    collection: Collection
    speed: Speed


def share_of(job) -> float:
    """Return the part of the collection that a job is for: a shard's, or all of it."""
    _, _, shards = job.wildcards.get("scatteritem", "").partition("-of-")
    return 1 / int(shards or 1)


def passages_encoded(settings, given) -> float:
    """Return the number of passages that get vectors: all, or those that are candidates of some query."""
    if settings["encode"]["passages"] == "all":
        return given.collection.passages
    return distinct_passages(candidate_pairs(settings, given, reranked(settings), encoded_depth), given)


def reranked(settings) -> list[str]:
    """List the first stages whose hits a model re-ranks."""
    return sorted({stage for stages in systems(settings).values() for stage in stages})


def candidate_pairs(settings, given, first_stages: list[str], depth=deepest) -> float:
    """Return the candidates of some first stages, of all queries and down to the deepest cut-off that may be chosen; those of two
    sets of the same queries are counted once."""
    pairs: dict[str, int] = {}
    for name in reranked_sets(settings):
        dataset = find(settings["query_sets"], name)["dataset"]
        pairs[dataset] = max(pairs.get(dataset, 0), given.collection.queries[name] * depth(settings, name))
    return len(first_stages) * sum(pairs.values())


def dense_bytes(settings, given, model: str) -> float:
    """Return the bytes of whole vectors for the candidates of timed queries, as encoding writes them: no cut-off is known yet."""
    timed = settings["latency"]
    stages = {row["first_stage"] for row in timed_rows(settings) if row.get("model") == model and row.get("keep") == "full"}
    pairs = len(stages) * (timed["warm_up"] + timed["measured"]) * (timed["hits"] + CANDIDATES_BEYOND)
    return 2 * VOCABULARY * distinct_passages(pairs, given)


def distinct_passages(pairs: float, given) -> float:
    """Return the number of distinct passages among random candidates; real ones repeat more often."""
    return given.collection.passages * -math.expm1(-pairs / given.collection.passages)
