"""What the measurement layer releases and what the engines fit: noisy marginals."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.errors import ParameterError


@dataclass(frozen=True, eq=False)
class LinearMeasurement:
    """Noisy counts of the cells of one marginal.

    Parameters
    ----------
    clique
        The attributes, in the order of the axes of ``values``.
    values
        Counts plus noise, one axis an attribute; may be negative.
    stddev
        Scale of the noise on each cell, in counts (records), above 0.
    """

    clique: Clique
    values: NDArray[np.float64]
    stddev: float

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        object.__setattr__(self, "clique", tuple(self.clique))
        object.__setattr__(self, "values", values)
        if values.ndim != len(self.clique):
            raise ParameterError(
                f"measurement of {self.clique}: values have {values.ndim} axes; give one axis an attribute"
            )
        if not (isfinite(self.stddev) and self.stddev > 0):
            raise ParameterError(
                f"measurement of {self.clique}: stddev is {self.stddev}; it must be finite and above 0"
            )
        if not np.isfinite(values).all():
            raise ParameterError(f"measurement of {self.clique}: values hold nan or inf; give finite noisy counts")

    def check_fits(self, domain: Domain) -> None:
        """Raise `ParameterError` unless the values have the shape that ``domain`` gives the clique."""
        expected = domain.project(self.clique).shape
        if self.values.shape != expected:
            raise ParameterError(
                f"measurement of {self.clique}: values have shape {self.values.shape}, the domain asks for {expected}"
            )


def combined_measurements(domain: Domain, measurements: Iterable[LinearMeasurement]) -> list[LinearMeasurement]:
    """One measurement a clique: repeats are averaged with inverse-variance weights.

    The axes follow the order of ``domain``, whatever order the measurements had.

    >>> import numpy as np
    >>> domain = Domain(("a",), (1,))
    >>> twice = [LinearMeasurement(("a",), np.array([v]), 1.0) for v in (10.0, 12.0)]
    >>> [(m.values.tolist(), round(m.stddev, 3)) for m in combined_measurements(domain, twice)]
    [([11.0], 0.707)]
    """
    sums: dict[Clique, tuple[NDArray[np.float64], float]] = {}
    for measurement in measurements:
        measurement.check_fits(domain)
        clique = domain.canonical(measurement.clique)
        axes = [measurement.clique.index(name) for name in clique]
        weight = 1.0 / measurement.stddev**2
        values = np.transpose(measurement.values, axes) * weight
        if clique in sums:
            values, weight = values + sums[clique][0], weight + sums[clique][1]
        sums[clique] = (values, weight)
    return [LinearMeasurement(clique, values / weight, weight**-0.5) for clique, (values, weight) in sums.items()]


def estimate_total(domain: Domain, measurements: Iterable[LinearMeasurement]) -> float:
    """Minimum-variance unbiased estimate of the number of records, at least 1.

    Each marginal's sum estimates the total with variance ``n_cells * stddev**2``; the
    estimate weighs the sums by the inverse of that. It may be biased upwards only by the
    floor at 1, which every engine needs to have something to normalise by.

    Raises
    ------
    ParameterError
        If there is no measurement.
    """
    weighted, weights = 0.0, 0.0
    for measurement in measurements:
        measurement.check_fits(domain)
        weight = 1.0 / (measurement.values.size * measurement.stddev**2)
        weighted += weight * float(measurement.values.sum())
        weights += weight
    if weights == 0.0:
        raise ParameterError("measurements: there is none, so the total is unknown; measure at least one marginal")
    return max(weighted / weights, 1.0)
