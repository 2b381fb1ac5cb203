"""The loss that engines minimise: weighted squared distance to the noisy marginals."""

from collections.abc import Sequence
from copy import copy
from math import prod
from typing import final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import LinearMeasurement, combined_measurements
from synthdp.inference.arrays import Array

_NEGLIGIBLE = 1e-8
"""A loss per cell that is zero for every purpose; the noise's own size is one half."""


@final
class MarginalLoss:
    """``1/2 sum over cells ((mu - y) / sigma)^2`` over all measured marginals, on flat vectors.

    Up to a constant it is the negative log-likelihood of the (Gaussian) noise. The cells of all
    measured marginals are laid end to end; repeats of a clique are merged first. What repeats
    differ by among themselves is a part of the loss that no fit can change, ``of_repeats``:
    optimisers work on the rest, so that they stop by what can be gained, and add it to the loss
    they report.

    Parameters
    ----------
    domain
        The domain of the measurements.
    measurements
        Noisy marginals, none of them coarsened.
    """

    def __init__(self, domain: Domain, measurements: Sequence[LinearMeasurement]) -> None:
        # Measuring one clique twice is measuring it once, more precisely: fewer cells, and the same
        # minimum.
        merged = self.measurements = combined_measurements(domain, measurements)
        self.cliques: list[Clique] = [measurement.clique for measurement in merged]
        self.shapes = [measurement.values.shape for measurement in merged]
        sizes = [measurement.values.size for measurement in merged]
        # Flat vectors, because optimisers combine iterates linearly, and one product of long arrays
        # is quicker than many of short ones.
        self._offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self._noisy = self.flatten([measurement.values for measurement in merged])
        self.weights = self.flatten([1.0 / measurement.variance for measurement in merged])
        self.of_repeats = _loss_of_repeats(domain, measurements, merged)
        self.negligible = _NEGLIGIBLE * self.n_cells
        self._rest = 0.0

    def of_total(self, total: float) -> "MarginalLoss":
        """The same for distributions over so many records: tables of one cell, which tell no more,
        are settled.

        What they add to the loss stays in it. But however exact they are, the rounding error of a
        sum of cells is no reason to move.
        """
        other = copy(self)
        other._noisy, other.weights = self._noisy.copy(), self.weights.copy()
        single = [
            start
            for start, shape in zip(self._offsets[:-1], self.shapes, strict=True)
            if prod(shape) == 1
        ]
        other._rest += 0.5 * float(
            np.sum(self.weights[single] * np.square(total - self._noisy[single]))
        )
        # Their residual is 0 from now on, but for rounding.
        other._noisy[single] = total
        others = np.delete(self.weights, single)
        # The least weight there is: with the weight of an exact total, a rounding error of 1e-10
        # records would outweigh all noisy cells.
        other.weights[single] = others.min() if others.size else 1.0
        return other

    def towards(self, target: Array, variance: Array, *, rest: float) -> "MarginalLoss":
        """The same with other counts to come close to, variances of at least the noise's, and a
        loss for certain.
        """
        other = copy(self)
        other._noisy = target
        other.weights = 1.0 / variance
        other.of_repeats = 0.0
        other._rest = rest
        # Where weights are loosened a loss of the same size says less.
        other.negligible *= float(np.min(other.weights / self.weights, initial=1.0))
        return other

    @property
    def n_cells(self) -> int:
        """Number of measured cells."""
        return int(self._offsets[-1])

    def flatten(self, tables: Sequence[Array]) -> Array:
        """Lay one table a clique end to end."""
        return np.concatenate([np.ravel(table) for table in tables]) if tables else np.empty(0)

    def split(self, vector: Array) -> list[Array]:
        """The inverse of `flatten`; the tables are views."""
        return [
            vector[start:end].reshape(shape)
            for start, end, shape in zip(
                self._offsets[:-1], self._offsets[1:], self.shapes, strict=True
            )
        ]

    def of_tables(self, tables: Sequence[Array]) -> float:
        """The loss of one table of expected counts a clique, over all measurements as they were
        given.
        """
        return self.of_residual(self.residual(self.flatten(tables))) + self.of_repeats

    def residual(self, marginals: Array) -> Array:
        """Model minus noisy counts, shape ``(n_cells,)``."""
        return np.asarray(marginals - self._noisy)

    def of_residual(self, residual: Array) -> float:
        """The loss at a residual, but for `of_repeats`."""
        return self._rest + 0.5 * float(np.dot(residual * self.weights, residual))


def _loss_of_repeats(
    domain: Domain, measurements: Sequence[LinearMeasurement], merged: Sequence[LinearMeasurement]
) -> float:
    """Half the squared distances of all measurements to the merged ones, in units of their noise."""
    means = {measurement.clique: measurement.values for measurement in merged}
    loss = 0.0
    # Nothing was repeated: nothing to lose.
    if len(merged) < len(measurements):
        for measurement in measurements:
            clique = domain.canonical(measurement.clique)
            mean = np.transpose(means[clique], [clique.index(name) for name in measurement.clique])
            loss += 0.5 * float(np.sum(np.square(measurement.values - mean) / measurement.variance))
    return loss
