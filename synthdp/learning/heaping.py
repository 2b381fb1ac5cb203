"""Learning which values of a column of numbers are round: more of them multiples of 5, 10, 50, ...
than by chance.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.density import Density
from synthdp.learning.cells.significance import ASTRONOMIC, significance
from synthdp.learning.learnt import Learnt
from synthdp.learning.search_grid import SearchGrid
from synthdp.privacy.values.private_values import NoisyHistogram, PrivateValues
from synthdp.schema.axes.bin_shape import Heaping
from synthdp.schema.axes.points import STEPS
from synthdp.schema.words.heaps import counts_of_classes, densities

Floats = NDArray[np.float64]

SPREAD = 0.1
"""Heaps are looked for if at least this part of the records lies where the density does not tell
values apart.
"""

WORTH = 0.05
"""Part of these records that must be round beyond chance, besides passing noise."""

MOST_STEPS = 6
"""Most steps that are found: people round to few."""

ROUNDS, CLOSE = 300, 1e-4
"""Most rounds of the fit, and the relative change of weights at which it ends."""

DIGITS = 4
"""Decimals of the shares, which are rounded down."""


def may_be_heaped(density: Density) -> bool:
    """Whether round values could be told from those beside them, and are not told already."""
    spread = float(density.mass[density.widths > 1].sum())
    return density.widths.max() >= STEPS[0] and spread >= SPREAD * float(density.mass.sum()) > 0


def learn_heaping(
    values: PrivateValues, axis: SearchGrid, learnt: Learnt, *, rho: Fraction
) -> dict[str, float] | None:
    """Spend ``rho`` on how round the values of a column are: one histogram of `steps_of`, a cell
    for each step.

    Parameters
    ----------
    values, axis
        The records behind the kernel, and the column's grid.
    learnt
        Where its records lie.
    rho
        Cost.

    Returns
    -------
    dict or None
        Shares by step, as ``"heaping"`` of a schema has them; None where no more values are round
        than by chance.
    """
    # Steps are counted by the coarsest one that divides a value, so that one histogram shows all of
    # them.
    cells = np.arange(len(STEPS) + 2)
    histogram = values.histogram(replace(axis.grid, of="steps"), cells, rho=rho)
    return learnt_heaping(histogram, learnt.density, axis.grid.decimals, learnt.stddev)


def learnt_heaping(
    histogram: NoisyHistogram, density: Density, decimals: int, stddev: float
) -> dict[str, float] | None:
    """Shares by step, from noisy counts of records by their step; post-processing only.

    ``stddev`` is that of the noise of what single points of the density hold.
    """
    largest = int(max(abs(density.starts[0]), abs(density.starts[-1])))
    steps = np.array([step for step in STEPS if step <= largest], dtype=np.int64)
    firsts = density.starts[:-1]
    stops = density.starts[1:]
    points = counts_of_classes(steps, firsts, stops).astype(np.float64)
    single = density.widths == 1
    # Values that stand alone in the density are known as they are; heaps are of the rest.
    counts = histogram.counts[: len(steps) + 1] - points[:, single] @ density.mass[single]
    variances = (
        np.full(len(counts), histogram.stddev**2) + points[:, single].sum(axis=1) * stddev**2
    )
    kept = _steps_that_show(counts, variances, points[:, ~single], density.mass[~single])
    if not kept:
        return None
    chosen = steps[kept]
    weights = _fitted(
        _joined(counts, kept), _joined(points[:, ~single], kept), density.mass[~single]
    )
    shares = weights * densities(chosen.tolist())
    # Down, so that they never add up to more than 1.
    shares = np.floor(shares / shares.sum() * 10**DIGITS) / 10**DIGITS
    unit = Fraction(10) ** -decimals
    return Heaping(
        steps=tuple(unit * step for step in chosen.tolist()), shares=tuple(shares[1:].tolist())
    ).to_dict()


def _steps_that_show(counts: Floats, variances: Floats, points: Floats, mass: Floats) -> list[int]:
    """Positions of the steps by which values are rounded beyond doubt, the clearest found first, in
    order.
    """
    total = float(counts.sum())
    kept = list[int]()
    if total <= 0 or len(counts) < 2:
        return []
    limit = significance(len(counts) - 1, ASTRONOMIC)
    # A multiple of 100 is one of 10 as well: what shows is each step together with all coarser
    # ones.
    observed = _from_on(counts)[1:]
    # Greedy: the clearest step is taken, and the others are tested again given that one.
    while len(kept) < min(MOST_STEPS, len(counts) - 1):
        weights = _fitted(_joined(counts, kept), _joined(points, kept), mass)
        expected = _from_on(_expected(_spread_out(weights, kept, len(counts)), points, mass))
        expected = (expected * total / expected[0])[1:]
        chance = np.clip(expected * (1 - expected / total), 0, None)  # of the records themselves
        excess = observed - expected
        evidence = excess / np.sqrt(_from_on(variances)[1:] + chance)
        # Beyond noise, and worth having: of many records a tenth of a per cent would be beyond
        # noise.
        evidence[(excess < WORTH * total) | (expected == 0)] = 0
        evidence[kept] = 0
        best = int(np.argmax(evidence))
        if evidence[best] <= limit:
            break
        kept = sorted([*kept, best])
    return kept


def _from_on(values: Floats) -> Floats:
    """What each class and all coarser ones have together."""
    return np.cumsum(values[::-1])[::-1]


def _joined(values: Floats, kept: list[int]) -> Floats:
    """Classes of all steps as classes of those that are kept."""
    starts = [0, *(position + 1 for position in kept)]
    return np.asarray(np.add.reduceat(values, starts, axis=0))


def _spread_out(weights: Floats, kept: list[int], n_classes: int) -> Floats:
    """The weights of classes of kept steps, for classes of all steps."""
    return weights[np.searchsorted(kept, np.arange(-1, n_classes - 1), side="right")]


def _expected(weights: Floats, points: Floats, mass: Floats) -> Floats:
    """Records of each class if each point of a piece is as likely as its class weighs."""
    sizes = weights @ points
    return np.asarray(weights * (points @ (mass / sizes)))


def _fitted(counts: Floats, points: Floats, mass: Floats) -> Floats:
    """The weights of classes that make counts likeliest: the MM algorithm for choice models [Hunter
    04].
    """
    weights = np.ones(len(counts))
    wanted = np.maximum(counts, LEAST * counts.sum())
    has_points = points.any(axis=1)
    for _ in range(ROUNDS if len(counts) > 1 else 0):
        expected = np.maximum(_expected(weights, points, mass), LEAST * mass.sum())
        before = weights
        ratios = (wanted / wanted.sum()) / (expected / expected.sum())
        weights = np.where(has_points, weights * ratios, 1.0)
        # Only ratios mean anything; the class of no step is the unit.
        weights = np.clip(weights / weights[0], LEAST, 1 / LEAST)
        if np.allclose(weights, before, rtol=CLOSE, atol=0):
            break
    return weights


LEAST = 1e-9
"""Share of records that each class is taken to have at least."""
