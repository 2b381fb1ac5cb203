"""Fitting measurements over all levels, none of which was merged with others."""

from collections.abc import Sequence

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.measurement import LinearMeasurement
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model, Progress


def estimate_plain(
    engine: Engine,
    domain: Domain,
    measurements: Sequence[LinearMeasurement],
    *,
    constraints: Sequence[Constraint] = (),
    warm_start: Model | None = None,
    progress: Progress | None = None,
) -> Model:
    """An engine's model of measurements and constraints, which are held against the domain first."""
    for measurement in measurements:
        measurement.check_fits(domain)
    for constraint in constraints:
        constraint.check_fits(domain)
    measurements = [
        LinearMeasurement(m.clique, m.values, m.stddev) if m.coarsening else m for m in measurements
    ]
    return engine.estimate(
        domain, measurements, constraints=constraints, warm_start=warm_start, progress=progress
    )
