"""Strengths of dependence from noisy errors: against what is true, and where noise is all there is."""

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.mechanisms import squared_strengths

TOTAL = 10_000.0


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.floats(-2e4, 4e4), min_size=2, max_size=12),
    st.floats(1.0, 1e5),
    st.floats(0.0, 1e7),
)
def test_a_larger_error_never_means_a_weaker_dependence(noisy, stddev, known):
    found = squared_strengths(sorted(noisy), stddev, [known] * len(noisy), total=TOTAL)
    assert (found[1:] >= found[:-1] * (1 - 1e-9)).all()
    assert (found >= 0).all()
    assert (found <= (2 * TOTAL) ** 2 * (1 + 1e-9)).all()


def test_what_is_explained_otherwise_is_no_dependence():
    found = squared_strengths([900.0] * 5, 50.0, [0.0, 1e5, 4e5, 8e5, 1e9], total=TOTAL)
    assert (np.diff(found) < 0).all()
    assert found[-1] < 0.1 * found[0]


@pytest.mark.parametrize("known", [0.0, 200.0**2])
@pytest.mark.parametrize("strength", [20.0, 150.0, 1234.0, 9000.0, 19_000.0])
def test_little_noise_tells_it_to_a_step_of_the_grid(strength, known):
    (found,) = squared_strengths([np.hypot(strength, np.sqrt(known))], 0.02, [known], total=TOTAL)
    assert np.sqrt(found) == pytest.approx(strength, rel=0.125)


@pytest.mark.parametrize("shown", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("strength", [150.0, 3000.0])
def test_what_merged_levels_hide_is_added(strength, shown):
    error = np.sqrt(shown * strength**2 + 100.0**2)
    (found,) = squared_strengths([error], 0.02, [100.0**2], total=TOTAL, shown=[shown])
    assert np.sqrt(found) == pytest.approx(strength, rel=0.125)


def test_little_that_is_shown_says_little():
    """Noise of a score is not taken for the tenth of a large dependence that merged levels show."""
    noisy = np.random.default_rng(0).normal(0, 300.0, 200).tolist()
    shown = [1.0] * 199 + [0.01]
    found = squared_strengths(noisy, 300.0, [0.0] * 200, total=TOTAL, shown=shown)
    assert found.max() < 300.0**2


def test_nothing_but_noise_leaves_what_was_thought_before():
    """Exponential, of mean a tenth of the records, and 0 once in twenty times: the squares' mean is
    0.95 * 2 / 100.
    """
    found = squared_strengths([-1e9, 0.0, 500.0, 1e9], 1e13, [0.0] * 4, total=TOTAL)
    np.testing.assert_allclose(found, 0.019 * TOTAL**2, rtol=0.05)


def test_noise_around_nothing_teaches_that_there_is_little():
    """Two hundred errors that noise explains: all are taken to be far below what was thought
    before.
    """
    noisy = np.random.default_rng(0).normal(0, 300.0, 200)
    found = squared_strengths(noisy.tolist(), 300.0, [0.0] * 200, total=TOTAL)
    assert found.mean() < 100.0**2  # what was thought before: 1378^2
    assert found.max() < 300.0**2


def test_the_mean_over_many_dependences_is_right_under_noise_as_large_as_they():
    """Where a plain square would be off by the noise's variance."""
    rng = np.random.default_rng(1)
    strengths = rng.exponential(800.0, 3000)
    noisy = strengths + rng.normal(0, 800.0, 3000)
    found = squared_strengths(noisy.tolist(), 800.0, [0.0] * 3000, total=TOTAL)
    # The squares' standard error is 2.4 % of their mean, and the noise's about as much.
    assert found.mean() == pytest.approx(np.square(strengths).mean(), rel=0.25)
    assert np.abs(found - strengths**2).mean() < 0.8 * np.abs(noisy**2 - strengths**2).mean()


@pytest.mark.parametrize("total", [1.0, 1e12])
@pytest.mark.parametrize("stddev", [1e-6, 1.0, 1e12])
def test_extreme_scales_give_numbers(stddev, total):
    noisy = [-1e15, -1.0, 0.0, 1e-9, 1.0, 1e6, 1e15]
    found = squared_strengths(noisy, stddev, [0.0, 1e-12, 1.0, 1e6, 1e12, 1e18, 0.0], total=total)
    assert found.shape == (7,)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    assert (found <= (2 * total) ** 2 * (1 + 1e-9)).all()
