"""Intervals of marginals: `Synthesis.marginal(interval=)`."""

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from scipy.stats import binom, norm

import synthdp
from synthdp.core import Coarsening, Domain, LinearMeasurement, ModelTooLargeError, ParameterError
from synthdp.release import (
    CellEstimates,
    cell_estimates,
    noise_limits,
    widest_limits,
    with_intervals,
)

DOMAIN = Domain(("a", "b", "c"), (3, 4, 2))
RECORDS = (
    np.random.default_rng(0)
    .multinomial(600, np.random.default_rng(1).dirichlet(np.ones(24)))
    .reshape(3, 4, 2)
)
RUNS = 200


def counts(clique):
    summed = tuple(axis for axis, name in enumerate(DOMAIN.attributes) if name not in clique)
    return RECORDS.sum(axis=summed).astype(float)


def noisy(clique, stddev, generator, coarsening=None):
    values = counts(clique)
    values = coarsening.apply(clique, values) if coarsening else values
    return LinearMeasurement(
        clique, values + stddev * generator.standard_normal(values.shape), stddev, coarsening
    )


def measurements(generator):
    merging = Coarsening({"b": np.array([0, 0, 1, 1])})
    parts = [
        (("a", "b"), 6.0, None),
        (("a",), 4.0, None),
        (("c",), 5.0, None),
        (("b", "c"), 6.0, merging),
    ]
    return [noisy(*part[:2], generator, part[2]) for part in parts]


@pytest.fixture(scope="module")
def synthesis():
    return synthdp.from_measurements(DOMAIN, measurements(np.random.default_rng(2)))


def held(low, high, clique):
    return (low <= counts(clique)) & (counts(clique) <= high)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_measured_intervals_hold_the_true_counts_as_often_as_they_say(level):
    generator = np.random.default_rng(3)
    hits = np.zeros((3, 4))
    for _ in range(RUNS):
        limits = noise_limits(
            cell_estimates(DOMAIN, measurements(generator)[:2], ("a", "b")), level
        )
        hits += held(*limits, ("a", "b"))
    assert (counts(("a", "b")) > 12).any()
    where = counts(("a", "b")) > 12  # elsewhere limits are cut at 0, and hold more often
    low, high = binom.ppf([1e-11, 1 - 1e-11], RUNS, level)
    assert (low <= hits[where]).all()
    assert (hits[where] <= high).all()
    assert (hits >= low).all()


def test_limits_of_what_nobody_measured_hold_at_least_as_often_and_say_something():
    generator = np.random.default_rng(4)
    for clique in (("a", "c"), ("b", "c"), ("a", "b", "c")):
        hits = np.zeros(DOMAIN.project(clique).shape)
        for _ in range(60):
            limits = widest_limits(DOMAIN, measurements(generator), clique, 0.5)
            hits += held(*limits, clique)
        assert (hits >= binom.ppf(1e-11, 60, 0.5)).all()
        assert np.isfinite(limits.high).all()
        assert (limits.high < 600).all()


def test_lower_limits_follow_from_parts_that_leave_no_room():
    together = np.array([[90.0, 5.0], [5.0, 0.0]])
    parts = [
        LinearMeasurement((name,), together.sum(axis=1 - i), 0.1) for i, name in enumerate("ab")
    ]
    limits = widest_limits(Domain(("a", "b"), (2, 2)), parts, ("a", "b"), 0.95)
    assert limits.low[0, 0] == pytest.approx(90, abs=1.5)
    assert limits.low[0, 0] < 90 < limits.high[0, 0]
    assert limits.high[1, 1] == pytest.approx(5, abs=1)


def test_limits_are_those_of_the_normal_distribution_cut_at_0():
    told = CellEstimates(np.array([10.0, -9.0, 1.0]), np.array([4.0, 4.0, 4.0]))
    reach = norm.ppf(0.95) * 2
    limits = noise_limits(told, 0.9)
    np.testing.assert_allclose(limits.low, [10 - reach, 0, 0])
    np.testing.assert_allclose(limits.high, [10 + reach, 0, 1 + reach])


def test_marginal_says_what_each_count_rests_on(synthesis):
    found = synthesis.marginal(["b", "a"], interval=0.95)
    assert list(found.columns) == ["count", "low", "high", "basis"]
    assert found.index.names == ["b", "a"]
    assert (found["basis"] == "measured").all()
    assert ((found["low"] <= found["count"]) & (found["count"] <= found["high"])).all()
    other = synthesis.marginal(["a", "c"], interval=0.95)
    assert (other["basis"] == "model").all()
    pd.testing.assert_series_equal(other["count"], synthesis.marginal(["a", "c"]))
    assert (other["high"] - other["low"]).mean() > 3 * (found["high"] - found["low"]).mean()


def test_measured_marginals_need_no_model(synthesis):
    unfitted = synthdp.Synthesis(
        schema=synthesis.schema, measurements=synthesis.measurements, model=None, certificate={}
    )
    unfitted.marginal("a", interval=0.9)
    assert unfitted.existing_model is None
    unfitted.marginal(["a", "c"], interval=0.9)
    assert unfitted.existing_model is not None


def test_intervals_are_there_after_saving(tmp_path, synthesis):
    synthesis.save(tmp_path / "a.synthdp")
    loaded = synthdp.load(tmp_path / "a.synthdp")
    pd.testing.assert_frame_equal(
        loaded.marginal("b", interval=0.5), synthesis.marginal("b", interval=0.5)
    )


@pytest.mark.parametrize("interval", [0, 1, -0.5, 95, "0.9", True, float("nan")])
def test_an_interval_is_a_probability(synthesis, interval):
    with pytest.raises(ParameterError, match=r"interval is .*; give a probability"):
        synthesis.marginal("a", interval=interval)


def test_marginals_that_cannot_be_are_refused(synthesis, monkeypatch):
    for names in (["a", "a"], ["nope"], []):
        with pytest.raises(ParameterError):
            synthesis.marginal(names, interval=0.9)
    monkeypatch.setattr(home(with_intervals), "MAX_CELLS", 11)
    with pytest.raises(ModelTooLargeError, match="at most 11 combinations"):
        synthesis.marginal(["a", "b"], interval=0.9)
