"""Marginals as sums of residuals: best linear estimates of many marginals at once, in closed form
[2305.08175].

The residual of a clique is what its marginal says beyond smaller ones: the marginal, centred along
every axis. The marginal of S is the sum, over all subsets A of S, of A's residual spread evenly
over the other attributes, and these parts are orthogonal. So noise that is independent and equal in
all cells of a measured marginal falls apart into noise on residuals. With ``size(S - A)`` cells of
S in one of A,

- a measurement of S of variance v says as much of the residual of A as one of A of variance
  ``v size(S - A)``: the precision of A's residual is ``sum over S of 1 / (v_S size(S - A))``;
- least squares is, residual by residual, the average with these weights;
- each cell of the estimate of S has variance ``sum over A of p_A / (precision of A) / size(S -
  A)^2`` where ``p_A`` is the product of ``1 - 1 / size`` over the attributes of A.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import MIN_STDDEV, FloatArray, LinearMeasurement


def best_linear_estimates(
    domain: Domain, measurements: Sequence[LinearMeasurement], cliques: Sequence[Sequence[str]]
) -> list[LinearMeasurement]:
    """Unbiased estimates of marginals with the least possible variance, from all that was measured.

    They agree with each other wherever they overlap. As their errors are not independent of each
    other, fit engines to the measurements, not to these. Released values in, released values out:
    free of charge.

    Parameters
    ----------
    domain
        Gives the numbers of levels.
    measurements
        Noisy marginals, each with one ``stddev`` for all cells and without merged levels.
    cliques
        What to estimate, such as a workload's; each inside some measured clique.

    Returns
    -------
    list of LinearMeasurement
        In the order of ``cliques``, axes in their order: values in counts, which may be negative,
        and the exact standard deviation of the noise, the same in all cells.

    Raises
    ------
    ParameterError
        If a measurement has merged levels or several scales of noise or does not fit the domain, or
        a clique repeats an attribute, or is not determined by what was measured.

    >>> domain = Domain(("a", "b"), (2, 2))
    >>> pair = LinearMeasurement(("a", "b"), np.array([[40.0, 10.0], [20.0, 30.0]]), 2.0)
    >>> single = LinearMeasurement(("a",), np.array([53.0, 50.0]), 2.0)
    >>> (best,) = best_linear_estimates(domain, [pair, single], [("a",)])
    >>> best.values.round(3).tolist(), round(float(best.stddev) ** 2, 3)
    ([52.0, 50.0], 2.667)
    """
    for names in cliques:
        if len(names) != len(domain.canonical(names)):
            raise ParameterError(
                f"clique {tuple(names)}: an attribute repeats; name each attribute once"
            )
    # The closed form holds for noise that is independent and equal in all cells of a table, and for
    # nothing else: other measurements are refused, not approximated.
    weights = [1.0 / _variance(domain, measurement) for measurement in measurements]
    # Columns of one level have residuals of no dimension, 0 / 0 in all that follows. They are taken
    # out, and put back as axes of length one.
    squeezed = [measurement.squeezed() for measurement in measurements]
    measured = [domain.canonical(measurement.clique) for measurement in squeezed]
    asked = [domain.varying(domain.canonical(names)) for names in cliques]
    subsets = Subsets(domain, [*measured, *asked])
    tables = [np.zeros(domain.project(clique).shape) for clique in subsets.cliques]
    precision = np.zeros(len(tables))
    for clique, measurement, weight in zip(measured, squeezed, weights, strict=True):
        position = subsets.position[clique]
        axes = [measurement.clique.index(name) for name in clique]
        tables[position] += weight * np.transpose(measurement.values, axes)
        precision[position] += weight
    # A measurement of S is one of each of its subsets as well, less exact by the number of cells
    # that fall together.
    precision = subsets.summed_down(precision)
    # The same with the counts, weighted: after it each table is the weighted sum of all that was
    # measured of it.
    _sum_down(subsets, tables)
    for table, weight in zip(tables, precision, strict=True):
        # Now the weighted mean of the residual itself; what nobody measured is set to 0 and told
        # apart below by an infinite variance.
        _centre(table, 1.0 / weight if weight > 0 else 0.0)
    # Yates' algorithm backwards: residuals of all subsets add up to the marginal.
    _sum_up(subsets, tables)
    variances = subsets.variances(precision)
    estimates = []
    for clique, names in zip(asked, cliques, strict=True):
        position = subsets.position[clique]
        if not np.isfinite(variances[position]):
            raise ParameterError(
                f"clique {tuple(names)}: the measurements leave it open; ask for parts of measured cliques"
            )
        # Axes in the order in which the clique was named, then those of one level again.
        axes = [clique.index(name) for name in domain.varying(names)]
        values = np.transpose(tables[position], axes).reshape(domain.project(names).shape)
        # Of what is published several times there is less noise than any measurement has.
        stddev = max(float(np.sqrt(variances[position])), MIN_STDDEV)
        estimates.append(LinearMeasurement(tuple(names), values.copy(), stddev))
    return estimates


@final
class Subsets:
    """Some cliques and all their subsets, and sums over subsets and supersets, attribute by
    attribute [Yates 1937].

    Parameters
    ----------
    domain
        Gives the numbers of levels, or what they count as.
    cliques
        Cliques in the order of the domain.
    """

    def __init__(self, domain: Domain | Mapping[str, float], cliques: Iterable[Clique]) -> None:
        parts: dict[Clique, None] = {}
        for clique in cliques:
            for length in range(len(clique) + 1):
                parts |= dict.fromkeys(combinations(clique, length))
        # Small ones first, each once; with w cliques of k columns these are up to w 2^k, which is
        # why planners stop at six columns.
        self.cliques: list[Clique] = sorted(parts, key=len)
        self.position = {clique: position for position, clique in enumerate(self.cliques)}
        sizes = [prod(domain[name] for name in clique) for clique in self.cliques]
        self.sizes = np.array(sizes, dtype=np.float64)
        spreads = [prod(1 - 1 / domain[name] for name in clique) for clique in self.cliques]
        self.spreads = np.array(spreads)
        """For each clique the variance of a cell of its residual, per unit of noise: ``p_A``."""
        # One pass for each attribute, not one for each pair of subset and superset: k additions
        # where there are 2^k supersets.
        self.steps: list[tuple[float, NDArray[np.int64], NDArray[np.int64]]] = []
        """For each attribute its size, the cliques that hold it, and the same without it."""
        pairs_of: dict[str, list[tuple[int, int]]] = {}
        for clique, position in self.position.items():
            for i, name in enumerate(clique):
                without = clique[:i] + clique[i + 1 :]
                pairs_of.setdefault(name, []).append((position, self.position[without]))
        for name, pairs in pairs_of.items():
            wider, narrower = np.array(pairs, dtype=np.int64).T
            self.steps.append((domain[name], wider, narrower))

    def summed_down(self, values: FloatArray, power: int = 1) -> FloatArray:
        """For each clique A the sum over cliques S that contain it of ``value(S) / size(S -
        A)^power``.
        """
        out = values.copy()
        for size, wider, narrower in self.steps:
            out[narrower] += out[wider] / size**power
        return out

    def summed_up(self, values: FloatArray, power: int = 1) -> FloatArray:
        """For each clique S the sum over its subsets A of ``value(A) / size(S - A)^power``."""
        out = values.copy()
        for size, wider, narrower in self.steps:
            out[wider] += out[narrower] / size**power
        return out

    def variances(self, precision: FloatArray) -> FloatArray:
        """Variance of each cell of the estimates of all cliques; inf where a residual was not
        measured.

        Parameters
        ----------
        precision
            Of each clique's residual, from `summed_down`.
        """
        # A residual that nobody measured can be anything, unless it has no dimension, and then it
        # is 0 for certain.
        unmeasured = np.where(self.spreads > 0, np.inf, 0.0)
        of_residuals = np.divide(self.spreads, precision, out=unmeasured, where=precision > 0)
        return self.summed_up(of_residuals, power=2)


def _variance(domain: Domain, measurement: LinearMeasurement) -> float:
    """The one variance of a measurement's noise."""
    measurement.check_fits(domain)
    variance = measurement.variance
    if measurement.coarsening is not None:
        raise ParameterError(
            f"measurement of {measurement.clique}: levels are merged; leave such ones out"
        )
    if variance.size and variance.min() < variance.max():
        raise ParameterError(
            f"measurement of {measurement.clique}: stddev differs between cells; give one for all"
        )
    return float(variance.max())


