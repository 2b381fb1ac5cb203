"""What looks say about residuals: all there is at little noise, what was expected at much, and the
noise they have.
"""

from fractions import Fraction
from itertools import combinations
from math import hypot, sqrt

import numpy as np
import pytest
from helpers.private_tables import private_table
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.planning import Whole, by_clique, parts_of, whole

from synthdp.mechanisms import error_stddev, first_errors, later_errors, release_errors
from synthdp.privacy import Adjacency, ScoresEvent

NAMES = tuple("abcd")
ALL = parts_of(NAMES)
WIDER = [clique for clique in ALL if len(clique) > 1]


def later(errors, stddev, left, guesses, *, relative_error):
    """Errors by residual, of columns that are seen at one resolution."""
    sizes = Whole(dict.fromkeys(NAMES, 5.0))
    known = {
        clique: guesses.get(clique, 0.0) + left.get(clique, 0.0) for clique in {**guesses, **left}
    }
    return by_clique(
        later_errors(
            whole(errors), stddev, whole(known), sizes, relative_model_error=relative_error
        )
    )


def residuals(seed):
    """None of them is below a hundredth of the whole, where it would be left out."""
    rng = np.random.default_rng(seed)
    return {clique: float(100.0**2 * 10 ** rng.uniform(0, 0.5)) for clique in ALL}


def errors_of(squared):
    """The error of each marginal: its residuals stand at right angles."""
    return {clique: sqrt(sum(squared[part] for part in parts_of(clique))) for clique in WIDER}


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_little_noise_tells_all_residuals_apart(seed):
    truth, wrong = residuals(seed), residuals(seed + 1)
    left = wrong | {clique: truth[clique] for clique in ALL if len(clique) == 1}
    found = later(errors_of(truth), 1e-6, left, dict.fromkeys(WIDER, 5.0), relative_error=0.5)
    assert found == pytest.approx(truth, rel=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_much_noise_leaves_what_was_expected(seed):
    expected = residuals(seed)
    guesses = {("a", "b", "c"): 12_345.0}
    noisy = {clique: error + 1e6 for clique, error in errors_of(residuals(seed + 1)).items()}
    found = later(noisy, 1e12, expected, guesses, relative_error=0.5)
    wanted = {clique: expected[clique] + guesses.get(clique, 0.0) for clique in ALL}
    # The set of four holds the guessed triple, whose guess is not expected of it.
    wanted.pop(NAMES)
    found.pop(NAMES, None)
    assert found == pytest.approx(wanted, rel=1e-6)


def test_a_look_is_weighed_against_what_was_expected_by_their_precision():
    left = {("a",): 30.0**2, ("b",): 40.0**2, ("a", "b"): 120.0**2}
    expected = hypot(30, 40, 120)
    (noisy, stddev, relative_error), prior = (300.0, 20.0, 0.25), 0.25 * expected
    error = (noisy / stddev**2 + expected / prior**2) / (1 / stddev**2 + 1 / prior**2)
    found = later({("a", "b"): noisy}, stddev, left, {}, relative_error=relative_error)
    assert found["a", "b"] == pytest.approx(error**2 - 50.0**2)
    assert (found["a",], found["b",]) == (900.0, 1600.0)


def test_pairs_keep_a_little_and_wider_ones_must_be_worth_it():
    left = {("a",): 1e4, ("b",): 1e4, ("c",): 1e4}
    pairs = dict.fromkeys(combinations("abc", 2), 100.0)  # less than what their columns make of it
    found = later({**pairs, ("a", "b", "c"): 100.0}, 1e-3, left, {}, relative_error=0.5)
    assert all(found[pair] == pytest.approx(1e-3 * 1e4, rel=1e-4) for pair in pairs)
    assert ("a", "b", "c") not in found
    negative = later(dict.fromkeys(pairs, -1e9), 1e-3, left, {}, relative_error=0.5)
    assert all(negative[pair] == 0 for pair in pairs)


def test_nothing_expected_and_nothing_known_give_numbers():
    found = later({("a", "b"): 50.0, ("a", "b", "c"): 60.0}, 10.0, {}, {}, relative_error=0.5)
    assert all(np.isfinite(value) and value >= 0 for value in found.values())


def test_the_first_look_takes_off_what_columns_err_by():
    columns = {("a",): 300.0**2, ("b",): 400.0**2, ("c",): 0.0}
    errors = {
        ("a", "b"): hypot(500, 1000),
        ("a", "c"): hypot(300, 50),
        ("b", "c"): hypot(400, 5000),
    }
    sizes = Whole(dict.fromkeys("abc", 5.0))
    parts, strengths = first_errors(whole(errors), 0.1, whole(columns), sizes, total=10_000.0)
    found = by_clique(parts)
    assert strengths == {pair: found[pair] for pair in errors}
    assert {clique: found[clique] for clique in columns} == columns
    for pair, truth in ((("a", "b"), 1000.0), (("a", "c"), 50.0), (("b", "c"), 5000.0)):
        assert sqrt(found[pair]) == pytest.approx(truth, rel=0.125)  # the grid's steps


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_look_releases_all_errors_with_the_noise_it_says(adjacency):
    table = private_table((3, 4, 2), 500, epsilon=1e7, adjacency=adjacency)
    pairs = list(combinations(table.domain.attributes, 2))
    estimates = [np.full(table.domain.project(pair).shape, 7.0) for pair in pairs]
    exact = [np.abs(table.measure(pair, rho=1e5).values - 7.0).sum() for pair in pairs]
    look = release_errors(table, pairs, estimates, rho=Fraction(10**6))
    assert list(look.errors) == pairs
    np.testing.assert_allclose(list(look.errors.values()), exact, atol=1.5)
    event = table.ledger.events[-1]
    assert isinstance(event, ScoresEvent)
    assert (event.rho, event.is_gaussian) == (10**6, True)
    assert look.stddev == pytest.approx(sqrt(3 * adjacency.marginal_l1**2 / 2e6))


def test_the_noise_is_that_of_the_released_errors():
    deviations = []
    for seed in range(40):
        table = private_table((2,) * 6, 50, epsilon=10.0, seed=seed)
        pairs = list(combinations(table.domain.attributes, 2))
        estimates = [np.zeros((2, 2)) for _ in pairs]
        look = release_errors(table, pairs, estimates, rho=Fraction(1, 100))
        assert look.stddev == error_stddev(15, rho=Fraction(1, 100), unit=table.ledger.unit)
        deviations += [(error - 50) / look.stddev for error in look.errors.values()]
    # 600 standard normal numbers: the mean of their squares is 1 +- 0.058, and seven of these are
    # 0.4.
    assert np.mean(np.square(deviations)) == pytest.approx(1.0, abs=0.4)
