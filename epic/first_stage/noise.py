"""Random numbers without a state: the number at a place is computed from the place alone, on any device, in any order.

Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) scrambles a counter of 128 bits under a
key of 64. Whoever asks for the same counter and key gets the same number, whatever was asked before: no order of passages, no
batch, no shard and no restart can change it. torch computes it with integers of 64 bits, whose products wrap around as wanted.
"""

import torch
from torch import Tensor

ROUNDS = 10
FACTORS = 0xD2511F53, 0xCD9E8D57
STEPS_OF_KEY = 0x9E3779B9, 0xBB67AE85
WORD = 0xFFFFFFFF  # a word has 32 bits
MOST_STEPS = 1 << 16  # of a place: it shares a word of the counter with the sample


def philox(counter: tuple[Tensor, Tensor, Tensor, Tensor], key: tuple[int, int]) -> list[Tensor]:
    """Return the four scrambled words of each counter; words are integers below 2^32 in tensors of 64 bits, of any one shape."""
    a, b, c, d = counter
    for turn in range(ROUNDS):
        left, right = ((word + turn * step) & WORD for word, step in zip(key, STEPS_OF_KEY, strict=True))
        first, second = FACTORS[0] * a, FACTORS[1] * c
        a, b, c, d = (second >> 32 & WORD) ^ b ^ left, second & WORD, (first >> 32 & WORD) ^ d ^ right, first & WORD
    return [a, b, c, d]


def uniform(seed: int, positions: Tensor, samples: Tensor, step: int, tokens: Tensor) -> Tensor:
    """Return a number between 0 and 1, neither included, for each place: a passage's sample, a step of it, and a token.

    positions, samples: (n, 1); tokens: (n, k); all integers of 64 bits. Result (n, k), double precision.
    """
    place = samples * MOST_STEPS + step  # (n, 1)
    words = (positions & WORD).expand_as(tokens), (positions >> 32).expand_as(tokens), place.expand_as(tokens), tokens
    high, low, *_ = philox(words, (seed & WORD, seed >> 32))  # (n, k) each
    return ((high >> 6 << 26 | low >> 6).double() + 0.5) * 2.0**-52  # 52 bits, and half of one: a double has 53


def gumbel(*place) -> Tensor:
    """Return noise of Gumbel's distribution for each place, as in `uniform`.

    The largest of some log-weights with such noise added is each of them with the probability of its weight: softmax, sampled.
    """
    return -torch.log(-torch.log(uniform(*place)))
