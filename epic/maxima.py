"""The maximum of equation 4 on a CPU: what the vocabulary's scores leave of each passage, a block of terms at a time.

`scores` (N, v) are those of all word-pieces, packed; passage b has the rows bounds[b] to bounds[b+1]. w is never negative.
A passage without word-pieces has zeros.
"""

import math

import numpy as np

from epic.compiled import compiled


def by_weight(w: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """The rows of each passage, the largest w first: (N,)."""
    owners = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))  # (N,)
    return np.lexsort((-w, owners))  # (N,)


@compiled
def linear(scores, w, order, bounds, best):  # pragma: no cover - compiled
    """best[b] = max over the passage's rows t of w[t] * scores[t]."""
    for passage in range(len(bounds) - 1):
        found = best[passage]
        found[:] = 0.0 if bounds[passage] == bounds[passage + 1] else -np.inf
        for row in range(bounds[passage], bounds[passage + 1]):
            for term in range(scores.shape[1]):
                found[term] = max(found[term], w[row] * scores[row, term])


@compiled
def damped(scores, w, order, bounds, best):  # pragma: no cover - compiled
    """best[b] = max over the passage's rows t of w[t] * ln(1 + softplus(scores[t])).

    Rows come with the largest w first. ln(1 + softplus(x)) grows with x, so a row can only win where its score beats
    those of all rows before it: a few rows of a hundred, and only there the logarithms are computed.
    """
    highest = np.empty(scores.shape[1], dtype=scores.dtype)
    for passage in range(len(bounds) - 1):
        found = best[passage]
        found[:] = 0.0
        highest[:] = -np.inf
        for place in range(bounds[passage], bounds[passage + 1]):
            row = order[place]
            for term in range(scores.shape[1]):
                x = scores[row, term]
                if x > highest[term]:
                    highest[term] = x
                    softplus = x if x > 20 else math.log1p(math.exp(x))  # as torch has it
                    found[term] = max(found[term], w[row] * math.log1p(softplus))
