"""How much was replaced since an earlier table: what all pairs say together of each."""

import itertools

import numpy as np
import pytest

from synthdp.mechanisms import (
    Observed,
    expected_turnovers,
    pooled_observations,
    turnovers_alike,
)

COLUMNS = "abcdefghijkl"
PAIRS = list(itertools.combinations(COLUMNS, 2))


def observed(true, stddev, seed=0):
    chance = np.random.default_rng(seed)
    return {
        pair: Observed(value + stddev * chance.normal(), stddev) for pair, value in true.items()
    }


def test_columns_that_moved_are_told_from_those_that_did_not():
    true = {pair: 0.1 * ("c" in pair) + 0.2 * ("f" in pair) + 0.01 for pair in PAIRS}
    found = expected_turnovers(observed(true, 0.1))
    still = [found[pair] for pair in PAIRS if true[pair] == 0.01]
    moved = {name: np.mean([found[pair] for pair in PAIRS if name in pair]) for name in "cf"}
    assert np.mean(still) < 0.05
    assert moved["f"] > moved["c"] > 2 * np.mean(still)


@pytest.mark.parametrize("seed", range(3))
def test_they_are_nearer_than_what_was_observed(seed):
    true = {pair: 0.15 * ("a" in pair) + 0.02 for pair in PAIRS}
    seen = observed(true, 0.1, seed)
    found = expected_turnovers(seen)
    errors = [
        np.sqrt(np.mean([(each[pair] - true[pair]) ** 2 for pair in PAIRS]))
        for each in (found, {pair: each.value for pair, each in seen.items()})
    ]
    assert errors[0] < 0.5 * errors[1]


def test_one_pair_may_move_by_far_more_than_its_columns():
    true = dict.fromkeys(PAIRS, 0.02) | {("b", "k"): 3.0}
    found = expected_turnovers(observed(true, 0.1))
    assert found["b", "k"] == pytest.approx(3.0, rel=0.2)
    assert np.median([found[pair] for pair in PAIRS if not {"b", "k"} & set(pair)]) < 0.1


def test_never_is_nothing_at_all_believed_to_have_moved_and_never_less():
    found = expected_turnovers({pair: Observed(-1.0, 0.5) for pair in PAIRS})
    assert all(0 < each < 0.5 for each in found.values())
    assert expected_turnovers({}) == {}


def test_precise_observations_outweigh_others():
    pooled = pooled_observations([Observed(1.0, 0.1), Observed(3.0, 1.0)])
    assert pooled.value == pytest.approx((100 * 1.0 + 3.0) / 101)
    assert pooled.stddev == pytest.approx(101**-0.5)


@pytest.mark.parametrize("seed", range(3))
def test_columns_say_together_how_far_each_moved(seed):
    """The larger of what is seen of one and of all is what those that did not move seem to have."""
    chance = np.random.default_rng(seed)
    true = np.array([0.06] * 14 + [5.0, 500.0])
    stddevs = np.full(16, 0.1)
    seen = true + stddevs * chance.normal(size=16)
    found = turnovers_alike(
        {
            name: Observed(*each)
            for name, each in zip("abcdefghijklmnop", zip(seen, stddevs, strict=True), strict=True)
        }
    )
    values = np.array(list(found.values()))
    assert values[-2:] == pytest.approx(true[-2:], rel=0.1)
    assert 0.02 < values[:14].mean() < 0.12
    assert np.abs(values - true)[:14].mean() < 0.7 * np.abs(seen - true)[:14].mean()


def test_columns_that_all_moved_leave_no_weight_undefined():
    """However many standard deviations one lies from the others."""
    seen = {"a": Observed(1e4, 0.1), "b": Observed(3e4, 0.1), "c": Observed(0.5, 0.1)}
    assert all(np.isfinite(each) for each in turnovers_alike(seen).values())
    assert turnovers_alike({}) == {}
