"""Batches of similar length: on a GPU, where attention pads, little of a forward pass is padding."""

import logging
from collections.abc import Callable

from epic.model.device import give_back_memory, out_of_memory

log = logging.getLogger(__name__)


def by_tokens(pieces: dict[str, list[int]], budget: int, window: int) -> list[list[str]]:
    """Group ids, longest texts first, so that a batch stays within `budget` word-pieces, [CLS] and [SEP] included.

    A text larger than the whole budget is a batch of its own.
    """
    batches: list[list[str]] = []
    total = 0
    for name in sorted(pieces, key=lambda name: (-len(pieces[name]), name)):
        size = _size(len(pieces[name]), window)
        if not batches or total + size > budget:
            batches.append([])
            total = 0
        batches[-1].append(name)
        total += size
    return batches


def _size(length: int, window: int) -> int:
    """Return the rows of a text in a batch: one longer than the window runs as several, each with its own [CLS] and [SEP]."""
    return length + 2 * max(1, -(-length // window))


class Budget:
    """The word-pieces that a batch may have: fewer once memory ran out, for as long as this object is used."""

    def __init__(self, tokens: int):
        self.tokens = tokens

    def halve(self, batch: list[list[int]], window: int) -> None:
        """Allow half of what a batch had that did not fit, and say so."""
        self.tokens = sum(_size(len(ids), window) for ids in batch) // 2
        log.warning("memory ran out with %d passages at a time; going on with %d word-pieces a batch", len(batch), self.tokens)


def computed(pieces: dict[str, list[int]], budget: Budget, window: int, compute: Callable):
    """Yield (ids, what `compute` returns for a list of ids), batch by batch.

    A batch that does not fit into memory is computed again in smaller ones, down to a single text: only that is a failure.
    """
    waiting = by_tokens(pieces, budget.tokens, window)
    while waiting:
        found = _unless_too_large(compute, waiting[0])
        if found is None:
            budget.halve([pieces[name] for name in waiting[0]], window)
            give_back_memory()
            waiting = by_tokens({name: pieces[name] for batch in waiting for name in batch}, budget.tokens, window)
        else:
            yield waiting.pop(0), found


def _unless_too_large(compute: Callable, batch: list[str]):
    """Return what is computed, None if it does not fit; the error goes, since it holds on to the tensors of the batch."""
    try:
        return compute(batch)
    except (RuntimeError, MemoryError) as error:
        if len(batch) == 1 or not out_of_memory(error):
            raise
        return None
