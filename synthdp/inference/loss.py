"""The loss that engines minimise: weighted squared distance to the noisy marginals."""

from collections.abc import Sequence
from typing import final

import numpy as np

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.inference.arrays import Array
from synthdp.measurement import LinearMeasurement, combined_measurements


@final
class MarginalLoss:
    """``1/2 sum over cells ((mu - y) / sigma)^2`` over all measured marginals, on flat vectors.

    Up to a constant it is the negative log-likelihood of the (Gaussian) noise. The cells of all
    measured marginals are laid end to end; repeats of a clique are merged first.

    Parameters
    ----------
    domain
        The domain of the measurements.
    measurements
        Noisy marginals, none of them coarsened.
    """

    def __init__(self, domain: Domain, measurements: Sequence[LinearMeasurement]) -> None:
        merged = combined_measurements(domain, measurements)
        self.cliques: list[Clique] = [measurement.clique for measurement in merged]
        self.shapes = [measurement.values.shape for measurement in merged]
        sizes = [measurement.values.size for measurement in merged]
        self._offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self._noisy = self.flatten([measurement.values for measurement in merged])
        self.weights = self.flatten([1.0 / measurement.variance for measurement in merged])

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
            for start, end, shape in zip(self._offsets[:-1], self._offsets[1:], self.shapes, strict=True)
        ]

    def of_tables(self, tables: Sequence[Array]) -> float:
        """The loss of one table of expected counts a clique."""
        return self.of_residual(self.residual(self.flatten(tables)))

    def residual(self, marginals: Array) -> Array:
        """Model minus noisy counts, shape ``(n_cells,)``."""
        return np.asarray(marginals - self._noisy)

    def of_residual(self, residual: Array) -> float:
        """The loss at a residual."""
        return 0.5 * float(np.dot(residual * self.weights, residual))
