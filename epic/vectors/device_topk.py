"""Pruning and counting where the vectors lie: `topk` and `value_counts` by torch, for a graphics card.

A batch is 50 MB of values, of which a fifteenth is kept: only that leaves the card.
"""

import torch
from torch import Tensor

PATTERNS = 65_536  # of 16 bits


def top_terms(vectors: Tensor, keep: int) -> Tensor:
    """Return positions of the `keep` largest float16 values of each row (n, V), as (n, keep), ascending in a row.

    Order is (value descending, position ascending), as in `epic.vectors.topk`. Value and position make one number, so no two
    are equal, and torch has nothing to choose.
    """
    bits = 15 if vectors.shape[1] <= 1 << 15 else 16  # with 15 bits of position the number fits 32
    last = (1 << bits) - 1
    places = torch.arange(last, last - vectors.shape[1], -1, device=vectors.device, dtype=_kind(bits))  # (V,)
    numbers = (_ranks(vectors).to(_kind(bits)) << bits) | places  # (n, V)
    best = numbers.topk(min(keep, vectors.shape[1]), dim=1, sorted=False).values  # (n, keep)
    return (last - (best & last)).long().sort(dim=1).values  # (n, keep)


def _kind(bits: int) -> torch.dtype:
    return torch.int32 if bits == 15 else torch.int64


def _patterns(vectors: Tensor) -> Tensor:
    """Return the 16 bits of float16 values as numbers that are not negative, (n, V)."""
    return vectors.view(torch.int16).to(torch.int32) & 0xFFFF


def _ranks(vectors: Tensor) -> Tensor:
    """Return numbers below 2^16 that order values as they are; both zeros are one value, (n, V)."""
    bits = _patterns(vectors)  # (n, V)
    ranks = torch.where(bits >= 0x8000, 0xFFFF - bits, bits + 0x8000)  # (n, V)
    return ranks.masked_fill_(bits == 0x8000, 0x8000)  # (n, V)


def counts(vectors: Tensor) -> Tensor:
    """Count float16 values by their bits, (65536,)."""
    return torch.bincount(_patterns(vectors).flatten(), minlength=PATTERNS)
