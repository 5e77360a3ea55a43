"""Rows of layers: split when they are written, and merged where all ranks are read."""

from collections.abc import Iterator

import numpy as np

from epic.core.kernels import compiled
from epic.vectors.topk import take, top_terms


def split(terms: np.ndarray, weights: np.ndarray, layers) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield terms and weights (n, width) of each layer, from rows (n, keep) of all ranks; all ascend by term."""
    places = {terms.shape[1]: np.broadcast_to(np.arange(terms.shape[1], dtype=np.uint16), terms.shape)}  # keep -> (n, keep)
    for layer in layers:
        if layer.width == terms.shape[1]:
            yield terms, weights
            continue
        if layer.keep not in places:
            places[layer.keep] = top_terms(weights, layer.keep)
        chosen = places[layer.keep]
        if layer.extends:
            chosen = np.empty((len(terms), layer.width), dtype=np.uint16)  # (n, width)
            _beyond(places[layer.keep], places[layer.extends], chosen)
        yield take(terms, chosen), take(weights, chosen)


@compiled
def _beyond(places, first, beyond):  # pragma: no cover - compiled
    """Write the places of each row (n, p) that are not among its first ones (n, f); all ascend, and all first ones are places."""
    for row in range(len(places)):
        skipped = 0
        for number in range(places.shape[1]):
            if skipped < first.shape[1] and first[row, skipped] == places[row, number]:
                skipped += 1
            else:
                beyond[row, number - skipped] = places[row, number]


def merged(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, keep) of all ranks, ascending by term, from terms and weights (n, width) of the layers that hold them."""
    terms, weights = parts[0]
    for more_terms, more_weights in parts[1:]:
        shape = len(terms), terms.shape[1] + more_terms.shape[1]
        found = np.empty(shape, dtype=np.uint16), np.empty(shape, dtype=np.uint16)  # (n, keep) each
        _merge(terms, weights.view(np.uint16), more_terms, more_weights.view(np.uint16), *found)
        terms, weights = found[0], found[1].view(np.float16)
    return terms, weights


@compiled
def _merge(terms, bits, more_terms, more_bits, all_terms, all_bits):  # pragma: no cover - compiled
    for row in range(len(terms)):
        left = 0
        right = 0
        for place in range(all_terms.shape[1]):
            last = right == more_terms.shape[1]
            if last or (left < terms.shape[1] and terms[row, left] < more_terms[row, right]):
                all_terms[row, place], all_bits[row, place] = terms[row, left], bits[row, left]
                left += 1
            else:
                all_terms[row, place], all_bits[row, place] = more_terms[row, right], more_bits[row, right]
                right += 1
