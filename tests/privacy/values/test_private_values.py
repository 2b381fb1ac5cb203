"""Private values: each answer is paid for first, noisy as stated, and shows no value of one unit
alone.
"""

import copy
import pickle
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from helpers.values import (
    EITHER,
    GRID,
    NO_STARTS,
    STARTS,
    Rows,
    Silent,
    Untouchable,
    book,
    private,
    units,
)

from synthdp.core import MAX_POINT, BudgetExceededError, ParameterError, PrivacyError
from synthdp.privacy import (
    Accounting,
    Adjacency,
    HistogramEvent,
    PartitionEvent,
    PrivateValues,
    PrivTreeEvent,
    SystemRandomness,
)
from synthdp.privacy.values.private_values import MAX_CELLS

RHO, DELTA = Fraction(1, 3), Fraction(1, 1000)


def gaussian_requests(values):
    """Every way to ask with Gaussian noise, at a given cost."""
    yield lambda rho: values.histogram(GRID, STARTS, rho=rho)
    yield lambda rho: values.histogram(GRID, NO_STARTS, rho=rho)
    yield lambda rho: values.frequent(GRID, rho=rho, delta=DELTA)


def requests(values):
    yield from gaussian_requests(values)
    yield lambda rho: values.split_tree(GRID, -8, 8, rho=rho)


# Charged first, and exactly


@EITHER
@units
def test_a_histogram_costs_exactly_rho(accounting, adjacency, max_rows):
    ledger = book(accounting, adjacency, max_rows)
    found = private(Rows([1, None, 7]), ledger).histogram(GRID, STARTS, rho=RHO)
    squared = 2 if adjacency is Adjacency.REPLACE_ONE else max_rows**2
    (event,) = ledger.events
    assert event == HistogramEvent(
        column="x",
        of="values",
        n_cells=5,
        sigma_squared=squared / (2 * RHO),
        sensitivity_squared=squared,
    )
    assert (ledger.spent, ledger.failure_delta_spent) == (RHO, 0)
    assert found.stddev**2 == pytest.approx(float(event.sigma_squared) + 1 / 12)
    assert found.starts.tolist() == STARTS.tolist()
    assert found.counts.shape == (3,)


@EITHER
@units
def test_frequent_values_cost_exactly_rho_and_delta(accounting, adjacency, max_rows):
    ledger = book(accounting, adjacency, max_rows)
    found = private(Rows([1, None, 7]), ledger).frequent(GRID, rho=RHO, delta=DELTA)
    squared = 2 if adjacency is Adjacency.REPLACE_ONE else max_rows**2
    (event,) = ledger.events
    assert event == PartitionEvent(
        column="x",
        of="values",
        sigma_squared=squared / (2 * RHO),
        sensitivity_squared=squared,
        threshold=found.threshold,
        failure_probability=DELTA,
    )
    assert (ledger.spent, ledger.failure_delta_spent) == (RHO, DELTA)
    assert (event.rho, event.delta) == (RHO, DELTA)
    assert found.stddev**2 == pytest.approx(float(event.sigma_squared) + 1 / 12)


@units
def test_a_tree_costs_at_most_rho_for_all_rows_of_a_unit(adjacency, max_rows):
    ledger = book(adjacency=adjacency, max_rows=max_rows)
    private(Rows([1, None, 7]), ledger).split_tree(GRID, -8, 8, rho=RHO)
    (event,) = ledger.events
    assert isinstance(event, PrivTreeEvent)
    assert RHO / 2 < event.rho == ledger.spent <= RHO
    assert event.sensitivity == (2 if adjacency is Adjacency.REPLACE_ONE else max_rows)


@pytest.mark.parametrize("index", range(4))
def test_the_charge_is_booked_before_the_records_are_asked(index):
    ledger = book()
    with pytest.raises(AssertionError, match="touched"):
        list(requests(private(Untouchable(), ledger)))[index](RHO)
    assert len(ledger.events) == 1
    assert RHO / 2 < ledger.spent <= RHO


