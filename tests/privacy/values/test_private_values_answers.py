"""Private values: exact but for noise as stated; neighbours differ by what the events say, lone
values stay in.
"""

from fractions import Fraction
from itertools import combinations
from math import inf, sqrt

import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples
from helpers.values import (
    CUTS,
    EITHER,
    GRID,
    NO_STARTS,
    STARTS,
    Counts,
    Listed,
    Rows,
    Silent,
    book,
    private,
    units,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.noise_tails import tails
from oracles.privacy import ALPHA, Seeded, failed, gaussian_p_values, p_binomial
from scipy import stats

from synthdp.core import ParameterError, PrivacyError
from synthdp.privacy import Adjacency, PrivateValues, Queryable, gaussian_noise, value_weights

private_values = home(PrivateValues)
queryable = home(Queryable)

# What is counted


VALUES = st.lists(st.none() | st.integers(-6, 6), max_size=30)


@settings(max_examples=examples(60), deadline=None)
@given(values=VALUES, starts=CUTS)
def test_without_noise_a_histogram_is_the_counts(values, starts):
    found = private(Rows(values), randomness=Silent()).histogram(GRID, starts, rho=1)
    known = [value for value in values if value is not None]
    ends = [*starts.tolist()[1:], inf]
    assert found.missing == len(values) - len(known)
    if starts.size:
        assert found.below == sum(value < starts[0] for value in known)
        expected = [
            sum(a <= value < b for value in known) for a, b in zip(starts, ends, strict=True)
        ]
        assert found.counts.tolist() == expected
    else:
        assert (found.below, found.counts.tolist()) == (0, [len(known)])


@settings(max_examples=examples(20), deadline=None)
@given(counts=st.lists(st.integers(1, 300), max_size=12), seed=st.integers(0, 9))
def test_a_source_is_asked_for_those_values_alone_whose_noisy_counts_passed(counts, seed):
    source = Counts([f"v{place}" for place in range(len(counts))], counts)
    listed = source.frequencies(GRID)
    source.frequencies = lambda _grid: listed
    found = private(source, randomness=Seeded(seed)).frequent(GRID, rho=0.01, delta=1e-3)
    assert [f"v{place}" for place in listed.asked] == sorted(
        found.counts, key=lambda name: int(name[1:])
    )
    for place, count in enumerate(counts):
        assert (
            abs(found.counts.get(f"v{place}", count) - count) < 10 * found.stddev
        )  # each with the count of its own


def test_the_count_that_passed_is_the_one_that_is_released():
    """Another draw for what passed would be a second answer, which nobody paid for."""
    threshold = private(Rows([])).frequent(GRID, rho=0.01, delta=1e-3).threshold
    found = private(Counts(range(200), [threshold] * 200), randomness=Seeded(1)).frequent(
        GRID, rho=0.01, delta=1e-3
    )
    assert 50 < len(found.counts) < 150
    assert min(found.counts.values()) >= threshold


@pytest.mark.parametrize(
    "blocks", [[], [[]], [[], [3, 900], [], [0], [900]], [[3, 900, 0, 900]]], ids=str
)
def test_blocks_of_any_length_and_type_are_counted_alike(blocks):
    class InBlocks(Counts):
        def frequencies(self, _grid):
            listed = super().frequencies(_grid)
            listed.counts = lambda: iter(np.array(block, dtype=np.int32) for block in blocks)
            return listed

    found = private(InBlocks(["a", "b", "c", "d"], [0] * 4), randomness=Seeded(1)).frequent(
        GRID, rho=0.01, delta=1e-3
    )
    assert list(found.counts) == (["b", "d"] if any(blocks) else [])


@pytest.mark.parametrize("change", [-1, 1])
def test_a_source_that_gives_other_than_one_value_for_each_place_is_no_answer(change):
    class Wrong(Counts):
        def frequencies(self, _grid):
            listed = super().frequencies(_grid)
            listed.values = lambda places: [f"v{i}" for i in range(len(places) + change)]
            return listed

    with pytest.raises(ValueError, match="zip"):
        private(Wrong(["a", "b"], [900, 900]), randomness=Seeded(1)).frequent(
            GRID, rho=0.01, delta=1e-3
        )


@settings(max_examples=examples(60), deadline=None)
@given(values=VALUES)
def test_without_noise_frequent_values_are_those_at_or_above_the_threshold(values):
    found = private(Rows(values), randomness=Silent()).frequent(GRID, rho=100, delta=0.05)
    assert found.threshold == 1 + 1
    counts = {value: values.count(value) for value in values if value is not None}
    assert found.counts == {
        value: count for value, count in counts.items() if count >= found.threshold
    }
    assert found.missing == values.count(None)


@settings(max_examples=examples(60), deadline=None)
@given(values=VALUES, first=st.integers(-8, 5), width=st.integers(1, 10), seed=st.integers(0, 1000))
def test_a_tree_counts_every_value_once_those_beyond_at_the_ends(values, first, width, seed):
    stop, asked = first + width, []
    original = private_values.split_tree

    def spying(counts_below, *arguments, **options):
        def spy(points):
            asked.append((points, counts_below(points)))
            return asked[-1][1]

        return original(spy, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private_values, "split_tree", spying)
        cells = private(Rows(values), randomness=Seeded(seed)).split_tree(
            GRID, first, stop, rho=1000
        )
    inside = [min(max(value, first), stop - 1) for value in values if value is not None]
    assert (cells[0], cells[-1], cells.dtype) == (first, stop, np.int64)
    assert (np.diff(cells) > 0).all()
    assert asked or width == 1
    for points, below in asked:
        assert below.tolist() == [sum(value < point for value in inside) for point in points]


@EITHER
def test_released_values_come_in_their_own_order_and_as_pythons_own(accounting):
    common = ["b", "Z", "a", "", "é", "10", "9"]
    for values, kinds in (
        (common, str),
        ([np.str_(text) for text in common], str),
        (np.array([5, -3, 2**62]), int),
    ):
        for order in (values, values[::-1]):
            source = Counts(order, np.full(len(order), 10**6))
            found = private(source, book(accounting)).frequent(GRID, rho=1, delta=1e-6)
            assert list(found.counts) == sorted(set(values))
            assert {type(value) for value in found.counts} == {kinds}
            assert {type(count) for count in found.counts.values()} == {float}


def test_a_table_without_values_gives_no_error_and_the_same_types():
    """An empty array is easily one of floats, and lists have no dtype: neither may show."""
    for empty in ([], np.empty(0), np.empty(0, dtype=np.int64)):
        found = private(Counts([], empty)).frequent(GRID, rho=1, delta=1e-6)
        assert found.counts == {}
        assert type(found.missing) is float


@pytest.mark.parametrize(
    "counts", [np.zeros(2), np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.uint64)]
)
def test_a_histogram_of_another_shape_or_type_is_refused(counts):
    class Wrong(Rows):
        def histogram(self, _grid, _starts):
            return counts

    with pytest.raises(PrivacyError, match="must be int64 with 2 cells"):
        private(Wrong([])).histogram(GRID, NO_STARTS, rho=1)


