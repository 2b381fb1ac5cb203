"""Events cost what they say, exactly; the ledger is a filter that cannot be talked round."""

import json
from dataclasses import FrozenInstanceError
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from helpers.bad_rhos import BAD_RHOS
from helpers.private_tables import Costs
from helpers.racing import n_refused
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import BudgetExceededError, ParameterError, PrivacyError
from synthdp.privacy import (
    Accounting,
    Adjacency,
    Event,
    MarginalEvent,
    PrivacyLedger,
    PrivacyUnit,
    ScoresEvent,
    SelectionEvent,
    exact_rho,
    gdp_rho,
    zcdp_rho,
)

RHOS = st.fractions(min_value=Fraction(1, 10**12), max_value=10**6)
SMALL_RHOS = st.fractions(
    min_value=Fraction(1, 10**6), max_value=Fraction(1, 20), max_denominator=10**6
)
ADJACENCIES = st.sampled_from(Adjacency)


def ledger(**changes) -> PrivacyLedger:
    return PrivacyLedger(
        **({"epsilon": 10.0, "delta": 1e-9, "adjacency": Adjacency.ADD_REMOVE} | changes)
    )


def marginal(rho, adjacency=Adjacency.ADD_REMOVE) -> MarginalEvent:
    return MarginalEvent.costing(rho, clique=("a",), unit=PrivacyUnit(adjacency=adjacency))


def scores(rho, sensitivity=1, n_candidates=5) -> ScoresEvent:
    return ScoresEvent.costing(rho, score="s", n_candidates=n_candidates, sensitivity=sensitivity)


# Events


@given(rho=RHOS, adjacency=ADJACENCIES)
def test_marginal_event_costs_exactly_rho(rho, adjacency):
    event = marginal(rho, adjacency)
    assert event.rho == rho
    assert event.sigma_squared == Fraction(adjacency.marginal_l2_squared, 1) / (2 * rho)


@given(rho=RHOS)
def test_selection_event_costs_at_most_rho_and_hardly_less(rho):
    event = SelectionEvent.costing(rho, score="s", n_candidates=3, sensitivity=Fraction(1))
    assert 0 <= rho - event.rho <= rho * Fraction(1, 10**9)
    assert event.rho == event.epsilon**2 / 8
    assert (event.epsilon + Fraction(1, 1 << 80)) ** 2 / 8 > rho


def test_selection_event_of_a_square_costs_exactly_rho():
    assert (
        SelectionEvent.costing(
            Fraction(1, 2), score="s", n_candidates=1, sensitivity=Fraction(1)
        ).epsilon
        == 2
    )


def test_a_selection_for_next_to_nothing_is_refused():
    with pytest.raises(ParameterError, match="too little"):
        SelectionEvent.costing(
            Fraction(1, 1 << 400), score="s", n_candidates=1, sensitivity=Fraction(1)
        )


@given(rho=RHOS, n=st.integers(1, 10**6), sensitivity=st.sampled_from([1, 2]))
def test_scores_event_costs_exactly_rho(rho, n, sensitivity):
    event = scores(rho, sensitivity, n)
    assert event.rho == rho
    assert event.sigma_squared == Fraction(n * sensitivity**2) / (2 * rho)
    assert event.sensitivity_squared == n * sensitivity**2


def test_noise_on_counts_is_gaussian_and_a_selection_is_not():
    assert marginal(1).is_gaussian
    assert scores(1).is_gaussian
    selection = SelectionEvent.costing(
        Fraction(1), score="s", n_candidates=2, sensitivity=Fraction(1)
    )
    assert not selection.is_gaussian


def test_sensitivities_per_adjacency():
    assert (
        Adjacency.ADD_REMOVE.marginal_l2_squared,
        Adjacency.REPLACE_ONE.marginal_l2_squared,
    ) == (1, 2)
    assert (Adjacency.ADD_REMOVE.marginal_l1, Adjacency.REPLACE_ONE.marginal_l1) == (1, 2)