@EITHER
def test_a_request_beyond_the_budget_never_reaches_the_records(accounting):
    ledger = book(accounting)
    asking = list(gaussian_requests(private(Untouchable(), ledger)))
    for request in asking:
        with pytest.raises(BudgetExceededError, match="rho"):
            request(ledger.budget + Fraction(1, 1 << 70))
    assert (ledger.spent, ledger.failure_delta_spent, ledger.events) == (0, 0, ())


def test_a_tree_beyond_the_budget_or_under_gaussian_dp_never_reaches_the_records():
    cheap = book(epsilon=0.01, delta=1e-6, failure_delta=0)
    with pytest.raises(BudgetExceededError):
        private(Untouchable(), cheap).split_tree(GRID, -8, 8, rho=2 * cheap.budget)
    gdp = book(Accounting.GDP)
    with pytest.raises(PrivacyError, match="gdp does not cover"):
        private(Untouchable(), gdp).split_tree(GRID, -8, 8, rho=RHO)
    assert cheap.events == gdp.events == ()


def test_frequent_values_beyond_delta_never_reach_the_records():
    ledger = book()
    values = private(Untouchable(), ledger)
    for delta in (ledger.failure_delta + Fraction(1, 1 << 200), 0.11):
        with pytest.raises(BudgetExceededError, match="costs delta"):
            values.frequent(GRID, rho=RHO, delta=delta)
    with pytest.raises(BudgetExceededError, match="costs delta"):
        private(Untouchable(), book(failure_delta=0)).frequent(GRID, rho=RHO, delta=1e-12)
    assert (ledger.spent, ledger.failure_delta_spent, ledger.events) == (0, 0, ())
    assert (
        private(Rows([]), ledger).frequent(GRID, rho=RHO, delta=ledger.failure_delta).counts == {}
    )
    assert ledger.failure_delta_spent == ledger.failure_delta


@EITHER
@pytest.mark.parametrize(
    "rho", [0, -1, nan, inf, -inf, 1e-320, Fraction(1, 1 << 200)], ids=lambda rho: str(rho)[:12]
)
def test_a_bad_rho_costs_nothing_and_touches_nothing(accounting, rho):
    ledger = book(accounting)
    asking = list(
        (requests if accounting is Accounting.ZCDP else gaussian_requests)(
            private(Untouchable(), ledger)
        )
    )
    for request in asking:
        with pytest.raises(ParameterError, match="rho"):
            request(rho)
    assert ledger.events == ()


@pytest.mark.parametrize(
    "delta", [0, 0.0, -1e-9, nan, inf, -inf, 1, 2.0, 1e-300, Fraction(1, 10**400)], ids=str
)
def test_a_bad_delta_costs_nothing_and_touches_nothing(delta):
    ledger = book()
    with pytest.raises(ParameterError, match="delta"):
        private(Untouchable(), ledger).frequent(GRID, rho=RHO, delta=delta)
    assert ledger.events == ()


FAR = MAX_POINT
BAD_STARTS = [
    [1, 1],
    [2, 1],
    [FAR, -FAR - 2],
    [[1, 2]],
    np.arange(MAX_CELLS + 1),
]  # the third differs by 2^63 + 2


@pytest.mark.parametrize(
    "starts", BAD_STARTS, ids=["equal", "falling", "wrapping round", "two axes", "too many"]
)
def test_bad_starts_cost_nothing_and_touch_nothing(starts):
    ledger = book()
    with pytest.raises(ParameterError, match="starts of 'x'"):
        private(Untouchable(), ledger).histogram(GRID, np.array(starts), rho=RHO)
    assert ledger.events == ()


@pytest.mark.parametrize(("first", "stop"), [(3, 3), (4, 3), (-FAR - 1, 0), (0, FAR + 1)])
def test_a_tree_of_no_grid_costs_nothing_and_touches_nothing(first, stop):
    ledger = book()
    with pytest.raises(ParameterError, match="grid of 'x'"):
        private(Untouchable(), ledger).split_tree(GRID, first, stop, rho=RHO)
    assert ledger.events == ()


