"""What events and ledgers claim, worked out anew from the theorems that they name."""

from collections.abc import Iterator
from fractions import Fraction
from math import exp, expm1, sqrt

import numpy as np
from scipy.special import log_ndtr, ndtr

from synthdp.privacy.accounting import Accounting
from synthdp.privacy.events import CountsEvent, Event, ScoresEvent, SelectionEvent
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.privacy.unit import Adjacency, PrivacyUnit
from synthdp.privacy.values.privtree import PrivTreeEvent
from synthdp.privacy.values.records import ROW, UNIT

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
            # A record moves the likelihood of splitting at all nodes on its path, at each one by
            # less than at the next: a geometric series. The range is wider than epsilon, as a
            # record makes splits likelier by so much, and less likely by no more than one step.
            one_step = 1 / event.scale
            all_steps = one_step * (1 - 1 / expm1(-event.decay / event.scale))
            bounded_range = event.sensitivity * (all_steps + one_step)
            return bounded_range**2 / 8
    return None


def least_sensitivity(event: Event, unit: PrivacyUnit) -> int:
    """How far one unit can move what an event is about, squared for L2: records, or scores of
    weight 0 and more.

    A record that is replaced leaves one cell and enters another; all rows of a person may fall into
    one.
    """
    # Where units are counted, whatever rows they have, one is one record.
    rows = 1 if getattr(event, "record", ROW) == UNIT else unit.max_rows
    n_cells = 2 if unit.adjacency is Adjacency.REPLACE_ONE else 1
    match event:
        case ScoresEvent():
            return event.n_candidates * (n_cells * rows) ** 2
        case CountsEvent():
            return n_cells * rows**2
        case PrivTreeEvent():
            return n_cells * rows
    return 0  # a selection's depends on public weights; whether its scores move further is seen


def cost_excess(event: Event, unit: PrivacyUnit) -> Iterator[str]:
    """In what an event charges less than it costs, for a unit of privacy."""
    # Worked out here once more, from the definition of the unit and not by the kernel's functions:
    # shared code would share its mistakes.
    declared = getattr(event, "sensitivity_squared", getattr(event, "sensitivity", 0))
    needed = least_sensitivity(event, unit)
    if declared < needed:
        yield f"its declared sensitivity is {declared}, a unit can move it by {needed}"
    least = least_rho(event)
    if least is None:
        yield f"an event of the unknown kind {type(event).__name__}"
    elif float(event.rho) < least * (1 - _SLACK):
        yield f"it charges rho {float(event.rho):.6g}, but costs {least:.6g}"


def ledger_excess(ledger: PrivacyLedger) -> Iterator[str]:
    """In what a ledger claims more than its events and theorems give."""
    spent = float(ledger.spent)
    budget = float(ledger.budget)
    charged = sum((event.rho for event in ledger.events), Fraction(0))
    if charged != ledger.spent:
        yield f"the ledger says that rho {spent:.6g} is spent, its events cost {float(charged):.6g}"
    may_fail = sum((event.delta for event in ledger.events), Fraction(0))
    failure_delta = float(ledger.failure_delta)
    if may_fail > ledger.failure_delta:
        yield f"events may fail with {float(may_fail):.3g}, {failure_delta:.3g} was set apart"
    if ledger.spent > ledger.budget:
        yield f"rho {spent:.6g} is spent of a budget of {budget:.6g}"
    is_gdp = ledger.accounting is Accounting.GDP
    if is_gdp and not all(event.is_gaussian for event in ledger.events):
        yield "Gaussian accounting of an event that is not Gaussian"
    # What events may fail with is taken off delta; only the rest may be claimed by the conversion.
    claimed = ledger.delta - failure_delta
    delta = (gdp_delta if is_gdp else zcdp_delta)(budget, ledger.epsilon)
    if delta > claimed * (1 + _SLACK):
        yield (
            f"a budget of rho {budget:.6g} gives delta {delta:.3g} at epsilon {ledger.epsilon}, "
            f"{claimed:.3g} is claimed"
        )


def gdp_delta(rho: float, epsilon: float) -> float:
    """Delta of Gaussian DP with ``mu^2 = 2 rho`` at an epsilon [DRS19, Cor. 1].

    >>> round(gdp_delta(0.1418, 1.0), 4)
    0.01
    """
    mu = sqrt(2 * rho)
    above = float(ndtr(mu / 2 - epsilon / mu))
    # exp(epsilon) alone overflows where the probability that it stands before underflows.
    log_below = float(log_ndtr(-mu / 2 - epsilon / mu))
    return above - exp(epsilon + log_below)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Delta of rho-zCDP at an epsilon: the least over a grid of alpha of [CKS20, Prop. 12], at most
    1.

    >>> round(zcdp_delta(0.1034, 1.0), 4)
    0.01
    """
    # Orders 1 + a of the Renyi divergence. Any grid gives a delta that holds; a finer one a
    # smaller.
    a = np.geomspace(1e-3, 1e6, 20_001)
    log_deltas = a * ((1 + a) * rho - epsilon) - np.log(a) + (1 + a) * np.log1p(-1 / (1 + a))
    # Delta is a probability: at most 1, whose logarithm is 0.
    return exp(min(float(log_deltas.min()), 0.0))
