"""The parametric bootstrap of a release: what the fit would have been, had the noise fallen out
another way.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.measurement import MAX_COUNT, FloatArray, LinearMeasurement
from synthdp.inference.engine import Engine
from synthdp.inference.engines.refinement import estimate_refined
from synthdp.inference.model import Model


def refits(
    domain: Domain,
    measurements: Sequence[LinearMeasurement],
    constraints: Sequence[Constraint],
    engine: Engine,
    generators: Sequence[np.random.Generator],
    *,
    start: Model | None = None,
) -> Iterator[Model]:
    """The fit of the measurements, and then fits of what they would be if that fit were the truth.

    Parameters
    ----------
    domain, measurements
        All attributes, and everything that was measured.
    constraints
        What public knowledge rules out.
    engine
        What fits: the same for all, so that its errors are the same as well.
    generators
        For each further fit where its noise comes from. It is Gaussian with the recorded scales.
    start
        An earlier fit, to start from.
    """
    # A parametric bootstrap: the fit is taken for the truth, so what fits of noisy copies differ by
    # is what noise does, biases of the engine included.
    centre = estimate_refined(
        engine, domain, measurements, constraints=constraints, warm_start=start
    )
    yield centre
    expected = _expected(centre, measurements)
    for generator in generators:
        noisy = [
            _with_noise(m, values, generator)
            for m, values in zip(measurements, expected, strict=True)
        ]
        yield estimate_refined(engine, domain, noisy, constraints=constraints, warm_start=centre)


def _expected(model: Model, measurements: Sequence[LinearMeasurement]) -> list[FloatArray]:
    """What each measurement would be of the model, without noise."""
    # A clique may be measured several times, and its table is asked for once.
    cliques = list(dict.fromkeys(measurement.clique for measurement in measurements))
    tables = dict(zip(cliques, model.marginals(cliques), strict=True))
    values = [(measurement, tables[measurement.clique].values) for measurement in measurements]
    return [m.coarsening.apply(m.clique, table) if m.coarsening else table for m, table in values]


def _with_noise(
    measurement: LinearMeasurement, expected: FloatArray, generator: np.random.Generator
) -> LinearMeasurement:
    noise = np.asarray(measurement.stddev) * generator.standard_normal(expected.shape)
    # As the kernel's own answers are cut off: a replicate is to have nothing that a release cannot
    # have.
    values = np.clip(expected + noise, -MAX_COUNT, MAX_COUNT)
    return LinearMeasurement(measurement.clique, values, measurement.stddev, measurement.coarsening)