# The noise is what the event states


def noise_of(kind, ledger):
    """200,000 draws of the noise of one question, and the sigma that its event states."""
    n = 200_000
    if kind == "histogram":
        found = private(Rows([]), ledger).histogram(GRID, np.arange(n - 2), rho=Fraction(1, 8))
        draws = np.concatenate([[found.missing, found.below], found.counts])
    else:
        found = private(Counts(np.arange(n), np.full(n, 10**6)), ledger).frequent(
            GRID, rho=Fraction(1, 8), delta=0.05
        )
        assert list(found.counts) == list(range(n))
        draws = np.array(list(found.counts.values())) - 10**6
    (event,) = ledger.events
    return draws.astype(np.int64), float(event.sigma_squared) ** 0.5


@EITHER
@units
@pytest.mark.parametrize("kind", ["histogram", "frequent"])
def test_noise_has_the_stated_distribution(accounting, adjacency, max_rows, kind):
    draws, sigma = noise_of(kind, book(accounting, adjacency, max_rows))
    assert sigma == 2 * (2**0.5 if adjacency is Adjacency.REPLACE_ONE else max_rows)
    assert not failed(gaussian_p_values(draws, sigma))


@pytest.mark.parametrize("kind", ["histogram", "frequent"])
def test_half_the_noise_is_noticed(kind, monkeypatch):
    def half(*, sigma_squared, size, randomness):
        return gaussian_noise(sigma_squared=sigma_squared / 4, size=size, randomness=randomness)

    monkeypatch.setattr(queryable, "gaussian_noise", half)
    assert {"fit", "variance"} <= set(failed(gaussian_p_values(*noise_of(kind, book()))))


