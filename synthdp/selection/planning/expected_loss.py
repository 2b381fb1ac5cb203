"""The error that a workload is left with after some measurements, where what they would find is known roughly.

What a model errs by on a marginal falls apart into residuals, one for each set of its columns, that stand at
right angles to each other (`residuals`): their squared L1 norms add up. A residual that the model errs by E
on, measured with an expected L1 noise of N, is left with an error of ``1 / sqrt(1 / E^2 + 1 / N^2)``: that of
weighing the model against the measurement. A measured clique tells of the residuals of all its subsets.
"""

from collections.abc import Mapping, Sequence
from math import pi
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique, subsets
from synthdp.selection.residuals import Subsets

FloatArray = NDArray[np.float64]

_MIN_ERROR = 1e-6
"""Records: the error of a marginal of which everything is known."""


@final
class ExpectedLoss:
    """The weighted expected L1 error of a workload, as a function of what cliques are measured with.

    Parameters
    ----------
    sizes
        For each attribute its number of levels, or how many it counts as in sums of noise.
    workload
        For each marginal its weight.
    errors
        For each residual the squared L1 error of what is known, in squared records; 0 if there is none.
    l2_squared
        Squared L2 sensitivity of a marginal.
    """

    def __init__(
        self,
        sizes: Mapping[str, float],
        workload: Mapping[Clique, float],
        errors: Mapping[Clique, float],
        *,
        l2_squared: int,
    ) -> None:
        self.sizes = sizes
        self._subsets = Subsets(sizes, workload)
        self._wanted = np.array([self._subsets.position[clique] for clique in workload])
        self._weights = np.array(list(workload.values()), dtype=np.float64)
        self._errors = np.array([errors.get(clique, 0.0) if clique else 0.0 for clique in self._subsets.cliques])
        # A marginal of n cells measured with rho has an L1 error of n sensitivity / sqrt(pi rho).
        noise = l2_squared / pi * self._subsets.spreads * np.square(self._subsets.sizes)
        self._noise = np.where(self._subsets.spreads > 0, noise, np.inf)

    @property
    def residuals(self) -> list[Clique]:
        """The sets of columns whose residuals matter."""
        return self._subsets.cliques

    @property
    def n_cells(self) -> FloatArray:
        """What the marginal of each counts as."""
        return self._subsets.sizes

    def told_by(self, cliques: Sequence[Clique]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each residual that each clique tells of their positions, clique by clique: of cliques, of residuals."""
        position = self._subsets.position
        pairs = [(i, position[part]) for i, c in enumerate(cliques) for part in subsets(c) if part in position]
        owners, members = np.array(pairs, dtype=np.int64).T
        return owners, members

    def left(self, precision: FloatArray) -> FloatArray:
        """The squared error that each residual is left with.

        Parameters
        ----------
        precision
            For each the sum, over measured cliques that hold it, of rho times its size over theirs.
        """
        return self._errors / (1.0 + self._errors * precision / self._noise)

    def after(self, precision: FloatArray) -> tuple[float, FloatArray]:
        """The error of the workload, and by how much more precision of each residual lowers it."""
        left = self.left(precision)
        errors = np.sqrt(self._subsets.summed_up(left, power=0)[self._wanted] + _MIN_ERROR**2)
        blame = np.zeros_like(left)
        blame[self._wanted] = self._weights / (2.0 * errors)
        blame = self._subsets.summed_down(blame, power=0)
        return float(self._weights @ errors), blame * np.square(left) / self._noise
