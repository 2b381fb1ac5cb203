"""Can the rows of a public table express what was measured? Answered from released values only.

Everything here is a lower confidence bound: were the fitted weights the truth, a bound would be
above 0 less than once in 1e9 releases, for Gaussian noise of the recorded size. (That the fit
follows the noise makes the bounds smaller; that counts cannot be negative shifts heavy cells by a
fraction of the noise, which shows only where the noise is as large as the counts.) The fitted
counts are first rescaled to fit best: the total that they were given is an estimate too, and its
error is no misfit.

- *missed*: records that the measurements place where the best weights cannot. Per clique the
  largest of several bounds: the residuals summed along each set of axes (a level that the public
  table lacks shows in a row of cells that would each be lost in the noise), and the sum of all
  positive residuals beyond what noise alone gives (many small misfits).
- *uncovered*: the same for cells without any public row, whose true count would have to be 0.

Whether the fit found the best weights is not taken on trust. The loss is convex, so no weights
have a loss lower by more than the slope along the best single row promises (the Frank-Wolfe gap):
a misfit is held against the rows only if the chi-squared less that is beyond noise too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations
from math import log, pi, prod, sqrt
from statistics import NormalDist
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.inference.arrays import Array
from synthdp.inference.loss import MarginalLoss

FALSE_ALARM = 1e-9
"""Chance that a bound is above 0 although the public rows can express the truth."""


@final
@dataclass(frozen=True, kw_only=True)
class SupportReport:
    """How well the rows of a public table can express what was measured."""

    missed_share: float
    """At least this share of the records (of the clique where it is largest) lies where no
    weighting of the public rows puts it.
    """
    uncovered_share: float
    """At least this share lies in cells without any public row."""
    chi_squared: float
    """Sum of the squared residuals of all measured cells, each in units of its noise."""
    least_chi_squared: float
    """What no weighting of the public rows (to the estimated total) can go below; below 0 if the
    fit is far from the best one.
    """
    chi_squared_limit: float
    """What noise alone exceeds less than once in 1e9 fits."""

    @property
    def verdict(self) -> Literal["fits", "strained"]:
        """``strained`` if the misfit is more than noise; a worse one than is tolerated was refused."""
        if (
            max(self.missed_share, self.uncovered_share) > 0
            or self.chi_squared > self.chi_squared_limit
        ):
            return "strained"
        return "fits"

    def certain_share(self) -> float:
        """Share of the records outside of the support: no weights reach them, the best ones
        included.
        """
        proven = self.least_chi_squared > self.chi_squared_limit
        return max(self.uncovered_share, self.missed_share if proven else 0.0)


def judge_support(
    loss: MarginalLoss,
    fitted: Array,
    covered: NDArray[np.bool_],
    *,
    total: float,
    least_slope: Callable[[Array], float],
) -> tuple[SupportReport, Clique]:
    """The report of a fit, and the clique of the largest share in it.

    Parameters
    ----------
    loss
        What was minimised.
    fitted
        Fitted counts of the measured cells, shape ``(n_cells,)``.
    covered
        Which of these cells have a public row.
    total
        Number of records.
    least_slope
        Given one number for each measured cell, the smallest sum over the cells of a public row.
    """
    noisy = -loss.residual(np.zeros_like(fitted))
    overlap = max(0.0, float(np.dot(loss.weights * noisy, fitted)))
    # The fit has the estimated total. What a wrong total adds to the misfit is not the support's
    # fault, so the best multiple is compared.
    scale = overlap / float(np.dot(loss.weights * fitted, fitted))
    residual = noisy - scale * fitted
    slopes = loss.weights * (fitted - noisy)
    # By convexity no weighting loses less than the fit by more than this gap.
    gap = float(np.dot(slopes, fitted)) - total * least_slope(slopes)
    variance = 1.0 / loss.weights
    n_sums = sum(prod(size + 1 for size in shape) for shape in loss.shapes)
    # A union bound over all sums of cells that are tested, in both reports.
    z = -NormalDist().inv_cdf(FALSE_ALARM / (2 * n_sums + len(loss.shapes)))
    missed = [
        max(_in_sums(table, noise, z), _in_many_cells(table, noise, z))
        for table, noise in zip(loss.split(residual), loss.split(variance), strict=True)
    ]
    outside = loss.split(np.where(covered, 0.0, noisy))
    noises = loss.split(np.where(covered, 0.0, variance))
    uncovered = [_in_sums(table, noise, z) for table, noise in zip(outside, noises, strict=True)]
    worst = int(np.argmax(np.maximum(missed, uncovered)))
    report = SupportReport(
        missed_share=min(1.0, max(missed) / total),
        uncovered_share=min(1.0, max(uncovered) / total),
        chi_squared=2.0 * loss.of_residual(residual),
        least_chi_squared=2.0 * (loss.of_residual(fitted - noisy) - gap),
        chi_squared_limit=_largest_chi_squared(loss.n_cells),
    )
    return report, loss.cliques[worst]


def _in_sums(misfit: Array, variance: Array, z: float) -> float:
    """Records beyond ``z`` times the noise, in sums of cells along the set of axes that shows most
    of them.
    """
    axes = range(misfit.ndim)
    largest = 0.0
    for summed in chain.from_iterable(
        combinations(axes, count) for count in range(misfit.ndim + 1)
    ):
        beyond = misfit.sum(axis=summed) - z * np.sqrt(variance.sum(axis=summed))
        largest = max(largest, float(np.maximum(beyond, 0.0).sum()))
    return largest


def _in_many_cells(misfit: Array, variance: Array, z: float) -> float:
    """Sum of the positive residuals beyond what noise gives; that is concentrated like a Gaussian
    of its variance.
    """
    expected = float(np.sqrt(variance).sum()) / sqrt(2.0 * pi)
    return float(np.maximum(misfit, 0.0).sum()) - expected - z * sqrt(float(variance.sum()))


def _largest_chi_squared(degrees: int) -> float:
    """Exceeded with a chance of at most `FALSE_ALARM` [Laurent & Massart 2000, lemma 1]."""
    x = log(1.0 / FALSE_ALARM)
    return degrees + 2.0 * sqrt(degrees * x) + 2.0 * x
