"""The maximum of equation 4 on a CPU: what the vocabulary's scores leave of each passage, a block of terms at a time.

`scores` (N, v) are those of all word-pieces, packed; passage b has the rows bounds[b] to bounds[b+1]. w is never negative.
A passage without word-pieces has zeros.
"""

import math

import numpy as np

from epic.compiled import compiled

ONE, HALF, THIRD, QUARTER, TWENTY = (np.float32(value) for value in (1, 1 / 2, 1 / 3, 1 / 4, 20))  # a double would slow all down
SMALL = np.float32(0.02)  # below it the first term that the series leaves out is less than a unit in the last place


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
def damped(bias, scores, w, order, bounds, best):  # pragma: no cover - compiled
    """best[b] = max over the passage's rows t of w[t] * ln(1 + softplus(scores[t] + bias)).

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
                if scores[row, term] > highest[term]:
                    highest[term] = scores[row, term]
                    found[term] = max(found[term], w[row] * _activation(scores[row, term] + bias[term]))


@compiled
def _activation(x):  # pragma: no cover - compiled
    """ln(1 + softplus(x)). For small e^x, which most have, a series is as exact as the logarithms and takes half the time."""
    if x > TWENTY:
        return math.log1p(x)  # as torch has it
    power = math.exp(x)
    if power > SMALL:
        return math.log1p(math.log1p(power))
    return _series(_series(power))


@compiled
def _series(x):  # pragma: no cover - compiled
    """ln(1 + x) for small x."""
    return x * (ONE - x * (HALF - x * (THIRD - x * QUARTER)))
