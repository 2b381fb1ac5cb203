"""Fitting measurements of which some are over merged levels, and refining the model to all levels."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.inference.arrays import Array
from synthdp.inference.estimator import Estimator
from synthdp.inference.model import Model, Progress
from synthdp.inference.models.refined_model import RefinedModel
from synthdp.measurement import Coarsening, LinearMeasurement


def estimate_refined(
    engine: Estimator,
    domain: Domain,
    measurements: Sequence[LinearMeasurement],
    *,
    constraints: Sequence[Constraint] = (),
    progress: Progress | None = None,
) -> Model:
    """Fit measurements of which some are over merged levels, and refine the model to all levels.

    Levels that any measurement merges are merged in all of them. A merged level's rows are given
    back to its levels in proportion to their noisy one-way counts (negative ones as 0; evenly if
    none is positive): released values, never the records.

    Raises
    ------
    ParameterError
        If two measurements merge the levels of an attribute differently, or levels that a
        constraint treats differently.
    """
    groups: dict[str, NDArray[np.int64]] = {}
    for measurement in measurements:
        measurement.check_fits(domain)
        for name, merging in _mergings(measurement).items():
            if not np.array_equal(groups.setdefault(name, merging), merging):
                raise ParameterError(f"measurements: they merge the levels of {name!r} in different ways")
    coarsening = Coarsening(groups)
    merged = [_merged(measurement, coarsening) for measurement in measurements]
    kept = [_merged_constraint(constraint, coarsening) for constraint in constraints]
    if groups:
        engine = engine.over_merged(domain, coarsening)
    coarse = engine.estimate(coarsening.domain(domain), merged, constraints=kept, progress=progress)
    if not groups:
        return coarse
    shares = {name: _shares(name, merging, measurements) for name, merging in groups.items()}
    return RefinedModel(coarse=coarse, domain=domain, coarsening=coarsening, shares=shares)


def _mergings(measurement: LinearMeasurement) -> Mapping[str, NDArray[np.int64]]:
    """The groups of each attribute whose levels the measurement merges."""
    return measurement.coarsening.groups if measurement.coarsening else {}


def _merged(measurement: LinearMeasurement, coarsening: Coarsening) -> LinearMeasurement:
    """The measurement over levels merged as ``coarsening`` says, whatever it has merged already."""
    done = _mergings(measurement)
    rest = Coarsening({name: groups for name, groups in coarsening.groups.items() if name not in done})
    plain = LinearMeasurement(measurement.clique, measurement.values, measurement.stddev)
    return plain.coarsened(rest) if rest.groups.keys() & set(measurement.clique) else plain


def _merged_constraint(constraint: Constraint, coarsening: Coarsening) -> Constraint:
    """The constraint over merged levels; it must not tell apart levels that are merged."""
    allowed = constraint.allowed
    for axis, name in enumerate(constraint.clique):
        if name in coarsening.groups:
            groups = coarsening.groups[name]
            _, first = np.unique(groups, return_index=True)
            merged = np.take(allowed, first, axis=axis)
            if not np.array_equal(np.take(merged, groups, axis=axis), allowed):
                raise ParameterError(f"constraint on {constraint.clique}: it tells apart merged levels of {name!r}")
            allowed = merged
    return Constraint(constraint.clique, allowed)


def _shares(name: str, groups: NDArray[np.int64], measurements: Sequence[LinearMeasurement]) -> Array:
    """Share of each level in its group, from the unmerged one-way measurements of the attribute."""
    weights = np.zeros(groups.size)
    for measurement in measurements:
        if measurement.clique == (name,) and name not in _mergings(measurement):
            weights += measurement.values / measurement.variance
    weights = np.maximum(weights, 0.0)
    sums = np.bincount(groups, weights=weights)[groups]
    sizes = np.bincount(groups)[groups]
    return np.divide(weights, sums, out=1.0 / sizes, where=sums > 0)
