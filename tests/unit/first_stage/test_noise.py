"""Noise that depends on its place alone: the published scrambling, and numbers as they should be distributed."""

import math

import pytest
import torch

from epic.first_stage.noise import gumbel, philox, uniform

PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (*PI, (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
    ],
)
def test_philox_gives_the_known_answers_of_its_authors(counter, key, expected):
    words = tuple(torch.tensor([word]) for word in counter)
    assert tuple(word.item() for word in philox(words, key)) == expected


def places(passages, samples=1, tokens=10):
    """Positions and samples (n, 1) and tokens (n, k)."""
    positions = torch.arange(passages).repeat_interleave(samples)[:, None]
    return positions, torch.arange(samples).repeat(passages)[:, None], torch.arange(tokens).expand(passages * samples, tokens)


def test_a_number_depends_on_its_place_and_on_nothing_beside_it():
    positions, samples, tokens = places(50, 4)
    whole = uniform(3, positions, samples, 2, tokens)
    assert torch.equal(whole[17:30], uniform(3, positions[17:30], samples[17:30], 2, tokens[17:30]))
    order = torch.arange(9, -1, -1)
    assert torch.equal(whole[:, order], uniform(3, positions, samples, 2, tokens[:, order]))


def test_every_part_of_a_place_matters():
    one = torch.ones(1, 1, dtype=torch.int64)
    known = [(3, one, one, 1, one), (4, one, one, 1, one), (3, 2 * one, one, 1, one), (3, one + 2**32, one, 1, one)]
    known += [(3, one, 2 * one, 1, one), (3, one, one, 2, one), (3, one, one, 1, 2 * one), (3 + 2**32, one, one, 1, one)]
    assert len({uniform(*place).item() for place in known}) == len(known)


def test_numbers_are_uniform_and_noise_is_gumbels():
    numbers = uniform(1, *places(4_000)[:2], 0, places(4_000)[2])
    assert numbers.min() > 0 and numbers.max() < 1
    counts = torch.histc(numbers, 20, 0, 1)
    assert ((counts - 2_000) ** 2 / 2_000).sum() < 36.2  # chi-square with 19 degrees of freedom, p = 0.01
    noise = gumbel(1, *places(4_000)[:2], 0, places(4_000)[2])
    assert noise.isfinite().all() and abs(noise.mean() - 0.5772) < 0.02 and abs(noise.var() - math.pi**2 / 6) < 0.05
