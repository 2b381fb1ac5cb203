"""Guesses are worth what measurements leave of them."""

import numpy as np
import pytest

from synthdp.core import Coarsening, LinearMeasurement

# A step of a run that no release shows by itself.
from synthdp.linked.families.guess import guessed

TRUE = np.add.outer(np.arange(12.0) * 9, np.arange(10.0) * 4)
CLIQUE = ("place", "year")


def guess(off=0.0, least=0.5):
    """A guess that is so far off in each cell, up and down in turns."""
    signs = np.where(np.add.outer(np.arange(12), np.arange(10)) % 2, 1.0, -1.0)
    return LinearMeasurement(CLIQUE, TRUE + off * signs, least)


def measured(noise, names=CLIQUE, coarsening=None, seed=0):
    """The truth of some attributes, in their order, with noise; "more" splits each cell in three."""
    table, axes = TRUE[..., None] / 3 * np.ones(3), ("place", "year", "more")
    table = table.sum(axis=tuple(i for i, name in enumerate(axes) if name not in names))
    left = [name for name in axes if name in names]
    table = table.transpose([left.index(name) for name in names])
    if coarsening is not None:
        table = coarsening.apply(names, table)
    values = table + np.random.default_rng(seed).normal(0, noise, table.shape)
    return LinearMeasurement(names, values, noise, coarsening)


@pytest.mark.parametrize("noise", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("off", [0.0, 4.0, 40.0])
def test_a_guess_is_as_far_off_as_it_is(off, noise):
    """At most by what the noise of a standard error may hide more."""
    hidden = noise * (2 / TRUE.size) ** 0.25
    found = guessed(guess(off), [measured(noise)])
    assert max(0.8 * off, 0.5) <= found.stddev <= np.hypot(max(off, 0.5), 1.6 * hidden) * 1.1
    assert np.array_equal(found.values, guess(off).values)


def test_noise_that_hides_everything_leaves_most_of_a_guess():
    """A guess is exacter than what was measured, where that is next to nothing but noise."""
    assert guessed(guess(4.0), [measured(60.0)]).stddev < 30


@pytest.mark.parametrize(
    "names", [("year", "place"), ("place", "year", "more"), ("more", "year", "place")]
)
def test_measurements_of_more_attributes_count_whatever_their_order(names):
    assert 6 < guessed(guess(8.0), [measured(0.5, names)]).stddev < 10


def test_measurements_of_merged_levels_count():
    """Of two levels in turns up and down the sum says nothing; of a shift it does."""
    merging = Coarsening({"year": np.arange(10) // 2})
    shifted = LinearMeasurement(CLIQUE, TRUE + 8.0, 0.5)
    assert guessed(guess(8.0), [measured(0.5, coarsening=merging)]).stddev < 1
    assert guessed(shifted, [measured(0.5, coarsening=merging)]).stddev > 7


def test_a_right_column_does_not_speak_for_wrong_pairs():
    """Up and down in turns leaves each column as it is."""
    some = [measured(0.01, ("year",)), measured(0.01, ("place",))]
    assert guessed(guess(8.0), some).stddev < 1
    assert guessed(guess(8.0), [*some, measured(2.0)]).stddev > 6


def test_a_wrong_column_is_seen_without_pairs():
    shifted = LinearMeasurement(CLIQUE, TRUE + np.arange(10.0) * 3, 0.5)
    assert guessed(shifted, [measured(1.0, ("year",))]).stddev > 10


def test_what_nothing_was_measured_of_is_as_it_was():
    assert guessed(guess(8.0), [measured(0.1, ("more",))]).stddev == 0.5
    assert guessed(guess(8.0), []).stddev == 0.5