def test_events_are_frozen_and_plain_json():
    events = [
        marginal(Fraction(1, 3)),
        scores(Fraction(1, 3)),
        SelectionEvent.costing(
            Fraction(1, 3), score="s", n_candidates=2, sensitivity=Fraction(7, 3)
        ),
    ]
    for event in events:
        assert json.loads(json.dumps(event.to_dict())) == event.to_dict()
        assert event.to_dict()["rho"] == pytest.approx(1 / 3)
        with pytest.raises(FrozenInstanceError):
            event.sensitivity_squared = 0
        with pytest.raises(TypeError):
            type(event)(("a",), Fraction(1), 1)


@given(x=st.one_of(RHOS, st.integers(1, 10**6), st.floats(1e-12, 1e6)))
def test_exact_rho_keeps_the_value(x):
    assert exact_rho(x) == Fraction(x)


@pytest.mark.parametrize(
    "x",
    [
        np.int64(3),
        np.int8(3),
        np.float64(0.1),
        np.float32(0.1),
        Fraction(np.int64(3), np.int64(7)),
        np.uint64(5),
        True,
    ],
)
def test_exact_rho_never_keeps_numpy_integers(x):
    exact = exact_rho(x)
    assert (type(exact.numerator), type(exact.denominator)) == (int, int)
    assert float(exact) == float(x)
    assert exact * Fraction(1, 1 << 200) > 0  # would wrap round in int64


@pytest.mark.parametrize("x", BAD_RHOS, ids=lambda x: str(x)[:12])
def test_exact_rho_refuses(x):
    with pytest.raises(ParameterError, match="rho"):
        exact_rho(x)


# Ledger


def test_budget_is_the_accountants():
    assert ledger().budget == zcdp_rho(epsilon=10.0, delta=1e-9)
    assert (ledger().epsilon, ledger().delta) == (10.0, 1e-9)
    assert ledger().unit == PrivacyUnit(adjacency=Adjacency.ADD_REMOVE)


def test_gaussian_dp_refuses_what_is_not_gaussian_without_charging():
    book = ledger(accounting=Accounting.GDP)
    selection = SelectionEvent.costing(
        Fraction(1, 9), score="s", n_candidates=2, sensitivity=Fraction(1)
    )
    with pytest.raises(PrivacyError, match="gdp does not cover"):
        book.charge(selection)
    assert (book.spent, book.events) == (0, ())


def test_gaussian_dp_adds_up_squares_of_mu_to_the_last_bit():
    book = ledger(accounting=Accounting.GDP)
    assert book.budget == gdp_rho(epsilon=10.0, delta=1e-9) > ledger().budget
    book.charge(marginal(book.budget / 3))
    book.charge(scores(book.remaining / 7))
    book.charge(marginal(book.remaining, adjacency=Adjacency.REPLACE_ONE))
    assert book.remaining == 0
    mu_squared = [event.rho * 2 for event in book.events]  # of a Gaussian: (sensitivity / sigma)^2
    first, second, third = book.events
    assert mu_squared == [
        1 / first.sigma_squared,
        5 / second.sigma_squared,
        2 / third.sigma_squared,
    ]
    with pytest.raises(BudgetExceededError):
        book.charge(marginal(Fraction(1, 1 << 1000)))


def test_zcdp_takes_every_event():
    book = ledger()
    book.charge(marginal(Fraction(1, 100)))
    book.charge(scores(Fraction(1, 100)))
    book.charge(
        SelectionEvent.costing(Fraction(1, 2), score="s", n_candidates=2, sensitivity=Fraction(1))
    )
    assert book.spent == Fraction(52, 100)


