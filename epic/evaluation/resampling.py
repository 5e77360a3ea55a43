"""Chance, by drawing: bootstrap intervals and the randomisation test, with the same draws each time."""

import math

import numpy as np

DRAWS = 10_000
SEED = 42
CELLS = 4_000_000  # of a table of draws, so that memory stays bounded


def bootstrap_interval(differences, level: float) -> list[float]:
    """Return the percentile interval of the mean difference over resampled queries.

    Many queries share a difference (of reciprocal ranks within ten hits there are a hundred at most), so a resample draws how
    often each one occurs. This has the same distribution as drawing the queries themselves, at a fraction of the time.
    """
    values, counts = np.unique(differences, return_counts=True)
    shares, size = counts / counts.sum(), len(differences)
    means = _draws(lambda rng, rows: rng.multinomial(size, shares, size=rows) @ values / size, len(values))
    return [float(bound) for bound in np.quantile(means, [(1 - level) / 2, (1 + level) / 2])]


def ratio_interval(above: np.ndarray, below: np.ndarray, level: float) -> list[float]:
    """Return the percentile interval of the ratio of two means over the same queries."""
    pairs, size = np.stack([above, below], axis=1), len(above)  # (n, 2)
    sums = _draws(lambda rng, rows: rng.multinomial(size, np.full(size, 1 / size), size=rows) @ pairs, size)  # (DRAWS, 2)
    return [float(bound) for bound in np.quantile(sums[:, 0] / sums[:, 1], [(1 - level) / 2, (1 + level) / 2])]


def randomisation_test(differences) -> float:
    """Return p of the mean difference when each query's two systems may have been swapped; two-sided."""
    values, counts = np.unique(np.abs(differences), return_counts=True)
    sums = _draws(lambda rng, rows: (2 * rng.binomial(counts, 0.5, size=(rows, len(counts))) - counts) @ values, len(values))
    observed = abs(math.fsum(differences))
    return float((1 + np.count_nonzero(np.abs(sums) >= observed - 1e-9)) / (1 + DRAWS))


def _draws(draw, columns: int) -> np.ndarray:
    """Draw `DRAWS` values of a statistic, always the same ones, in pieces."""
    rng, rows = np.random.default_rng(SEED), max(1, CELLS // columns)
    return np.concatenate([draw(rng, min(rows, DRAWS - start)) for start in range(0, DRAWS, rows)])
