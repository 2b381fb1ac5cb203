"""What the measurement layer releases and what the engines fit: noisy marginals."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, distinct
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError

FloatArray = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)

MIN_STDDEV = 1e-9
"""Least scale of noise, in records: what is known exactly needs none smaller, and its square stays
far from 0.
"""

CLEAR_TOTAL = 4.0
"""Standard deviations of its noise that a number of records must reach to be told from noise: what
noise makes of an empty table does once in 30,000 times, and 1,000 records in 15 columns do down to
epsilon 0.1.
"""

MAX_COUNT = 2.0**60
"""Largest count, negative count and scale of noise: the kernel's own answers end there."""


@final
@dataclass(frozen=True, eq=False)
class Coarsening:
    """A public merging of levels: for some attributes, the group that each level falls into.

    >>> import numpy as np
    >>> coarsening = Coarsening({"town": np.array([0, 1, 1])})
    >>> coarsening.domain(Domain(("town", "sex"), (3, 2))).shape
    (2, 2)
    >>> coarsening.apply(("town",), np.array([5.0, 2.0, 1.0]))
    array([5., 3.])
    """

    groups: Mapping[str, NDArray[np.int64]]
    """For each merged attribute an integer array of shape ``(n_levels,)`` with values
    ``0 .. n_groups - 1``, each of them used. Attributes that are not named stay as they are.
    """

    def __post_init__(self) -> None:
        own = {}
        for name, groups in self.groups.items():
            given = np.asarray(groups)
            used = np.unique(given)
            if (
                given.dtype.kind not in "iu"
                or not used.size
                or not np.array_equal(used, np.arange(used.size))
            ):
                raise ParameterError(
                    f"coarsening of {name!r}: groups must be numbered 0, 1, 2, ... without gaps"
                )
            own[name] = given.astype(np.int64)
            own[name].setflags(write=False)
        object.__setattr__(self, "groups", own)

    @cached_property
    def _in_order(self) -> dict[str, tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Of each attribute its levels by group, and where groups begin: kept for many candidates."""
        ordered = {}
        for name, groups in self.groups.items():
            order = np.argsort(groups, kind="stable")
            ordered[name] = order, np.searchsorted(groups[order], np.arange(groups.max() + 1))
        return ordered

    def domain(self, domain: Domain) -> Domain:
        """The domain after merging."""
        for name, groups in self.groups.items():
            if groups.shape != (domain[name],):
                raise ParameterError(
                    f"coarsening of {name!r}: give one group for each of its {domain[name]} levels"
                )
        merged = {name: int(groups.max()) + 1 for name, groups in self.groups.items()}
        return Domain(
            domain.attributes, tuple(merged.get(name, domain[name]) for name in domain.attributes)
        )

    def restricted(self, clique: Clique) -> "Coarsening | None":
        """The part for the attributes of ``clique``; None if it merges none of their levels."""
        groups = {name: self.groups[name] for name in clique if name in self.groups}
        return Coarsening(groups) if groups else None

    def apply(self, clique: Clique, values: NDArray[Number]) -> NDArray[Number]:
        """Sum the cells of a marginal of ``clique`` that fall into the same group."""
        for axis, name in enumerate(clique):
            if name in self.groups:
                order, starts = self._in_order[name]
                values = np.add.reduceat(np.take(values, order, axis=axis), starts, axis=axis)
        return values

    def spread(self, clique: Clique, values: NDArray[Number]) -> NDArray[Number]:
        """For each cell of a marginal of ``clique`` over all levels the value of the one that it is
        merged into.
        """
        for axis, name in enumerate(clique):
            if name in self.groups:
                values = np.take(values, self.groups[name], axis=axis)
        return values


@final
@dataclass(frozen=True, eq=False)
class LinearMeasurement:
    """Noisy counts of the cells of one marginal.

    Parameters
    ----------
    clique
        The attributes, each once, in the order of the axes of ``values``.
    values
        Counts plus noise, integers or floats, one axis an attribute; may be negative, from -2^60 to
        2^60 (1.15e18). They are copied, and cannot be changed afterwards.
    stddev
        Scale of the noise in counts (records), 1e-9 to 2^60: one number, or one a cell, which are
        copied too.
    coarsening
        Public merging of levels that was applied before counting, if any.

    Raises
    ------
    ParameterError
        If an attribute repeats, shapes disagree, or numbers are of another kind, not finite or out
        of range.
    """

    clique: Clique
    values: FloatArray
    stddev: float | FloatArray
    coarsening: Coarsening | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", distinct(self.clique))
        values, stddev = self._own("values"), self._own("stddev")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "stddev", stddev if stddev.ndim else float(stddev))
        if values.ndim != len(self.clique):
            raise ParameterError(
                f"measurement of {self.clique}: values have {values.ndim} axes; give one axis an attribute"
            )
        if stddev.ndim and stddev.shape != values.shape:
            raise ParameterError(f"measurement of {self.clique}: give one stddev, or one a cell")
        if not np.all((stddev >= MIN_STDDEV) & (stddev <= MAX_COUNT)):
            raise ParameterError(
                f"measurement of {self.clique}: stddev must be above 0, {MIN_STDDEV:g} to {MAX_COUNT:.3g} records"
            )
        if not np.isfinite(values).all():
            raise ParameterError(
                f"measurement of {self.clique}: values hold nan or inf; give finite noisy counts"
            )
        if values.size and max(values.max(), -values.min()) > MAX_COUNT:
            raise ParameterError(
                f"measurement of {self.clique}: values lie beyond {MAX_COUNT:.3g}; counts must be within it"
            )

    def _own(self, name: str) -> FloatArray:
        """A copy of the caller's numbers that nobody can write to."""
        try:
            given = np.asarray(getattr(self, name))
        except ValueError:
            raise ParameterError(
                f"measurement of {self.clique}: {name} are rows of several lengths"
            ) from None
        if given.dtype.kind not in "iuf":
            raise ParameterError(
                f"measurement of {self.clique}: {name} are of type {given.dtype}; give integers or floats"
            )
        own = given.astype(np.float64)
        own.setflags(write=False)
        return own

    @property
    def variance(self) -> FloatArray:
        """Variance of the noise on each cell, of the shape of ``values``."""
        return np.broadcast_to(
            np.square(np.asarray(self.stddev, dtype=np.float64)), self.values.shape
        )

    @cached_property
    def total(self) -> tuple[float, float]:
        """What its cells sum to, an estimate of the number of records, and the variance of its
        noise.
        """
        return float(self.values.sum()), float(self.variance.sum())

    @property
    def groups(self) -> dict[str, NDArray[np.int64]]:
        """For each of its attributes whose levels are merged the group of each level."""
        merged = self.coarsening.groups if self.coarsening else {}
        return {name: merged[name] for name in self.clique if name in merged}

    def check_fits(self, domain: Domain) -> None:
        """Raise `ParameterError` unless the values have the shape of the clique in ``domain``."""
        measured = self.coarsening.domain(domain) if self.coarsening else domain
        expected = measured.project(self.clique).shape
        if self.values.shape != expected:
            raise ParameterError(
                f"measurement of {self.clique}: values have shape {self.values.shape}, the domain asks for {expected}"
            )

    def squeezed(self) -> "LinearMeasurement":
        """The same information without attributes of one level, and without a coarsening of others
        than its own; those whose levels are merged into one stay.
        """
        merged = self.groups
        axes = [
            axis
            for axis, name in enumerate(self.clique)
            if self.values.shape[axis] > 1 or name in merged
        ]
        if len(axes) == len(self.clique) and (merged or self.coarsening is None):
            return self
        kept = tuple(self.clique[axis] for axis in axes)
        shape = [self.values.shape[axis] for axis in axes]
        stddev = np.reshape(self.stddev, shape) if np.ndim(self.stddev) else self.stddev
        coarsening = self.coarsening.restricted(kept) if self.coarsening and merged else None
        return LinearMeasurement(kept, self.values.reshape(shape), stddev, coarsening)

    def coarsened(self, coarsening: Coarsening) -> "LinearMeasurement":
        """The same information about merged levels (of a measurement that is not merged yet)."""
        values = coarsening.apply(self.clique, self.values)
        variance = coarsening.apply(self.clique, np.array(self.variance))
        return LinearMeasurement(self.clique, values, np.minimum(np.sqrt(variance), MAX_COUNT))


def combined_measurements(
    domain: Domain, measurements: Iterable[LinearMeasurement]
) -> list[LinearMeasurement]:
    """One measurement a clique: repeats are averaged with inverse-variance weights.

    The axes follow the order of ``domain``, whatever order the measurements had.

    >>> import numpy as np
    >>> domain = Domain(("a",), (1,))
    >>> repeats = [LinearMeasurement(("a",), np.array([v]), 1.0) for v in (10.0, 12.0, 10.0, 12.0)]
    >>> [(m.values.tolist(), m.variance.tolist()) for m in combined_measurements(domain, repeats)]
    [([11.0], [0.25])]
    """
    sums: dict[Clique, tuple[FloatArray, FloatArray]] = {}
    for measurement in measurements:
        measurement.check_fits(domain)
        clique = domain.canonical(measurement.clique)
        axes = [measurement.clique.index(name) for name in clique]
        weights = np.transpose(1.0 / measurement.variance, axes)
        values = np.transpose(measurement.values, axes) * weights
        if clique in sums:
            values, weights = values + sums[clique][0], weights + sums[clique][1]
        sums[clique] = (values, weights)
    return [
        LinearMeasurement(clique, values / weights, np.maximum(np.sqrt(1.0 / weights), MIN_STDDEV))
        for clique, (values, weights) in sums.items()
    ]


def estimate_total(measurements: Iterable[LinearMeasurement]) -> float:
    """Minimum-variance unbiased estimate of the number of records, floored at 1.

    Each marginal's sum estimates the total; the sums are averaged by the inverse of their
    variances. The floor is there because engines need something to normalise by.

    Raises
    ------
    ParameterError
        If there is no measurement.
    """
    return max(total_and_noise(measurements)[0], 1.0)


def clear_total(measurements: Iterable[LinearMeasurement]) -> float | None:
    """The estimate of `estimate_total`, or None where noise hides it: below `CLEAR_TOTAL` standard
    deviations.

    >>> import numpy as np
    >>> [clear_total([LinearMeasurement((), np.array(count), 10.0)]) for count in (39.0, 41.0)]
    [None, 41.0]
    """
    total, stddev = total_and_noise(measurements)
    return max(total, 1.0) if total >= CLEAR_TOTAL * stddev else None


def total_and_noise(measurements: Iterable[LinearMeasurement]) -> tuple[float, float]:
    """The unbiased estimate of the number of records, and the standard deviation of its noise.

    Raises
    ------
    ParameterError
        If there is no measurement.
    """
    weighted, weights = 0.0, 0.0
    for measurement in measurements:
        total, variance = measurement.total
        weighted += total / variance
        weights += 1.0 / variance
    if weights == 0.0:
        raise ParameterError(
            "measurements: there is none, so the total is unknown; measure at least one marginal"
        )
    return weighted / weights, weights**-0.5
