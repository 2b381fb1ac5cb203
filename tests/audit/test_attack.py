"""The attack finds what statistics hold, and proves nothing where they hold nothing."""

import numpy as np
import pytest

from synthdp.audit import DISCRIMINANT, best_guesses, n_learnt_of

NAMES = ("ratio", "second", "third", "fourth")
SETTINGS = {"delta": 1e-2, "confidence": 0.95}


def runs(n, *, moves, seed=0):
    """Statistics of n runs on either table: Gaussian, moved by so much on the second."""
    rng = np.random.default_rng(seed)
    one, other = rng.normal(0, 1, (2, n, len(moves)))
    return one, other + moves


def test_a_gaussian_statistic_proves_nearly_its_mu():
    found = best_guesses(*runs(5000, moves=[1.0, 0, 0, 0]), NAMES, **SETTINGS)
    assert found["mu"].statistic == "ratio"
    assert 0.85 < found["mu"].lower < 1.0
    assert found["mu"].lower < found["mu"].point == pytest.approx(1.0, abs=0.1)
    assert 0.9 < found["epsilon"].lower < 2.3  # the truth is 2.34
    assert found["mu"].n_runs == 4500


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_leak_is_found_wherever_it_is(sign):
    one, other = runs(400, moves=[0.3, 0, 0, 0])
    one[:, 2], other[:, 2] = 10.0, 10.0 + sign
    found = best_guesses(one, other, NAMES, **SETTINGS)
    assert {guess.statistic for guess in found.values()} == {"third"}
    assert found["mu"].lower > 3.5
    assert found["epsilon"].lower > 3


def test_a_guess_is_found_however_much_confidence_is_asked_for():
    found = best_guesses(*runs(1000, moves=[3.0, 0, 0, 0]), NAMES, delta=1e-2, confidence=1 - 1e-9)
    assert 2.0 < found["mu"].lower < 3.0
    assert found["mu"].point == pytest.approx(3.0, abs=0.4)


def test_runs_that_prove_nothing_still_find_the_threshold_that_comes_nearest():
    """100 of 200 runs prove nothing of mu 0.5: no threshold at the end of the line may be chosen
    then.
    """
    for seed in range(20):
        found = best_guesses(*runs(200, moves=[0.5, 0, 0, 0], seed=seed), NAMES, **SETTINGS)
        assert found["mu"].point > 0.1
        assert found["epsilon"].point > 0.1
        assert found["mu"].lower >= 0


def test_what_no_statistic_tells_alone_the_discriminant_tells():
    one, other = runs(4000, moves=[0, 0.6, -0.6, 0.6])
    found = best_guesses(one, other, NAMES, **SETTINGS)
    assert found["mu"].statistic == DISCRIMINANT
    assert 0.8 < found["mu"].lower < np.sqrt(3 * 0.36)


def test_noise_proves_nothing():
    for seed in range(20):
        found = best_guesses(*runs(400, moves=[0.0] * 4, seed=seed), NAMES, **SETTINGS)
        assert found["mu"].lower < 0.05
        assert found["epsilon"].lower < 0.05


def test_statistics_that_never_vary_do_no_harm():
    one, other = runs(400, moves=[1.0, 0, 0, 0])
    one[:, 1:], other[:, 1:] = 3.0, 3.0
    assert best_guesses(one, other, NAMES, **SETTINGS)["mu"].lower > 0.3


def test_most_runs_are_counted_on():
    assert [n_learnt_of(n) for n in (40, 400, 1000, 2500, 10_000)] == [20, 200, 250, 250, 1000]
