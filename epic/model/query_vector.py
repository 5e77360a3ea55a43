"""Query vectors as arrays, the few terms with their importance, and their files; and a check that all weights must pass."""

import json
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from epic.core.files import InputError, numbered_lines, write_text

MAX_VOCABULARY = 65_535  # term ids are stored in 16 bits


class QueryVector(NamedTuple):
    """phi_q without its zeros: term ids ascending, float32 weights; a repeated term has one summed entry."""

    terms: np.ndarray  # (n,) uint16
    weights: np.ndarray  # (n,) float32


def finite(doc_id: str, weights: np.ndarray) -> None:
    """Refuse a passage whose weights do not fit float16: no other value is stored or scored in its place."""
    if not np.isfinite(weights).all():
        raise InputError(f"document {doc_id} has a weight that is not finite in float16; is the model trained to the end?")


def query_vector_of(ids: np.ndarray, w_q: np.ndarray) -> QueryVector:
    """Return the vector of a query's word-pieces (T,) with their importance (T,); a repeated term adds up."""
    terms, places = np.unique(ids, return_inverse=True)  # (n,), (T,)
    weights = np.zeros(len(terms), dtype=np.float32)  # (n,)
    np.add.at(weights, places, w_q)
    if not np.isfinite(weights).all():
        raise InputError("a query has a weight that is not finite; is the model trained to the end?")
    return QueryVector(terms.astype(np.uint16), weights)


def write_vectors(vectors: dict[str, QueryVector], out) -> None:
    """Write one JSON object a line; float32 weights survive the round trip exactly."""
    lines = []
    for query_id, vector in vectors.items():
        lines.append(
            json.dumps({"id": query_id, "terms": vector.terms.tolist(), "weights": vector.weights.tolist()}, allow_nan=False)
        )
    write_text(out, "".join(f"{line}\n" for line in lines))


class _Vectors(dict):
    """Query vectors of a file; asking for a query that it lacks is refused with its name."""

    def __init__(self, path):
        super().__init__()
        self.path = path

    def __missing__(self, query_id: str):
        raise InputError(f"{self.path} has no vector of query {query_id}; delete it and run again")


def read_vectors(path) -> dict[str, QueryVector]:
    """Read query vectors by query id; refuse terms that do not ascend, and weights that are not finite or not as many."""
    vectors = _Vectors(path)
    for number, line in numbered_lines(path):
        try:
            query_id, vector = _parsed(line)
            if query_id in vectors:
                raise ValueError(f"query {query_id} has a vector above")
            vectors[query_id] = vector
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(f"{path} line {number}: not a query vector ({error}); delete the file and run again") from error
    return vectors


def _parsed(line: str) -> tuple[str, QueryVector]:
    found = json.loads(line)
    query_id, terms, weights = found["id"], found["terms"], found["weights"]
    if not isinstance(query_id, str) or not all(type(term) is int for term in terms):
        raise ValueError("the id is no text, or a term no whole number")
    if not all(type(weight) in (int, float) for weight in weights) or len(terms) != len(weights):
        raise ValueError(f"{len(terms)} terms have {len(weights)} weights, or a weight is no number")
    if any(after <= before for before, after in pairwise(terms)):
        raise ValueError("the terms do not ascend")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        vector = QueryVector(np.array(terms, dtype=np.uint16), np.array(weights, dtype=np.float32))
    if not np.isfinite(vector.weights).all():
        raise ValueError("a weight is not finite")
    return query_id, vector
