"""A ledger may set part of delta aside for events that fail with a probability; none of it is spent
twice.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from helpers.private_tables import Costs
from helpers.racing import n_refused
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import BudgetExceededError, ParameterError
from synthdp.privacy import (
    Accounting,
    Adjacency,
    MarginalEvent,
    PrivacyLedger,
    PrivacyUnit,
    exact_delta,
)

EITHER = pytest.mark.parametrize("accounting", Accounting)


def ledger(**changes):
    return PrivacyLedger(
        **({"epsilon": 10.0, "delta": 1e-6, "adjacency": Adjacency.ADD_REMOVE} | changes)
    )


@dataclass(frozen=True, kw_only=True)
class Fails(Costs):
    """An event with a delta of its own."""

    own: object
    cost: object = Fraction(1, 10**9)

    @property
    def delta(self):
        return self.own

    def to_dict(self):
        return {"delta": float(self.own)}


@EITHER
@settings(deadline=None)
@given(delta=st.floats(1e-12, 0.5), share=st.floats(1e-12, 1 - 1e-6))
def test_the_budget_is_that_of_what_is_left_of_delta(accounting, delta, share):
    failure, asked, original = delta * share, [], Accounting.rho

    def recording(accounting, *, epsilon, delta):
        asked.append(delta)
        return original(accounting, epsilon=epsilon, delta=delta)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Accounting, "rho", recording)
        book = ledger(delta=delta, accounting=accounting, failure_delta=failure)
    assert book.failure_delta == Fraction(failure)
    (rest,) = asked
    assert Fraction(rest) + Fraction(failure) <= Fraction(delta)
    assert rest == pytest.approx(delta - failure, rel=1e-15)
    assert (
        book.budget
        == accounting.rho(epsilon=10.0, delta=rest)
        <= accounting.rho(epsilon=10.0, delta=delta)
    )


@EITHER
def test_a_part_of_delta_set_aside_makes_the_budget_smaller(accounting):
    plain = ledger(accounting=accounting)
    halved = ledger(accounting=accounting, failure_delta=5e-7)
    assert halved.budget < plain.budget
    assert halved.budget == pytest.approx(
        float(ledger(delta=5e-7, accounting=accounting).budget), rel=1e-9
    )
    assert (plain.failure_delta, plain.budget) == (0, accounting.rho(epsilon=10.0, delta=1e-6))


@pytest.mark.parametrize("failure_delta", [-1e-9, -inf, inf, nan, 1e-6, 2e-6, 1.0])
def test_a_part_of_delta_that_is_none_is_refused(failure_delta):
    with pytest.raises(
        ParameterError, match=r"failure_delta is .*; give 0 or more, and less than delta 1e-06"
    ):
        ledger(failure_delta=failure_delta)


@EITHER
def test_deltas_of_events_add_up_to_the_last_bit_and_not_one_further(accounting):
    book = ledger(accounting=accounting, failure_delta=3e-7)
    for part in (book.failure_delta / 3, book.failure_delta / 7, Fraction(0)):
        book.charge(Fails(own=part))
    assert book.failure_delta_spent == book.failure_delta * Fraction(10, 21)
    spent, events = book.spent, book.events
    rest = book.failure_delta - book.failure_delta_spent
    with pytest.raises(
        BudgetExceededError, match=r"Fails costs delta .* left for that; ask for less or give more"
    ):
        book.charge(Fails(own=rest + Fraction(1, 1 << 1000)))
    assert (book.spent, book.events, book.failure_delta_spent) == (
        spent,
        events,
        book.failure_delta - rest,
    )
    with pytest.raises(BudgetExceededError, match="costs rho"):
        book.charge(Fails(own=rest, cost=book.remaining + Fraction(1, 1 << 1000)))
    assert (book.spent, book.events, book.failure_delta_spent) == (
        spent,
        events,
        book.failure_delta - rest,
    )
    book.charge(Fails(own=rest, cost=book.remaining))
    assert (book.remaining, book.failure_delta_spent) == (0, book.failure_delta)


def test_without_a_part_of_delta_no_event_may_fail():
    book = ledger()
    with pytest.raises(BudgetExceededError, match="costs delta"):
        book.charge(Fails(own=Fraction(1, 1 << 1000)))
    book.charge(Fails(own=0))
    assert (book.failure_delta, book.failure_delta_spent, len(book.events)) == (0, 0, 1)


@pytest.mark.parametrize(
    "own", [-1, Fraction(-1, 10**9), nan, inf, -inf, 1, Fraction(10**400)], ids=lambda x: str(x)[:9]
)
def test_an_event_whose_delta_is_none_is_refused(own):
    """A negative one would give delta back."""
    book = ledger(failure_delta=1e-7)
    with pytest.raises(ParameterError, match="delta is"):
        book.charge(Fails(own=own))
    assert (book.spent, book.failure_delta_spent, book.events) == (0, 0, ())


def test_deltas_in_numpy_integers_do_not_wrap_round():
    """With int64 inside a Fraction, adding and comparing overflow silently."""
    book = ledger(failure_delta=1e-7)
    with pytest.raises(BudgetExceededError, match="costs delta"):
        book.charge(Fails(own=Fraction(np.int64(1), np.int64(2))))
    book.charge(Fails(own=Fraction(np.int64(1), np.int64(2**40))))
    assert book.failure_delta_spent == Fraction(1, 2**40)
    assert type(exact_delta(Fraction(np.int64(1), np.int64(3))).numerator) is int


def test_a_delta_is_read_once():
    class Slippery(Fails):
        given_out = iter([Fraction(1, 10**8), Fraction(1, 10**20), Fraction(0)])

        @property
        def delta(self):
            return next(self.given_out)

    book = ledger(failure_delta=1e-7)
    book.charge(Slippery(own=0))
    assert book.failure_delta_spent == Fraction(1, 10**8)


def test_many_threads_spend_exactly_the_part_of_delta(monkeypatch):
    book, n_threads, n_each = ledger(failure_delta=1e-7), 8, 12
    own = book.failure_delta / (n_threads * n_each // 2)
    refused = n_refused(
        monkeypatch, lambda: book.charge(Fails(own=own)), n_threads=n_threads, n_each=n_each
    )
    assert book.failure_delta_spent == book.failure_delta
    assert len(book.events) == refused == n_threads * n_each // 2


def test_other_events_do_not_fail():
    unit = PrivacyUnit(adjacency=Adjacency.ADD_REMOVE)
    assert MarginalEvent.costing(Fraction(1), clique=("a",), unit=unit).delta == 0
