"""Whatever measurements are accepted, fits are finite or one clear error, on every engine of least
loss.
"""

import warnings

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp import inference
from synthdp.core import (
    MAX_COUNT,
    MIN_STDDEV,
    Domain,
    FitWarning,
    LinearMeasurement,
    ParameterError,
)

DOMAIN = Domain(("a", "b", "c"), (3, 2, 2))
CLIQUES = [("a", "b"), ("b", "c"), ("a",), (), ("c", "a")]
DRIVER = inference.MirrorDescent(max_iterations=200)  # how close fits come is not the question here
ENGINES = [
    inference.DirectEngine(driver=DRIVER),
    inference.GraphicalModelEngine(driver=DRIVER),
    inference.LocalConsistencyEngine(newton=inference.DualNewton(max_iterations=20)),
    inference.PublicDataEngine(
        columns=tuple(np.indices(DOMAIN.shape).reshape(3, -1)), driver=DRIVER, max_missed_share=1.0
    ),
]

signs = st.sampled_from([-1.0, 1.0, 1.0, 1.0])
counts = st.sampled_from([0.0, 1.0, 5e-324, MAX_COUNT, -MAX_COUNT]) | st.builds(
    lambda sign, digits: sign * 10**digits, signs, st.floats(-20, 18)
)


@st.composite
def problems(draw):
    """Measurements at the limits of what is accepted; the scales of noise of some are too far apart
    for a fit.
    """
    least = draw(st.floats(-9, 9))
    digits = draw(st.sampled_from([st.floats(least, least + 9)] * 9 + [st.floats(-9, 18)]))
    measurements = []
    for clique in draw(st.lists(st.sampled_from(CLIQUES), min_size=1, max_size=4)):
        shape = DOMAIN.project(clique).shape
        n_cells = int(np.prod(shape))
        values = np.array(draw(st.lists(counts, min_size=n_cells, max_size=n_cells))).reshape(shape)
        measurements.append(LinearMeasurement(clique, values, max(10 ** draw(digits), MIN_STDDEV)))
    return measurements


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@settings(max_examples=examples(60), deadline=None)
@given(problems())
def test_extreme_input_gives_finite_answers_or_one_clear_error(engine, measurements):
    with warnings.catch_warnings(), np.errstate(over="raise", divide="raise", invalid="raise"):
        warnings.simplefilter("ignore")
        scales = [
            float(measurement.stddev) for measurement in measurements if measurement.values.size > 1
        ]
        if scales and max(scales) > inference.MAX_RATIO * min(scales):
            with pytest.raises(
                ParameterError, match="-fold apart; give the most exact ones a larger stddev"
            ):
                engine.estimate(DOMAIN, measurements)
            return
        model = engine.estimate(DOMAIN, measurements)
        assert 1.0 <= model.total <= MAX_COUNT * DOMAIN.size()
        assert np.isfinite(model.status.loss)
        for factor in model.marginals([*CLIQUES, DOMAIN.attributes]):
            assert np.isfinite(factor.values).all()
            assert (factor.values >= 0).all()
        assert [column.shape for column in model.sample(20, seed=0)] == [(20,)] * 3


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_scales_of_noise_that_cannot_be_compared_are_refused(engine):
    table = LinearMeasurement(("a",), np.array([30.0, 20.0, 50.0]), 1e6)
    close = LinearMeasurement(("b",), np.array([40.0, 60.0]), 1e-4)
    message = r"scales of noise from 0\.0001 to 1e\+06 records are more than 1e\+09-fold apart; give the most exact"
    with pytest.raises(ParameterError, match=message):
        engine.estimate(DOMAIN, [table, close])
    # A total is settled before the fit, and may be as exact as it is.
    model = engine.estimate(DOMAIN, [table, LinearMeasurement((), np.array(100.0), 1e-9)])
    assert model.total == pytest.approx(100.0)


def test_scales_of_cells_are_compared_too():
    uneven = LinearMeasurement(("a",), np.array([30.0, 20.0, 50.0]), np.array([1e-6, 1.0, 1e6]))
    with pytest.raises(ParameterError, match="fold apart"):
        inference.GraphicalModelEngine().estimate(DOMAIN, [uneven])


def test_counts_that_leave_no_digit_of_the_others_are_answered_evenly_with_a_caution():
    counts = np.zeros((3, 2))
    counts[2, 1] = -MAX_COUNT
    measurement = LinearMeasurement(("a", "b"), counts, 1.0)
    with pytest.warns(FitWarning, match="short of the least loss"):
        model = inference.LocalConsistencyEngine().estimate(DOMAIN, [measurement])
    assert np.ptp(model.marginal(("a", "b")).values) < 1e-9
