"""Fits measurements of which some are over merged levels; refines the model to all levels."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.measurement import MIN_STDDEV, Coarsening, LinearMeasurement
from synthdp.inference.arrays import Array
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model, Progress
from synthdp.inference.models.refined_model import RefinedModel

_MIN_SHARE = 1e-3
"""Added to the share that a level has of its group: where noise hides it, its count is uncertain
all the same.
"""


def estimate_refined(
    engine: Engine,
    domain: Domain,
    measurements: Sequence[LinearMeasurement],
    *,
    constraints: Sequence[Constraint] = (),
    warm_start: Model | None = None,
    progress: Progress | None = None,
) -> Model:
    """Fit measurements of which some are over merged levels; the model tells all levels apart.

    Where levels are merged in one way, and nothing but one-way counts tells them apart, the fit is
    over merged levels, and a merged level's rows are given back to its levels in proportion to
    their noisy one-way counts (negative ones as 0; evenly if none is positive): released values,
    never the records. Else engines that take merged levels get the measurements as they are. For
    others, levels that any measurement merges are merged in all of them; if they are merged in
    several ways, or a constraint tells them apart, all measurements of merged levels are spread
    over their levels before the fit, by the same counts. ``warm_start`` is an earlier model of
    measurements that are merged alike, to start from.
    """
    if engine.refines or not any(measurement.groups for measurement in measurements):
        return engine.estimate(
            domain, measurements, constraints=constraints, warm_start=warm_start, progress=progress
        )
    for measurement in measurements:
        measurement.check_fits(domain)
    for constraint in constraints:
        constraint.check_fits(domain)
    # One way of merging for each column makes the problem one over a smaller domain, which any
    # engine fits.
    groups = _common_groups(measurements)
    if groups is not None and not (engine.takes_merged and _tell_apart(measurements, groups)):
        coarsening = Coarsening(groups)
        kept = [
            merged
            for constraint in constraints
            if (merged := _merged_constraint(constraint, coarsening))
        ]
        # A constraint that tells apart merged levels cannot be kept over them.
        if len(kept) == len(constraints):
            return _refined(engine, domain, measurements, coarsening, kept, warm_start, progress)
    if not engine.takes_merged:
        # The last resort: counts of groups are shared out by one-way counts, and the noise with
        # them, so that they weigh no more than they should.
        measurements = [_spread(measurement, measurements) for measurement in measurements]
    return engine.estimate(
        domain, measurements, constraints=constraints, warm_start=warm_start, progress=progress
    )


def _common_groups(
    measurements: Sequence[LinearMeasurement],
) -> dict[str, NDArray[np.int64]] | None:
    """The groups of all merged attributes; None if one is merged in several ways."""
    groups: dict[str, NDArray[np.int64]] = {}
    for measurement in measurements:
        for name, merging in measurement.groups.items():
            if not np.array_equal(groups.setdefault(name, merging), merging):
                return None
    return groups


def _tell_apart(
    measurements: Sequence[LinearMeasurement], groups: Mapping[str, NDArray[np.int64]]
) -> bool:
    """Whether a measurement of several attributes tells levels apart that others merge."""
    wide = [measurement for measurement in measurements if len(measurement.clique) > 1]
    return any(
        name in groups and name not in other.groups for other in wide for name in other.clique
    )


def _refined(
    engine: Engine,
    domain: Domain,
    measurements: Sequence[LinearMeasurement],
    coarsening: Coarsening,
    constraints: Sequence[Constraint],
    warm_start: Model | None,
    progress: Progress | None,
) -> Model:
    """A model over merged levels, as the constraints are, refined to all of them."""
    merged = [_merged(measurement, coarsening) for measurement in measurements]
    engine = engine.over_merged(domain, coarsening)
    start = warm_start.inner if isinstance(warm_start, RefinedModel) else None
    coarse = engine.estimate(
        coarsening.domain(domain),
        merged,
        constraints=constraints,
        warm_start=start,
        progress=progress,
    )
    shares = {
        name: _shares(name, merging, measurements) for name, merging in coarsening.groups.items()
    }
    return RefinedModel(inner=coarse, domain=domain, coarsening=coarsening, shares=shares)


def _spread(
    measurement: LinearMeasurement, measurements: Sequence[LinearMeasurement]
) -> LinearMeasurement:
    """The measurement over all levels, those of a group in proportion to their one-way counts;
    noise likewise.
    """
    coarsening = measurement.coarsening
    if coarsening is None or not measurement.groups:
        return LinearMeasurement(measurement.clique, measurement.values, measurement.stddev)
    share = np.ones(())
    for name, size in zip(measurement.clique, measurement.values.shape, strict=True):
        groups = measurement.groups.get(name, np.arange(size))
        # Without it a level that noise hides would be taken to have no record and no doubt.
        own = _shares(name, groups, measurements) + _MIN_SHARE
        share = np.multiply.outer(share, own / np.bincount(groups, own)[groups])
    values = share * coarsening.spread(measurement.clique, measurement.values)
    variance = share * coarsening.spread(measurement.clique, np.array(measurement.variance))
    return LinearMeasurement(measurement.clique, values, np.maximum(np.sqrt(variance), MIN_STDDEV))


def _merged(measurement: LinearMeasurement, coarsening: Coarsening) -> LinearMeasurement:
    """The measurement over levels merged as ``coarsening`` says, whatever it has merged already."""
    done = measurement.groups
    rest = Coarsening(
        {name: groups for name, groups in coarsening.groups.items() if name not in done}
    )
    plain = LinearMeasurement(measurement.clique, measurement.values, measurement.stddev)
    return plain.coarsened(rest) if rest.groups.keys() & set(measurement.clique) else plain


def _merged_constraint(constraint: Constraint, coarsening: Coarsening) -> Constraint | None:
    """The constraint over merged levels; None if it tells apart levels that are merged."""
    clique = constraint.clique
    allowed = constraint.allowed.astype(np.int64)
    merged = np.minimum(coarsening.apply(clique, allowed), 1)
    # Merged and given back it must be the same, or it speaks of levels one by one.
    if not np.array_equal(coarsening.spread(clique, merged), allowed):
        return None
    return Constraint(clique, merged.astype(np.bool_))


def _shares(
    name: str, groups: NDArray[np.int64], measurements: Sequence[LinearMeasurement]
) -> Array:
    """Share of each level in its group, from the unmerged one-way measurements of the attribute."""
    weights = np.zeros(groups.size)
    for measurement in measurements:
        if measurement.clique == (name,) and name not in measurement.groups:
            # Several measurements of a column count by their precision.
            weights += measurement.values / measurement.variance
    weights = np.maximum(weights, 0.0)
    sums = np.bincount(groups, weights=weights)[groups]
    sizes = np.bincount(groups)[groups]
    return np.divide(weights, sums, out=1.0 / sizes, where=sums > 0)
