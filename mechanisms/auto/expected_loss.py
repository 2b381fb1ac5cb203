"""The expected error of a workload after some measurements, when the errors of the model before
them are known roughly.

The error of a model on a marginal is a sum of residuals, one for each set of the marginal's
columns. Residuals are orthogonal (`residuals`), so their squared L1 norms add up. Each residual is
again a sum of parts, one for each resolution at which it is seen.

Let the model be wrong by E on a part, and let the part be measured with an expected L1 noise of N.
Weighing the model against the measurement leaves an error of ``1 / sqrt(1 / E^2 + 1 / N^2)``. A
measured clique informs the residuals of all its subsets, up to its own resolution.
"""

from collections.abc import Mapping, Sequence
from math import pi
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.mechanisms.auto.resolutions import Resolutions, ResolvedClique
from synthdp.mechanisms.shared.residuals import Subsets

FloatArray = NDArray[np.float64]

_MIN_ERROR = 1e-6
"""Error of a marginal that is known exactly, in records: its square root has no slope at 0."""


@final
class ExpectedLoss:
    """The weighted expected L1 error of a workload, as a function of what cliques are measured
    with.

    Parameters
    ----------
    resolutions
        What marginals can be seen at.
    workload
        For each marginal its weight.
    errors
        For each part of a residual, which is what a resolution shows beyond the next coarser one
        that shows less, the squared L1 error of what is known, in squared records, above 0. Those
        that are missing are 0.
    l2_squared
        Squared L2 sensitivity of a marginal.
    """

    def __init__(
        self,
        resolutions: Resolutions,
        workload: Mapping[Clique, float],
        errors: Mapping[ResolvedClique, float],
        *,
        l2_squared: int,
    ) -> None:
        self.resolutions = resolutions
        self.l2_squared = l2_squared
        """Squared L2 sensitivity of a marginal."""
        # Which subsets there are does not depend on the resolution; sums below are unweighted
        # (power 0), so the sizes play no part.
        self._subsets = Subsets(resolutions.sizes[-1], workload)
        self._in_workload = np.array([self._subsets.position[clique] for clique in workload])
        self._weights = np.array(list(workload.values()), dtype=np.float64)
        self.parts = [
            part
            for part, error in errors.items()
            # Parts without error have nothing to gain, and those outside of the workload matter to
            # nobody: leaving both out keeps the arrays short.
            if error > 0 and part.clique in self._subsets.position
        ]
        """The parts of residuals that matter."""
        self._errors = np.array([errors[part] for part in self.parts])
        self._clique_of_part = np.array(
            [self._subsets.position[part.clique] for part in self.parts], dtype=np.int64
        )
        self._position = {part: position for position, part in enumerate(self.parts)}
        dimensions = []
        for clique, resolution in self.parts:
            # What a part counts as is the difference of two products: those of its resolution and
            # of the next coarser one that shows less. The coarsest has none before it.
            coarser = [number for number in resolutions.of(clique) if number < resolution][-1:]
            less = sum(resolutions.dimensions(clique, number) for number in coarser)
            dimensions.append(resolutions.dimensions(clique, resolution) - less)
        self.n_cells = np.array([resolutions.cells(*part) for part in self.parts])
        """What the marginal of each counts as, at its resolution."""
        # A marginal of n cells measured with rho has an L1 error of n sensitivity / sqrt(pi rho).
        noise = l2_squared / pi * np.array(dimensions) * self.n_cells
        # A part without dimensions (a column of one level) cannot be known better by measuring.
        self._noise = np.where(noise > 0, noise, np.inf)

    def parts_measured_by(
        self, measured: Sequence[ResolvedClique]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Which parts of residuals each measurement says something of: pairs of the position of a
        measurement and that of a part.
        """
        position = self._position
        pairs = [
            (i, position[part])
            for i, resolved in enumerate(measured)
            for part in self.resolutions.parts_of(resolved)
            if part in position
        ]
        owners, members = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return owners, members

    def left(self, precision: FloatArray) -> FloatArray:
        """The squared error that each part is left with.

        Parameters
        ----------
        precision
            For each the sum, over measurements of it, of rho times its cells over theirs.
        """
        # 1 / (1 / E^2 + 1 / N^2) with N^2 = noise / precision, written such that no precision at
        # all gives E^2 without a division by 0.
        return self._errors / (1.0 + self._errors * precision / self._noise)

    def precision_of(self, measured: Sequence[ResolvedClique], rhos: Sequence[float]) -> FloatArray:
        """For each part the precision that some measurements together give it."""
        owners, members = self.parts_measured_by(measured)
        sizes = np.array([self.resolutions.cells(*resolved) for resolved in measured])
        # Summing a table down adds up the noise of the cells that fall together: of the budget of a
        # wide table a narrow one inside of it sees the ratio of their cells.
        amounts = np.asarray(rhos, dtype=np.float64)[owners] * self.n_cells[members] / sizes[owners]
        return np.bincount(members, amounts, len(self.parts)).astype(np.float64)

    def left_by_part(self, precision: FloatArray) -> dict[ResolvedClique, float]:
        """`left`, by part."""
        return dict(zip(self.parts, self.left(precision).tolist(), strict=True))

    def after(self, precision: FloatArray) -> tuple[float, FloatArray]:
        """The error of the workload, and by how much more precision of each part lowers it."""
        left = self.left(precision)
        # Parts of one residual share its clique, and a marginal's error is made of all residuals
        # inside of it: two sums, one after the other.
        whole = np.bincount(self._clique_of_part, left, len(self._subsets.cliques)).astype(
            np.float64
        )
        errors = np.sqrt(self._subsets.summed_up(whole, power=0)[self._in_workload] + _MIN_ERROR**2)
        # The chain rule by hand, in the same order backwards: from each marginal of the workload
        # down to the residuals that it holds. The sum is convex in the precisions, which the
        # updates of a split rely on.
        blame = np.zeros_like(whole)
        blame[self._in_workload] = self._weights / (2.0 * errors)
        blame = self._subsets.summed_down(blame, power=0)
        return float(self._weights @ errors), blame[self._clique_of_part] * np.square(
            left
        ) / self._noise