def _sum_down(subsets: Subsets, tables: list[FloatArray]) -> None:
    """Add to each table the means, over the other attributes, of those of all larger cliques."""
    for axis, wider, narrower in _moves(subsets):
        tables[narrower] += tables[wider].mean(axis=axis)


def _sum_up(subsets: Subsets, tables: list[FloatArray]) -> None:
    """Add to each table those of all smaller cliques, spread evenly over the other attributes."""
    for axis, wider, narrower in _moves(subsets):
        spread = tables[narrower] / tables[wider].shape[axis]
        tables[wider] += np.expand_dims(spread, axis)


def _moves(subsets: Subsets) -> Iterable[tuple[int, int, int]]:
    """All pairs of a clique and one with one attribute less, attribute by attribute: axis and both
    positions.
    """
    for _, wider, narrower in subsets.steps:
        for above, below in zip(wider.tolist(), narrower.tolist(), strict=True):
            (name,) = set(subsets.cliques[above]) - set(subsets.cliques[below])
            yield subsets.cliques[above].index(name), above, below


def _centre(table: FloatArray, factor: float) -> None:
    """Take off the mean along every axis, and multiply by a factor; in place."""
    # In place, and the means taken off in turn: the order of the axes does not matter, as centring
    # along one commutes with centring along another.
    table *= factor
    for axis in range(table.ndim):
        table -= table.mean(axis=axis, keepdims=True)
