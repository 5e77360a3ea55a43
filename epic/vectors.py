"""Query vectors as arrays and files: the few terms of a query with their importance."""

import json
from typing import NamedTuple

import numpy as np

from epic.files import InputError, numbered_lines, write_text


class QueryVector(NamedTuple):
    """phi_q without its zeros: term ids ascending, float32 weights; a repeated term has one summed entry."""

    terms: np.ndarray  # (n,) uint16
    weights: np.ndarray  # (n,) float32


def write_vectors(vectors: dict[str, QueryVector], out) -> None:
    """One JSON object a line; float32 weights survive the round trip exactly."""
    lines = []
    for query_id, vector in vectors.items():
        lines.append(json.dumps({"id": query_id, "terms": vector.terms.tolist(), "weights": vector.weights.tolist()}))
    write_text(out, "".join(f"{line}\n" for line in lines))


def read_vectors(path) -> dict[str, QueryVector]:
    """Query vectors by query id."""
    vectors = {}
    for number, line in numbered_lines(path):
        try:
            found = json.loads(line)
            terms, weights = np.array(found["terms"], dtype=np.uint16), np.array(found["weights"], dtype=np.float32)
            vectors[found["id"]] = QueryVector(terms, weights)
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} line {number}: not a query vector ({error}); delete the file and run again") from error
    return vectors
