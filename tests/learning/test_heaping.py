"""Round values: learnt where there are more of them than by chance, and not where there are not."""

import numpy as np
import pytest
from helpers.learning import BIG, decoded, distance, learn

from synthdp.learning import Density, learnt_heaping
from synthdp.privacy import NoisyHistogram
from synthdp.schema import STEPS, steps_of


def shares(points):
    return {step: float((np.asarray(points) % step == 0).mean()) for step in (5, 10, 100, 1000)}


def incomes(rng, n_rows=8000):
    """Amounts most of which are multiples of 100 or 1,000."""
    exact, rounded = (
        np.exp(rng.normal(10, 0.8, n_rows)),
        rng.choice([1, 100, 1000], n_rows, p=[0.2, 0.3, 0.5]),
    )
    return (exact // rounded * rounded).astype(int)


def test_amounts_are_as_round_as_they_were():
    values = incomes(np.random.default_rng(1))
    column, codes, own = learn("integer", values)
    assert set(own["heaping"]) <= {"100", "500", "1000"}
    back = decoded(column, codes)
    assert shares(back) == pytest.approx(shares(values), abs=0.08)
    assert distance(values, column, codes) < 0.03


def test_numbers_with_decimals_are_heaped_on_their_own_grid():
    rng = np.random.default_rng(2)
    values = np.where(
        rng.random(8000) < 0.7, rng.gamma(2, 800, 8000).round(), rng.gamma(2, 800, 8000).round(2)
    )
    column, codes, own = learn("number", values)
    assert (own["decimals"], list(own["heaping"])) == (2, ["1"])
    back = decoded(column, codes)
    assert abs((back == back.round()).mean() - 0.703) < 0.06


def test_what_is_declared_is_not_asked():
    values = incomes(np.random.default_rng(1))
    for declared in ({}, {"50": 0.5}):
        kind = {"type": "integer", "synthdp": {"derive": True, "heaping": declared}}
        _, _, own = learn(kind, values)
        assert own["heaping"] == declared


@pytest.mark.parametrize("kind", ["flat", "steep", "even", "few"])
def test_what_is_round_by_chance_is_not_heaped(kind):
    rng = np.random.default_rng(3)
    values = {
        "flat": rng.integers(-40_000, 90_000, 4000),
        "steep": rng.exponential(3000, 4000).astype(int),
        "even": rng.integers(0, 20_000, 4000) * 2 + 1,
        "few": rng.integers(17, 90, 4000),
    }[kind]
    assert "heaping" not in learn("integer", values, **BIG | {"epsilon": 50.0})[2]


def noisy(counts, stddev, rng):
    return NoisyHistogram(
        np.arange(len(counts)), 0.0, 0.0, counts + rng.normal(0, stddev, len(counts)), stddev
    )


@pytest.mark.parametrize("records", [0, 500, 50_000])
def test_noise_alone_makes_no_heaps(records):
    """None in 300 columns, where one in a million is allowed."""
    rng = np.random.default_rng(4)
    density = Density(
        np.array([-1000, 0, 1, 400, 30_000]), np.array([0.2, 0.1, 0.5, 0.2]) * max(records, 1)
    )
    points = np.concatenate(
        [rng.integers(-1000, 400, records // 2), rng.integers(0, 30_000, records // 2)]
    )
    counts = np.bincount(steps_of(points), minlength=len(STEPS) + 2)
    for _ in range(300):
        assert learnt_heaping(noisy(counts, 60.0, rng), density, 0, 60.0) is None


def test_no_noisy_answer_is_an_error():
    rng = np.random.default_rng(5)
    for _ in range(20):
        ends = rng.integers(-(10 ** rng.integers(1, 15)), 10 ** rng.integers(1, 15), 9)
        starts = np.unique([*ends, 0, 7])
        density = Density(
            starts, rng.random(len(starts) - 1) * rng.integers(0, 2, len(starts) - 1) + 1e-9
        )
        counts = rng.normal(0, 1, len(STEPS) + 2) * 10.0 ** rng.integers(-1, 8, len(STEPS) + 2)
        found = learnt_heaping(noisy(counts, 1.0, rng), density, int(rng.integers(-3, 8)), 1.0)
        assert found is None or (min(found.values()) >= 0 and sum(found.values()) <= 1)
