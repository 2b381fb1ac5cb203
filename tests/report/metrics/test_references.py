"""Expected errors against sums over all outcomes, and against simulations."""

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from synthdp.core import Coarsening, Domain, LinearMeasurement
from synthdp.report import (
    Measured,
    SamplingError,
    deviations_with_replacement,
    deviations_without_replacement,
    noise_error,
    subsample_share,
    total_variation,
)


@pytest.mark.parametrize(("n_rows", "n_drawn"), [(1, 1), (7, 3), (7, 7), (12, 5), (5, 40)])
def test_deviations_are_those_of_all_samples(n_rows, n_drawn):
    counts = np.arange(n_rows + 1)
    drawn = np.arange(n_drawn + 1)[:, None]
    chances = binom.pmf(drawn, n_drawn, counts / n_rows)
    expected = (np.abs(drawn - n_drawn * counts / n_rows) * chances).sum(axis=0)
    assert deviations_with_replacement(n_rows, n_drawn) == pytest.approx(expected, abs=1e-12)
    if n_drawn <= n_rows:
        chances = hypergeom.pmf(drawn, n_rows, counts, n_drawn)
        expected = (np.abs(drawn - n_drawn * counts / n_rows) * chances).sum(axis=0)
        assert deviations_without_replacement(n_rows, n_drawn) == pytest.approx(expected, abs=1e-12)


def test_sampling_error_is_the_mean_over_samples():
    rng = np.random.default_rng(1)
    counts = np.array([1, 0, 5, 30, 64])
    samples = rng.multinomial(40, counts / 100, size=4000)
    distances = [total_variation(counts, sample) for sample in samples]
    error = np.std(distances) / np.sqrt(len(distances))
    assert SamplingError.for_sizes(100, 40).of_marginal(counts) == pytest.approx(
        np.mean(distances), abs=7 * error
    )


def test_subsample_share_finds_the_share_that_was_drawn():
    rng = np.random.default_rng(2)
    rows = rng.geometric(0.05, 5000)
    counts = np.bincount(rows)
    multiplicity = np.bincount(counts, minlength=5001)
    errors = [
        total_variation(
            counts, np.bincount(rng.choice(rows, 1000, replace=False), minlength=len(counts))
        )
        for _ in range(200)
    ]
    assert subsample_share(float(np.mean(errors)), multiplicity, 1) == pytest.approx(0.2, rel=0.05)
    assert subsample_share(0.0, multiplicity, 1) == 1.0
    assert subsample_share(0.99, multiplicity, 1) == pytest.approx(1 / 5000, abs=1e-4)


def test_noise_error_is_that_of_noise_and_adds_up_over_cells():
    rng = np.random.default_rng(3)
    noise = rng.normal(scale=5.0, size=(4000, 6, 4))
    measured = [Measured({"a": 6, "b": 4}, 25.0)]
    for clique, cells in ((("a", "b"), noise), (("a",), noise.sum(axis=2))):
        simulated = 0.5 * np.abs(cells.reshape(4000, -1)).sum(axis=1).mean() / 1000
        assert noise_error(clique, measured, 1000) == pytest.approx(simulated, rel=0.02)
    assert np.isnan(noise_error(("a", "c"), measured, 1000))
    assert noise_error(("a", "b"), measured, 1) == 1.0


def test_noise_of_repeats_is_averaged():
    once, twice = ([Measured({"a": 4}, 9.0)] * times for times in (1, 2))
    assert noise_error(("a",), twice, 100) == pytest.approx(
        noise_error(("a",), once, 100) / np.sqrt(2)
    )


def test_measured_of_events_and_of_measurements():
    domain = Domain(("a", "b"), (4, 2))
    events = [
        {"event": "marginal", "columns": ["a"], "sigma": 3.0},
        {"event": "marginal", "columns": ["gone"], "sigma": 3.0},
        {"event": "selection", "epsilon": 1.0},
    ]
    assert Measured.of_events(events, domain) == [Measured({"a": 4}, 9.0)]
    merged = LinearMeasurement(("a",), np.zeros(2), 3.0, Coarsening({"a": np.array([0, 0, 1, 1])}))
    assert Measured.of_measurements([merged]) == [Measured({"a": 2}, 9.0)]