@EITHER
@pytest.mark.parametrize("starts", [STARTS, NO_STARTS], ids=["several cells", "no starts"])
def test_every_cell_has_noise_of_its_own(accounting, starts):
    values = private(Rows([None, -9, -3, 0, 4]), book(accounting, epsilon=1e5))
    found = [values.histogram(GRID, starts, rho=0.5) for _ in range(2000)]
    cells = np.array(
        [[one.missing, *([one.below] if starts.size else []), *one.counts] for one in found]
    )
    draws = (cells - (1 if starts.size else [1, 4])).astype(np.int64)
    for cell in draws.T:
        assert not failed(gaussian_p_values(cell, 1.0))
    for one, other in combinations(draws.T, 2):  # as often of the same sign as not
        apart = (one * other)[one * other != 0]
        assert p_binomial(int((apart > 0).sum()), apart.size, 0.5) > ALPHA


@EITHER
def test_the_noise_of_the_missing_is_what_the_event_states(accounting):
    values = private(Rows([None] * 5), book(accounting, epsilon=1e5))
    draws = np.array(
        [values.frequent(GRID, rho=0.5, delta=1e-6).missing - 5 for _ in range(5000)]
    ).astype(np.int64)
    assert not failed(gaussian_p_values(draws, 1.0))


# Neighbours


def answers(rows, adjacency, max_rows, starts):
    """What a table gives without noise: its histogram, and its frequent values with the missing
    ones.
    """
    ledger = book(adjacency=adjacency, max_rows=max_rows)
    values = private(Rows(rows), ledger, Silent())
    found = values.histogram(GRID, starts, rho=1)
    shares = values.frequent(GRID, rho=10, delta=0.05)
    return (
        [found.missing, found.below, *found.counts],
        shares.counts | {"missing": shares.missing},
        ledger.events,
    )


PERSON = st.lists(st.none() | st.integers(-6, 6), min_size=1, max_size=3)


def squares(first, second):
    return sum((one - two) ** 2 for one, two in zip(first, second, strict=True))


@settings(max_examples=examples(75), deadline=None)
@given(
    rows=st.lists(st.none() | st.sampled_from([-1, 2, 2, 5]), max_size=60),
    person=PERSON,
    starts=CUTS,
)
def test_neighbours_differ_by_no_more_than_the_events_say(rows, person, starts):
    neighbours = [(Adjacency.ADD_REMOVE, len(person), [*rows, *person])]
    if rows:
        neighbours.append((Adjacency.REPLACE_ONE, 1, [person[0], *rows[1:]]))
    for adjacency, max_rows, other in neighbours:
        one, common, events = answers(rows, adjacency, max_rows, starts)
        two, common_, events_ = answers(other, adjacency, max_rows, starts)
        assert events == events_
        assert squares(one, two) <= events[0].sensitivity_squared
        exact, exact_ = ({v: table.count(v) for v in {*rows, *other}} for table in (rows, other))
        assert squares(exact.values(), exact_.values()) <= events[1].sensitivity_squared
        for value in ({*common} ^ {*common_}) - {"missing"}:
            assert min(exact[value], exact_[value]) > 0, "a value of one unit alone was released"
        both = sorted({*common} & {*common_} - {"missing"})
        moves = [common[value] - common_[value] for value in [*both, "missing"]]
        assert sum(move**2 for move in moves) <= events[1].sensitivity_squared


@units
def test_power_the_stated_sensitivities_are_reached(adjacency, max_rows):
    """With k - 1 rows for k, or the cells of one record for two, the claim would be exceeded."""
    base = [2] * 99
    other = [*base[1:], 5] if adjacency is Adjacency.REPLACE_ONE else [*base, *[2] * max_rows]
    one, common, events = answers(base, adjacency, max_rows, STARTS)
    two, common_, _ = answers(other, adjacency, max_rows, STARTS)
    assert squares(one, two) == events[0].sensitivity_squared
    released = common_[2] - common[2]
    assert released**2 == (
        1 if adjacency is Adjacency.REPLACE_ONE else events[1].sensitivity_squared
    )