# Nothing to see


def test_private_values_cannot_be_copied():
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PrivacyError, match="copied"):
            attempt(private(Rows([1])))


def test_their_public_face_is_small_and_fixed():
    values = private(Rows([1]))
    public = {name for name in dir(PrivateValues) if not name.startswith("_")}
    assert public == {"close", "frequent", "histogram", "ledger", "randomness", "split_tree"}
    for name in ("ledger", "randomness", "rows"):
        with pytest.raises(AttributeError):
            setattr(values, name, None)
    for attempt in (len, iter, vars):
        with pytest.raises(TypeError):
            attempt(values)
    assert type(values.randomness) is SystemRandomness


def test_their_text_and_errors_say_the_same_whatever_the_records_are():
    def texts(rows):
        values = private(Rows(rows), book(epsilon=1.0, delta=1e-6, failure_delta=1e-7))
        yield repr(values)
        for request in [
            *(lambda ask=ask: ask(50) for ask in requests(values)),
            lambda: values.frequent(GRID, rho=1e-4, delta=1e-3),
            lambda: values.histogram(GRID, np.array([2, 1]), rho=1e-4),
            lambda: values.split_tree(GRID, 2, 1, rho=1e-4),
        ]:
            with pytest.raises((ParameterError, BudgetExceededError)) as caught:
                request()
            yield str(caught.value)

    assert list(texts([])) == list(texts([None, 12345] * 99))
    assert next(texts([])) == "PrivateValues(add-remove)"


def test_released_numbers_share_no_memory_with_counts():
    class OneArray(Rows):
        held = np.array([5, 5], dtype=np.int64)

        def histogram(self, _grid, _starts):
            return self.held

    starts = np.empty(0, dtype=np.int64)
    found = private(OneArray([]), randomness=Silent()).histogram(GRID, starts, rho=1)
    assert not np.shares_memory(found.counts, OneArray.held)
    assert OneArray.held.tolist() == [5, 5]


# Records that are several rows


class Shared(Rows):
    """A source whose records share themselves out: of each cell 1000 units, and one record."""

    def most_values(self, _grid):
        return 4

    def shared_histogram(self, _grid, starts):
        return np.full(len(starts) + 2, 1000)


@EITHER
@units
def test_a_shared_histogram_costs_rho_in_units_of_weight(accounting, adjacency, max_rows):
    ledger = book(accounting, adjacency, max_rows)
    found = private(Shared([1, None, 7]), ledger).histogram(GRID, STARTS, rho=RHO, shared=True)
    squared = 2 if adjacency is Adjacency.REPLACE_ONE else max_rows**2
    (event,) = ledger.events
    assert event == HistogramEvent(
        column="x",
        of="values",
        n_cells=5,
        sigma_squared=squared * 1024**2 / (2 * RHO),
        sensitivity_squared=squared * 1024**2,
    )
    assert (event.rho, ledger.spent) == (RHO, RHO)
    assert found.stddev == pytest.approx(float(squared / (2 * RHO)) ** 0.5)
    assert found.most_cells == 4


def test_answers_of_shared_histograms_are_in_records():
    values = private(Shared([1, None, 7]), randomness=Silent())
    found = values.histogram(GRID, STARTS, rho=RHO, shared=True)
    assert {found.missing, found.below, *found.counts} == {1000 / 1024}
    plain = values.histogram(GRID, STARTS, rho=RHO)
    assert plain.most_cells == 1
    assert [plain.missing, plain.below, *plain.counts] == [1, 0, 0, 1, 1]


def test_where_a_record_is_one_row_shares_are_no_other_question():
    one, other = book(), book()
    for ledger, options in ((one, {}), (other, {"shared": True})):
        found = private(Rows([1, None, 7]), ledger).histogram(GRID, STARTS, rho=RHO, **options)
        assert found.most_cells == 1
    assert [*one.events] == [*other.events]
