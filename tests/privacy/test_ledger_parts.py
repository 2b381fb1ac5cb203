"""Parts of a ledger: what each may spend, whom it tells, and that no part makes the whole spend
more.
"""

from fractions import Fraction

import pytest
from oracles.privacy import ArraySource, Seeded

from synthdp.core import BudgetExceededError, Domain, ParameterError
from synthdp.privacy import MAX_ROWS, Adjacency, MarginalEvent, PrivacyLedger, PrivateTable

DOMAIN = Domain(("a",), (2,))


def whole():
    return PrivacyLedger(
        epsilon=1.0, delta=1e-6, adjacency=Adjacency.ADD_REMOVE, unit_column="home"
    )


def event(ledger, rho):
    return MarginalEvent.costing(rho, clique=("a",), unit=ledger.unit)


def test_a_part_charges_the_whole_for_every_event():
    ledger = whole()
    one, other = (
        ledger.part(ledger.budget / 3, max_rows=4),
        ledger.part(ledger.budget / 2, max_rows=1),
    )
    one.charge(event(one, one.budget / 2))
    other.charge(event(other, other.budget))
    assert ledger.spent == one.spent + other.spent == ledger.budget * Fraction(2, 3)
    assert ledger.events == (*one.events, *other.events)
    assert (one.remaining, other.remaining) == (ledger.budget / 6, 0)


def test_a_part_spends_no_more_than_it_has():
    ledger = whole()
    part = ledger.part(ledger.budget / 3, max_rows=1)
    with pytest.raises(BudgetExceededError):
        part.charge(event(part, part.budget + Fraction(1, 10**9)))
    assert (part.spent, ledger.spent, ledger.events) == (0, 0, ())


def test_parts_together_spend_no_more_than_the_whole():
    ledger = whole()
    parts = [ledger.part(ledger.budget * Fraction(2, 3), max_rows=1) for _ in range(2)]
    parts[0].charge(event(parts[0], parts[0].budget))
    with pytest.raises(BudgetExceededError):
        parts[1].charge(event(parts[1], parts[1].budget))
    assert (parts[1].spent, parts[1].events) == (0, ())
    assert ledger.spent == ledger.budget * Fraction(2, 3)


def test_noise_of_a_part_is_as_large_as_its_units_have_rows():
    ledger = whole()
    for rows in (1, 3, 60):
        part = ledger.part(ledger.budget / 4, max_rows=rows)
        found = PrivateTable(ArraySource(DOMAIN, [(0,), (1,)]), part, randomness=Seeded(0))
        found.measure(("a",), rho=part.budget)
        assert part.events[0].sensitivity_squared == rows**2
        assert part.events[0].sigma_squared == rows**2 / (2 * part.budget)
    assert ledger.unit.max_rows == 1


@pytest.mark.parametrize(
    ("budget", "rows"), [(0, 1), (-1, 1), (1, 0), (1, MAX_ROWS + 1), (1, True)]
)
def test_parts_that_cannot_be_meant_are_refused(budget, rows):
    with pytest.raises(ParameterError):
        whole().part(Fraction(budget), max_rows=rows)