@given(costs=st.lists(SMALL_RHOS, max_size=12))
def test_sums_are_exact(costs):
    book = ledger()
    events = [marginal(cost) for cost in costs]
    for event in events:
        book.charge(event)
    assert book.spent == sum(costs, Fraction(0))
    assert book.spent + book.remaining == book.budget
    assert book.events == tuple(events)


@given(shares=st.lists(st.integers(1, 10**9), min_size=1, max_size=8))
def test_the_budget_can_be_spent_to_the_last_bit_and_not_one_further(shares):
    book = ledger()
    for share in shares:
        book.charge(marginal(book.budget * Fraction(share, sum(shares))))
    assert book.remaining == 0
    before = book.events
    with pytest.raises(BudgetExceededError, match="budget"):
        book.charge(marginal(Fraction(1, 1 << 1000)))
    assert (book.remaining, book.events) == (0, before)


def test_a_refusal_changes_nothing_and_the_rest_can_still_be_spent():
    book = ledger()
    book.charge(marginal(book.budget / 3))
    spent, events = book.spent, book.events
    with pytest.raises(BudgetExceededError):
        book.charge(marginal(book.remaining + Fraction(1, 1 << 1000)))
    assert (book.spent, book.events) == (spent, events)
    book.charge(marginal(book.remaining))
    assert book.remaining == 0


@pytest.mark.parametrize("cost", [0, Fraction(0), -1, nan, inf, -inf, 0.0, -0.0, Fraction(10**400)])
def test_events_that_cost_nothing_or_nonsense_are_refused(cost):
    book = ledger()
    with pytest.raises(ParameterError):
        book.charge(Costs(cost=cost))
    assert (book.spent, book.events) == (0, ())


def test_costs_in_numpy_integers_do_not_wrap_round():
    """With int64 inside a Fraction, comparing with the budget overflows silently."""
    book = ledger()
    with pytest.raises(BudgetExceededError):
        book.charge(Costs(cost=Fraction(np.int64(2), np.int64(1))))
    book.charge(Costs(cost=Fraction(np.int64(1), np.int64(2**40))))
    assert book.spent == Fraction(1, 2**40)


def test_floats_are_taken_exactly():
    book = ledger()
    for _ in range(10):
        book.charge(Costs(cost=0.1))
    assert book.spent == 10 * Fraction(0.1) != 1


def test_a_cost_is_read_once():
    class Slippery(Event):
        costs = iter([Fraction(1, 2), Fraction(1, 10**9), Fraction(1, 10**9)])

        @property
        def rho(self):
            return next(self.costs)

        @property
        def is_gaussian(self):
            return True

        def to_dict(self):
            return {}

    book = ledger()
    book.charge(Slippery())
    assert book.spent == Fraction(1, 2)


def test_many_threads_spend_exactly_the_budget(monkeypatch):
    book, n_threads, n_each = ledger(), 8, 30
    cost = book.budget / (n_threads * n_each // 2)
    refused = n_refused(
        monkeypatch, lambda: book.charge(marginal(cost)), n_threads=n_threads, n_each=n_each
    )
    assert book.remaining == 0
    assert len(book.events) == refused == n_threads * n_each // 2


def test_the_ledger_cannot_be_refilled():
    book = ledger()
    decided = ("epsilon", "delta", "unit", "accounting", "budget", "failure_delta")
    for name in (*decided, "spent", "remaining", "events", "failure_delta_spent"):
        with pytest.raises(AttributeError):
            setattr(book, name, 10)
    assert isinstance(book.events, tuple)


def test_everything_that_decides_privacy_must_be_said():
    for missing in ("epsilon", "delta", "adjacency"):
        arguments = {"epsilon": 1.0, "delta": 1e-9, "adjacency": Adjacency.ADD_REMOVE}
        del arguments[missing]
        with pytest.raises(TypeError):
            PrivacyLedger(**arguments)
    with pytest.raises(ParameterError):
        ledger(epsilon=0)
    with pytest.raises(ParameterError):
        ledger(delta=nan)
