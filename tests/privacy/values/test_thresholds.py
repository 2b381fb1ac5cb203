"""Thresholds of partition selection: bounds hold, nothing smaller would do, and every loop ends."""

from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import pytest
from helpers.homes import home
from oracles.noise_tails import tails

from synthdp.core import ParameterError
from synthdp.privacy import (
    MAX_ROWS,
    MAX_SIGMA_SQUARED,
    MIN_DELTA,
    partition_threshold,
    tail_bound,
    value_weights,
)

SIGMAS = [0.1, 0.3, 0.5, 0.8, 1.0, 1.7, 3.0, 10.0, 70.0, 1000.0, 10_000.0]
DELTAS = [0.9, 0.5, 0.05, 1e-3, 1e-6, 1e-9, 1e-12]
ROUNDING = 1e-8
"""Relative; more than the slack of the bounds and the rounding of the sums below."""

any_sigma = pytest.mark.parametrize("sigma", SIGMAS)


def threshold(sigma: float, max_rows: int, delta: float) -> int:
    return partition_threshold(
        sigma_squared=Fraction(sigma) ** 2, max_rows=max_rows, delta=Fraction(delta)
    )


def partitions(total: int, largest: int | None = None):
    """All ways to write ``total`` as a sum of whole numbers, the largest first."""
    if total == 0:
        yield ()
    for first in range(min(total, total if largest is None else largest), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def worst_failure(tail: np.ndarray, limit: int, max_rows: int) -> float:
    """Probability that a unit's own value is released, for the worst way to spread its rows over
    values.
    """
    return max(
        sum(
            tail[limit - count] if limit >= count else 1 - tail[count - limit + 1]
            for count in counts
        )
        for rows in range(1, max_rows + 1)
        for counts in partitions(rows)
    )


def test_the_oracle_knows_all_partitions():
    assert [len(list(partitions(k))) for k in range(1, 9)] == [1, 2, 3, 5, 7, 11, 15, 22]
    assert sorted(partitions(4)) == [(1, 1, 1, 1), (2, 1, 1), (2, 2), (3, 1), (4,)]


@any_sigma
def test_the_tail_bound_holds(sigma):
    tail = tails(sigma)
    reach = np.flatnonzero(tail > 1e-290)[-1]
    for m in {
        *range(1, min(reach, 40) + 1),
        *np.linspace(1, max(reach, 1), 40).astype(int).tolist(),
    }:
        assert tail_bound(Fraction(sigma) ** 2, m) == pytest.approx(tail[m], rel=ROUNDING)


@any_sigma
@pytest.mark.parametrize("max_rows", [1, 2, 7, 1000])
def test_it_is_the_smallest_that_the_bound_proves(sigma, max_rows):
    variance = Fraction(sigma) ** 2
    for delta in DELTAS:
        found = threshold(sigma, max_rows, delta)

        def failure(limit):
            apart = max_rows * tail_bound(variance, limit - 1) if limit > 1 else 1.0
            return max(tail_bound(variance, limit - max_rows), apart)

        assert found > max_rows
        assert failure(found) <= delta
        smaller = found - max(1, ceil(sigma / 1000))
        assert smaller <= max_rows or failure(smaller) > delta * (1 - 1e-12)


@pytest.mark.parametrize("sigma", [0.1, 0.5, 1.0, 3.0, 10.0, 70.0])
@pytest.mark.parametrize("max_rows", [1, 2, 3, 8, 12])
def test_no_spread_of_a_units_rows_fails_with_more_than_delta(sigma, max_rows):
    tail = tails(sigma)
    for delta in DELTAS:
        found = threshold(sigma, max_rows, delta)
        failure = worst_failure(tail, found, max_rows)
        assert failure <= delta * (1 + 1e-12)
        assert failure == pytest.approx(
            max(tail[found - max_rows], max_rows * tail[found - 1]), rel=1e-9
        )
        if sigma >= 3 and found > max_rows + 1:
            assert failure >= delta / 100, "the threshold is wastefully high"


@pytest.mark.parametrize("sigma", [3.0, 10.0, 70.0])
@pytest.mark.parametrize("max_rows", [1, 3, 8])
@pytest.mark.parametrize("delta", [0.05, 1e-6, 1e-12])
def test_power_two_sigma_less_would_fail(sigma, max_rows, delta):
    tail, found = tails(sigma), threshold(sigma, max_rows, delta)
    assert worst_failure(tail, found - int(2 * sigma), max_rows) > 3 * delta
    assert worst_failure(tail, found - 1, max_rows) > delta * (
        1 - ROUNDING
    )  # not even one less would do


def test_power_both_spreads_of_rows_matter():
    """With little noise the worst is one value with all rows, with much noise as many values as
    rows.
    """
    for sigma, worst in ((1.0, "together"), (70.0, "apart")):
        tail, found = tails(sigma), threshold(sigma, 8, 1e-6)
        together, apart = tail[found - 8], 8 * tail[found - 1]
        assert (together > apart) == (worst == "together")


any_number_of_values = pytest.mark.parametrize("most_values", [2, 3, 16, 50])


@any_number_of_values
def test_squares_of_a_records_weights_never_pass_that_of_a_single_value(most_values):
    weights = value_weights(most_values)
    assert len(weights) == most_values
    for n_values, weight in enumerate(weights, start=1):
        assert n_values * weight**2 <= weights[0] ** 2
        assert weight == pytest.approx(weights[0] / sqrt(n_values), abs=1)


def failure_of_values(tail, limit, weights):
    """Probability that a value of one record alone is released, for the worst number of its values."""
    return max(
        n_values * (tail[limit - weight] if limit - weight < len(tail) else 0.0)
        for n_values, weight in enumerate(weights, start=1)
    )


@any_number_of_values
@pytest.mark.parametrize("sigma", [30.0, 1000.0, 10_000.0])
def test_no_number_of_values_of_a_record_fails_with_more_than_delta(sigma, most_values):
    tail, weights, variance = tails(sigma), value_weights(most_values), Fraction(sigma) ** 2
    for delta in DELTAS[2:]:
        found = partition_threshold(
            sigma_squared=variance, max_rows=1, delta=Fraction(delta), most_values=most_values
        )
        assert found > weights[0]
        assert failure_of_values(tail, found, weights) <= delta * (1 + 1e-12)
        smaller = found - max(1, ceil(sigma / 1000))
        if smaller > weights[0]:
            assert failure_of_values(tail, smaller, weights) > delta * (1 - ROUNDING)


@pytest.mark.parametrize("sigma", [0.3, 3.0, 30.0])
@pytest.mark.parametrize("delta", [0.5, 0.9, 0.999])
def test_a_record_of_several_values_never_reaches_the_threshold_without_noise(sigma, delta):
    """The bound on tails is for thresholds above all that a record counts, however large delta is."""
    found = partition_threshold(
        sigma_squared=Fraction(sigma) ** 2, max_rows=1, delta=Fraction(delta), most_values=16
    )
    assert found > value_weights(16)[0]
    assert failure_of_values(tails(sigma), found, value_weights(16)) <= delta


def test_power_the_worst_number_of_values_may_be_neither_one_nor_the_most():
    """Two of at most three, where delta is nearly a half."""
    sigma, delta, weights = 447.4, 0.4995, value_weights(3)
    found = partition_threshold(
        sigma_squared=Fraction(sigma) ** 2, max_rows=1, delta=Fraction(delta), most_values=3
    )
    tail = tails(sigma)
    each = [n * tail[1026 - weight] for n, weight in enumerate(weights, start=1)]
    assert each[0] < delta
    assert each[2] < delta < each[1]
    assert found > 1026
    assert failure_of_values(tail, found, weights) <= delta


def test_power_the_worst_number_of_values_depends_on_the_noise():
    """With little noise it is one, with much noise the most that there can be: neither is enough."""
    weights = value_weights(16)
    for sigma, worst in ((30.0, 1), (10_000.0, 16)):
        tail = tails(sigma)
        found = partition_threshold(
            sigma_squared=Fraction(sigma) ** 2, max_rows=1, delta=Fraction(1, 10**6), most_values=16
        )
        each = {n_values: n_values * tail[found - weights[n_values - 1]] for n_values in (1, 16)}
        assert max(each, key=each.get) == worst


def test_records_of_several_values_are_units_of_their_own():
    with pytest.raises(ParameterError, match="max_rows is 2 and most_values 3"):
        partition_threshold(
            sigma_squared=Fraction(1), max_rows=2, delta=Fraction(1, 10), most_values=3
        )


@pytest.mark.parametrize("max_rows", [1, MAX_ROWS])
@pytest.mark.parametrize("delta", [MIN_DELTA, 1e-100, 1e-9, 0.5, 1 - 2.0**-53])
def test_the_search_ends_however_large_the_parameters_are(max_rows, delta, monkeypatch):
    asked = []
    monkeypatch.setattr(
        home(partition_threshold),
        "tail_bound",
        lambda *arguments: asked.append(1) or tail_bound(*arguments),
    )
    for variance in (
        Fraction(1, 10**30),
        Fraction(1),
        Fraction(10**6),
        Fraction(MAX_SIGMA_SQUARED),
    ):
        found = partition_threshold(
            sigma_squared=variance, max_rows=max_rows, delta=Fraction(delta)
        )
        assert type(found) is int
        assert max_rows < found <= 2 + max_rows + 40 * float(variance) ** 0.5
    assert len(asked) < 100_000


@pytest.mark.parametrize(
    "delta",
    [
        Fraction(0),
        Fraction(-1),
        Fraction(1),
        Fraction(2),
        Fraction(1, 10**281),
        1 - Fraction(1, 10**30),
    ],
)
def test_deltas_that_floats_cannot_tell_are_refused(delta):
    with pytest.raises(ParameterError, match="delta of a threshold is"):
        partition_threshold(sigma_squared=Fraction(1), max_rows=1, delta=delta)
