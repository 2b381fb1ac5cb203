"""What is expected of the levels of one attribute before each is looked at: that all hold alike, or,
where they have an order, that each holds what those beside it do.

Post-processing of released values; see `log_ratios` for how noise and expectation are weighed.
"""

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.arrays import Array
from synthdp.inference.log_ratios import posterior_medians

_NEIGHBOURS = (1, 2, 4, 8, 16, 32)
"""Levels to both sides that count, as standard deviations of a Gaussian."""
_LONG, _MOST_PART = 4, 8
"""Longer ones than that are up to an eighth of all levels: of 300 in which noise hides each, those
around say how many there are.
"""
_FEWEST = 5
"""Levels in an order, below which neighbours say nothing."""
_LEAST = 0.1
"""Standard deviations of noise that neighbours' counts are taken for at least."""


def column_counts(
    counts: Array, variance: Array, total: float, in_order: NDArray[np.int64]
) -> Array:
    """Counts of an attribute's levels, drawn to what is expected of them where noise is large; they
    sum to the total.

    With it one-way errors of `auto` fall by 2 to 22 % at epsilon .1 and by 0 to 12 % at 1 (Adult,
    Titanic, wages, marriages; the same measurements fitted both ways), and those of pairs with them.

    Parameters
    ----------
    counts, variance
        Noisy counts, and the variance of the noise, above 0; shape ``(n_levels,)``.
    total
        Number of records, above 0.
    in_order
        Levels that have an order, ascending; none if the attribute has none.
    """
    if counts.size < 2:
        return np.full(counts.size, total)
    # All levels together are known.
    counts = counts + (total - counts.sum()) * variance / variance.sum()
    variance = variance * (1.0 - variance / variance.sum())
    medians, evidence = zip(
        *(
            posterior_medians(counts, variance, expected)
            for expected in _expected(counts, variance, total, in_order)
        ),
        strict=True,
    )
    likely = np.exp(np.array(evidence) - max(evidence))
    mean = (likely / likely.sum()) @ np.array(medians)
    # Medians of skewed counts sum to less: levels get what they may have, more than they hold none.
    room = np.minimum(variance, np.square(mean))
    missing = total - float(mean.sum())
    if room.sum() > 0:
        mean = np.maximum(mean + missing * room / room.sum(), 0.0)
    return np.asarray(mean * total / mean.sum())


def _expected(
    counts: Array, variance: Array, total: float, in_order: NDArray[np.int64]
) -> list[Array]:
    alike = np.full(counts.size, total / counts.size)
    found = [alike]
    if in_order.size < _FEWEST:
        return found
    seen = counts[in_order]
    least = _LEAST * np.sqrt(variance[in_order])
    for reach in _NEIGHBOURS:
        if reach > _LONG and reach * _MOST_PART > in_order.size:
            break
        steps = np.arange(-4 * reach, 4 * reach + 1)
        # A level says nothing of what is expected of itself.
        weights = np.where(steps == 0, 0.0, np.exp(-0.5 * np.square(steps / reach)))
        sums, n_around = (
            np.convolve(each, weights)[steps[-1] : steps[-1] + seen.size]
            for each in (seen, np.ones(seen.size))
        )
        expected = alike.copy()
        expected[in_order] = np.maximum(sums / n_around, least)
        found.append(expected)
    return found
