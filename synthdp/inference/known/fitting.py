"""Fits under known marginals: measurements that agree with them, tables raked to them."""

from collections.abc import Mapping, Sequence

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.known_marginal import KnownMarginal
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.arrays import Array, IntArray
from synthdp.inference.graphical.marginal_oracle import MarginalOracle
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.known.partitions import (
    Partition,
    implied,
    joined,
    merged_axes,
    of_groups,
)

_MAX_ROUNDS = 500
"""Of projections one after the other; they end when nothing moves any more."""
_TOLERANCE = 1e-12
"""Of the records: what is met to that is met to rounding."""
_LEAST_SHARE = 1e-12
"""Of all records in a cell that a model leaves empty but what is known does not."""

_LEAST_FACTOR = 1e-50
"""Of a potential, where known shares are 0."""


def agreeing(
    domain: Domain,
    measurements: Sequence[LinearMeasurement],
    known: Sequence[KnownMarginal],
    total: float,
) -> list[LinearMeasurement]:
    """Measurements projected, in the metric of their noise, onto those that agree with what is
    known.

    What is left of their noise lies in what nothing known speaks of.
    """
    return [_agreeing(domain, measurement, known, total) for measurement in measurements]


def _agreeing(
    domain: Domain,
    measurement: LinearMeasurement,
    known: Sequence[KnownMarginal],
    total: float,
) -> LinearMeasurement:
    equations: list[tuple[IntArray, Array]] = []
    values = np.array(measurement.values)
    variance = np.array(measurement.variance)
    for marginal in known:
        shared = tuple(name for name in measurement.clique if name in marginal.clique)
        partitions: dict[str, Partition] = {}
        cells: IntArray = np.zeros(values.shape, dtype=np.int64)
        for name in shared:
            own = measurement.groups.get(name, np.arange(domain[name]))
            partitions[name] = joined(own, marginal.groups(name))
            axis = measurement.clique.index(name)
            shape = [-1 if other == axis else 1 for other in range(values.ndim)]
            groups = of_groups(own, partitions[name]).reshape(shape)
            cells = cells * (int(partitions[name].max()) + 1) + groups
        equations.append((cells, total * implied(marginal, partitions).ravel()))
    for _ in range(_MAX_ROUNDS):
        largest = 0.0
        # One equation after the other: what a sum lacks is spread over its cells by their
        # variance, so that certain cells move less than uncertain ones.
        for cells, wanted in equations:
            flat = cells.ravel()
            lack = wanted - np.bincount(flat, values.ravel(), minlength=wanted.size)
            sums = np.bincount(flat, variance.ravel(), minlength=wanted.size)
            step = np.divide(lack, sums, out=np.zeros_like(lack), where=sums > 0)
            values = values + variance * step[cells]
            largest = max(largest, float(np.abs(lack).max()))
        if largest <= 1e-9 * total or len(equations) == 1:
            break
    return LinearMeasurement(measurement.clique, values, measurement.stddev, measurement.coarsening)


def raked(names: Clique, values: Array, known: Sequence[KnownMarginal], total: float) -> Array:
    """A marginal raked to all that is known of its attributes: the closest one with these sums
    [Csiszar 1975].
    """
    wanted = []
    for marginal in known:
        shared = {name: marginal.groups(name) for name in names if name in marginal.clique}
        if shared:
            wanted.append((shared, total * implied(marginal, shared)))
    if not wanted:
        return values
    table = np.maximum(values, 0.0)
    rounds = 0
    while rounds < _MAX_ROUNDS:
        largest = 0.0
        for shared, sums in wanted:
            own = _summed(names, table, shared)
            largest = max(largest, float(np.abs(own - sums).max()))
            if (sums > 0)[own <= 0].any():
                # Nothing can grow in an empty cell, though what is known puts records there.
                table = table + _LEAST_SHARE * total / table.size
                own = _summed(names, table, shared)
            factor = np.divide(sums, own, out=np.zeros_like(sums), where=own > 0)
            table = table * _spread(names, factor, shared)
        rounds += 1
        if largest <= _TOLERANCE * total or len(wanted) == 1:
            break
    return table


def _summed(names: Clique, table: Array, shared: Mapping[str, Partition]) -> Array:
    others = tuple(axis for axis, name in enumerate(names) if name not in shared)
    kept = [name for name in names if name in shared]
    return merged_axes(table.sum(axis=others), [shared[name] for name in kept])


def _spread(names: Clique, factor: Array, shared: Mapping[str, Partition]) -> Array:
    kept = [name for name in names if name in shared]
    for axis, name in enumerate(kept):
        factor = np.take(factor, shared[name], axis=axis)
    shape = [factor.shape[kept.index(name)] if name in shared else 1 for name in names]
    return factor.reshape(shape)


def projected_field(field: MarkovRandomField, known: Sequence[KnownMarginal]) -> MarkovRandomField:
    """The distribution closest to a Markov random field among those with known marginals.

    It is iterative proportional fitting over the junction tree, for known marginals that lie in one
    of its cliques; the others are left to be raked.
    """
    inside = [each for each in known if field.tree.position_of(each.clique) is not None]
    if not inside:
        return field
    potentials = dict(field.log_potentials)
    names = [field.domain.canonical(each.clique) for each in inside]
    for clique in names:
        shape = field.domain.project(clique).shape
        potentials.setdefault(clique, np.zeros(shape))
    oracle = MarginalOracle(field.tree, list(potentials))
    positions = {clique: number for number, clique in enumerate(potentials)}
    for _ in range(_MAX_ROUNDS):
        largest = 0.0
        for clique, marginal in zip(names, inside, strict=True):
            shares = oracle.marginals(list(potentials.values()))[positions[clique]]
            groups = {name: marginal.groups(name) for name in clique}
            wanted = marginal.summed(clique)
            own = _summed(clique, shares, groups)
            largest = max(largest, float(np.abs(own - wanted).max()))
            factor = np.divide(wanted, own, out=np.ones_like(wanted), where=own > 0)
            # Next to nothing, and no -inf: records that are given may be where nobody is known to
            # be.
            logs = np.log(np.maximum(_spread(clique, factor, groups), _LEAST_FACTOR))
            potentials[clique] = potentials[clique] + logs
        if largest <= 1e-10:
            break
    return MarkovRandomField(
        tree=field.tree, log_potentials=potentials, total=field.total, status=field.status
    )
