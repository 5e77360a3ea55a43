"""Query vectors as arrays, the few terms with their importance, and their files; and a check that all weights must pass."""

import json
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from epic.core.files import InputError, numbered_lines, write_text
from epic.core.strict_json import parse_json
from epic.corpus.text_files import as_id

MAX_VOCABULARY = 65_535  # term ids are stored in 16 bits
LARGEST = float(np.finfo(np.float32).max)


class QueryVector(NamedTuple):
    """phi_q without its zeros: term ids ascending, float32 weights; a repeated term has one summed entry."""

    terms: np.ndarray  # (n,) uint16
    weights: np.ndarray  # (n,) float32


def finite(doc_id: str, weights: np.ndarray) -> None:
    """Refuse a passage whose weights do not fit float16: no other value is stored or scored in its place."""
    if not np.isfinite(weights).all():
        refuse_infinite(doc_id)


def refuse_infinite(doc_id: str) -> None:
    """Name the passage whose weights do not fit."""
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
        raise InputError(f"{self.path} has no vector of query {query_id}; make it again")


def read_vectors(path) -> dict[str, QueryVector]:
    """Read query vectors by query id; kernels read terms and weights side by side, so nothing but a vector is accepted."""
    vectors = _Vectors(path)
    for number, line in numbered_lines(path):
        try:
            found = parse_json(line)
            query_id, vector = found["id"], QueryVector(_terms(found["terms"]), _weights(found["weights"]))
            if as_id(query_id) != query_id or query_id in vectors or len(vector.terms) != len(vector.weights):
                raise ValueError("an id that is none or is given twice, or not as many terms as weights")
            vectors[query_id] = vector
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} line {number}: not a query vector ({error}); make it again") from error
    return vectors


def _terms(values) -> np.ndarray:
    """Return term ids (n,); they must ascend."""
    if not isinstance(values, list) or not all(type(value) is int and 0 <= value < MAX_VOCABULARY for value in values):
        raise ValueError(f"terms are whole numbers below {MAX_VOCABULARY}")
    if any(after <= before for before, after in pairwise(values)):
        raise ValueError("the terms do not ascend")
    return np.array(values, dtype=np.uint16)


def _weights(values) -> np.ndarray:
    """Return weights (n,); they must be finite."""
    if not isinstance(values, list) or not all(type(value) in (int, float) and abs(value) <= LARGEST for value in values):
        raise ValueError("weights are finite numbers")
    return np.array(values, dtype=np.float32)