LARGE_DELTA = 0.05


def lone_values_released(accounting, counts_of_a_unit, n_units, max_rows):
    """How many of a lot of units have a value of their own released, in one go with real noise."""
    width = len(counts_of_a_unit)
    source = Counts(np.arange(n_units * width), np.tile(counts_of_a_unit, n_units))
    found = private(source, book(accounting, max_rows=max_rows)).frequent(
        GRID, rho=Fraction(1, 200), delta=LARGE_DELTA
    )
    return len({value // width for value in found.counts}), int(found.threshold)


@EITHER
@pytest.mark.parametrize("rows", [(1,), (4,), (1, 1, 1, 1), (2, 1, 1)], ids=str)
def test_a_value_of_one_unit_alone_passes_with_a_probability_of_at_most_delta(accounting, rows):
    n, max_rows = 50_000, sum(rows)
    hits, threshold = lone_values_released(accounting, rows, n, max_rows)
    assert stats.binom.sf(hits - 1, n, LARGE_DELTA) > ALPHA
    assert stats.binom.sf(hits - 1, n, LARGE_DELTA / 20) < ALPHA
    tail = tails(10.0 * max_rows)
    none_passes = np.prod([1 - tail[threshold - count] for count in rows])
    assert p_binomial(hits, n, 1 - none_passes) > ALPHA


class Shared(Counts):
    """Records that each have so many values, each of them its own."""

    def __init__(self, n_records, n_values, most) -> None:
        n_all = n_records * n_values
        super().__init__(np.arange(n_all), np.full(n_all, value_weights(most)[n_values - 1]))
        self.most = most

    def most_values(self, _grid):
        return self.most


def shared_values_released(accounting, adjacency, n_values, n_records):
    """Of how many records one of its values is released, all of them its own."""
    source, ledger = Shared(n_records, n_values, 8), book(accounting, adjacency)
    found = private(source, ledger).frequent(GRID, rho=Fraction(1, 200), delta=LARGE_DELTA)
    assert ledger.spent == Fraction(1, 200)
    return len({value // n_values for value in found.counts}), found


@EITHER
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("n_values", [1, 3, 8])
def test_several_values_of_one_record_alone_pass_with_a_probability_of_at_most_delta(
    accounting, adjacency, n_values
):
    n = 50_000
    hits, found = shared_values_released(accounting, adjacency, n_values, n)
    assert stats.binom.sf(hits - 1, n, LARGE_DELTA) > ALPHA
    assert found.stddev == pytest.approx(10 * sqrt(adjacency.marginal_l2_squared), rel=1e-3)
    if n_values == 8:  # the worst that a record can have, with that much noise
        assert stats.binom.sf(hits - 1, n, LARGE_DELTA / 2) < ALPHA


def test_counts_of_several_values_are_in_records():
    class Common(Shared):
        def frequencies(self, _grid):
            return Listed(["a", "b"], [1024 * 300, 724 * 500], 591 * 700)

    found = private(Common(1, 1, 3), randomness=Silent()).frequent(GRID, rho=0.01, delta=1e-3)
    assert found.counts == {"a": 300.0, "b": 724 * 500 / 1024}
    assert found.missing == 591 * 700 / 1024
    assert min(found.counts.values()) > found.threshold > 1


def test_persons_with_several_records_of_several_values_are_refused():
    ledger = book(max_rows=3)
    with pytest.raises(ParameterError, match="max_rows is 3 and most_values 8"):
        private(Shared(1, 1, 8), ledger).frequent(GRID, rho=0.01, delta=1e-3)
    assert ledger.spent == 0


@EITHER
@pytest.mark.parametrize("rows", [(1,), (1, 1, 1, 1)], ids=str)
def test_power_a_threshold_one_sigma_lower_is_noticed(accounting, rows, monkeypatch):
    original = private_values.partition_threshold

    def lower(*, sigma_squared, **rest):
        found = original(sigma_squared=sigma_squared, **rest)
        return found - int(float(sigma_squared) ** 0.5)

    monkeypatch.setattr(private_values, "partition_threshold", lower)
    hits, _ = lone_values_released(accounting, rows, 50_000, sum(rows))
    assert stats.binom.sf(hits - 1, 50_000, LARGE_DELTA) < ALPHA
