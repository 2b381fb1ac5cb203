"""What events and ledgers claim, worked out anew from the theorems that they name."""

from collections.abc import Iterator
from fractions import Fraction
from math import exp, expm1, log, sqrt

import numpy as np
from scipy.special import log_ndtr, ndtr

from synthdp.privacy.accounting import Accounting
from synthdp.privacy.events import CountsEvent, Event, ScoresEvent, SelectionEvent
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import Adjacency, PrivacyUnit
from synthdp.privacy.values.privtree import PrivTreeEvent

_SLACK = 1e-6
"""Relative: budgets are proven in integers, what is below is worked out in floating point."""


def least_rho(event: Event) -> float | None:
    """The zCDP that an event's mechanism really costs; None for an event of an unknown kind.

    Gaussian noise [BS16, Prop. 1.6], epsilon-bounded range for selections [CR21, DR19], which for a
    tree follows from its theorem (`synthdp.privacy.values.privtree`).
    """
    match event:
        case CountsEvent():
            return float(Fraction(event.sensitivity_squared) / (2 * event.sigma_squared))
        case SelectionEvent():
            return float(event.epsilon**2 / 8)
        case PrivTreeEvent():
            one = 1 / event.scale
            epsilon = one * (1 - 1 / expm1(-event.decay / event.scale))
            return (event.sensitivity * (epsilon + one)) ** 2 / 8
    return None


def least_sensitivity(event: Event, unit: PrivacyUnit) -> int:
    """How far one unit can move what an event is about, squared for L2: records, or scores of
    weight 0 and more.

    A record that is replaced leaves one cell and enters another; all rows of a person may fall into
    one.
    """
    replaced, rows = unit.adjacency is Adjacency.REPLACE_ONE, unit.max_rows
    match event:
        case ScoresEvent():
            return event.n_candidates * ((1 + replaced) * rows) ** 2
        case CountsEvent():
            return (1 + replaced) * rows**2
        case PrivTreeEvent():
            return (1 + replaced) * rows
    return 0  # a selection's depends on public weights; whether its scores move further is seen


def cost_excess(event: Event, unit: PrivacyUnit) -> Iterator[str]:
    """In what an event charges less than it costs, for a unit of privacy."""
    # Worked out here once more, from the definition of the unit and not by the kernel's functions:
    # shared code would share its mistakes.
    declared = getattr(event, "sensitivity_squared", getattr(event, "sensitivity", 0))
    if declared < (needed := least_sensitivity(event, unit)):
        yield f"its declared sensitivity is {declared}, a unit can move it by {needed}"
    least = least_rho(event)
    if least is None:
        yield f"an event of the unknown kind {type(event).__name__}"
    elif float(event.rho) < least * (1 - _SLACK):
        yield f"it charges rho {float(event.rho):.6g}, but costs {least:.6g}"


def ledger_excess(ledger: PrivacyLedger) -> Iterator[str]:
    """In what a ledger claims more than its events and theorems give."""
    if (total := sum((event.rho for event in ledger.events), Fraction(0))) != ledger.spent:
        yield f"the ledger says that rho {float(ledger.spent):.6g} is spent, its events cost {float(total):.6g}"
    if (
        failed := sum((event.delta for event in ledger.events), Fraction(0))
    ) > ledger.failure_delta:
        yield f"events may fail with {float(failed):.3g}, {float(ledger.failure_delta):.3g} was set apart"
    if ledger.spent > ledger.budget:
        yield f"rho {float(ledger.spent):.6g} is spent of a budget of {float(ledger.budget):.6g}"
    if ledger.accounting is Accounting.GDP and not all(
        event.is_gaussian for event in ledger.events
    ):
        yield "Gaussian accounting of an event that is not Gaussian"
    # What events may fail with is taken off delta; only the rest may be claimed by the conversion.
    rest, rho = ledger.delta - float(ledger.failure_delta), float(ledger.budget)
    convert = gdp_delta if ledger.accounting is Accounting.GDP else zcdp_delta
    if (delta := convert(rho, ledger.epsilon)) > rest * (1 + _SLACK):
        yield f"a budget of rho {rho:.6g} gives delta {delta:.3g} at epsilon {ledger.epsilon}, {rest:.3g} is claimed"


def gdp_delta(rho: float, epsilon: float) -> float:
    """Delta of Gaussian DP with ``mu^2 = 2 rho`` at an epsilon [DRS19, Cor. 1].

    >>> round(gdp_delta(0.1418, 1.0), 4)
    0.01
    """
    mu = sqrt(2 * rho)
    return float(ndtr(mu / 2 - epsilon / mu)) - exp(
        epsilon + float(log_ndtr(-mu / 2 - epsilon / mu))
    )


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Delta of rho-zCDP at an epsilon: the least over a grid of alpha of [CKS20, Prop. 12], at most
    1.

    >>> round(zcdp_delta(0.1034, 1.0), 4)
    0.01
    """
    a = np.geomspace(1e-3, 1e6, 20_001)
    logs = a * ((1 + a) * rho - epsilon) - np.log(a) + (1 + a) * np.log1p(-1 / (1 + a))
    return exp(min(float(logs.min()), log(1.0)))
