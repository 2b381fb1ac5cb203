"""The ledger: the privacy filter that every event must pass before the records are touched."""

from copy import copy
from dataclasses import replace
from fractions import Fraction
from math import nextafter
from threading import Lock
from typing import final

from synthdp.core.errors import BudgetExceededError, ParameterError, PrivacyError
from synthdp.privacy.accounting import Accounting, check_budget
from synthdp.privacy.events import Event, exact_fraction, exact_rho
from synthdp.privacy.unit import Adjacency, PrivacyUnit


def exact_delta(delta: Fraction | float) -> Fraction:
    """A probability as an exact fraction.

    Raises
    ------
    ParameterError
        If it is not at least 0 and below 1.
    """
    exact = exact_fraction(delta)
    if not 0 <= exact < 1:
        raise ParameterError(f"delta is {delta}; give a number of at least 0 and below 1")
    return exact


@final
class PrivacyLedger:
    """Adds up the cost of events and refuses the one that would pass the budget.

    Costs (rho of zCDP, or mu^2 / 2 of Gaussian DP; see `Accounting`) add up, also when each event
    is chosen in view of the answers to the earlier ones, as long as a filter stops before the
    total is passed. Costs are exact fractions: a budget can be spent to the last bit, and
    not one bit further.

    An event may fail to keep its cost with a probability, its ``delta``. These probabilities add up
    as well, within ``failure_delta``, and what they leave of ``delta`` is what the budget of rho is
    worked out for: on either of two neighbouring tables the whole run is, with probability
    1 - failure_delta, one that keeps its costs, and so it is (epsilon, (delta - failure_delta) +
    failure_delta)-DP [BS16, Def. 8.1 and Lemma 8.8; Whitehouse 2023 for the filter].

    Parameters
    ----------
    epsilon, delta
        The guarantee for everything that is charged here.
    adjacency
        Which tables are neighbours.
    accounting
        The theorem that the guarantee stands on; Gaussian DP takes Gaussian events only.
    max_rows_per_unit, unit_column
        Most records of a person, and the column that tells persons apart; see `PrivacyUnit`.
    failure_delta
        Part of ``delta`` that events with a delta of their own may use up, at least 0.

    Raises
    ------
    ParameterError
        If epsilon is not finite and above 0, delta not strictly between 0 and 1, or
        ``failure_delta`` not below delta.
    """

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        adjacency: Adjacency,
        accounting: Accounting = Accounting.ZCDP,
        max_rows_per_unit: int = 1,
        unit_column: str | None = None,
        failure_delta: float = 0.0,
    ) -> None:
        check_budget(epsilon=epsilon, delta=delta)
        self._epsilon, self._delta = float(epsilon), float(delta)
        self._unit = PrivacyUnit(
            adjacency=adjacency, max_rows=max_rows_per_unit, column=unit_column
        )
        self._accounting = accounting
        if not 0 <= float(failure_delta) < self._delta:
            raise ParameterError(
                f"failure_delta is {failure_delta}; give 0 or more, and less than delta {delta}"
            )
        self._failure_delta = Fraction(float(failure_delta))
        # Rounded down: the parts must not add up to more than delta.
        if self._failure_delta:
            rest = nextafter(self._delta - float(failure_delta), 0.0)
        else:
            rest = self._delta
        self._budget = accounting.rho(epsilon=self._epsilon, delta=rest)
        self._whole: PrivacyLedger | None = None
        self._begin()

    def _begin(self) -> None:
        self._events: list[Event] = []
        self._spent = self._failed = Fraction(0)
        self._lock = Lock()

    def part(self, budget: Fraction, *, max_rows: int) -> "PrivacyLedger":
        """A ledger that may spend some of this one's budget, on records of which one unit has
        ``max_rows``.

        All that it charges this one pays first, whose budget is the limit of all parts together:
        the guarantee is that of the whole. What is asked through a part is about records of its
        own, such as the rows of one of several tables: a unit of the whole has at most ``max_rows``
        of these, so that each sensitivity is that many times the one of a record, and costs are
        costs of the whole's unit. They add up as any others do.

        Raises
        ------
        ParameterError
            If the budget is not above 0, or ``max_rows`` no number of rows that `PrivacyUnit`
            takes.
        """
        part = copy(self)
        part._begin()
        # The same epsilon, delta and accounting, but a list of events and a lock of its own.
        part._unit, part._budget, part._whole = (
            replace(self._unit, max_rows=max_rows),
            exact_rho(budget),
            self,
        )
        return part

    @property
    def epsilon(self) -> float:
        """Epsilon of the guarantee."""
        return self._epsilon

    @property
    def delta(self) -> float:
        """Delta of the guarantee."""
        return self._delta

    @property
    def unit(self) -> PrivacyUnit:
        """What one unit of privacy is."""
        return self._unit

    @property
    def accounting(self) -> Accounting:
        """The theorem that the guarantee stands on."""
        return self._accounting

    @property
    def budget(self) -> Fraction:
        """All of the budget, spent or not."""
        return self._budget

    @property
    def spent(self) -> Fraction:
        """Sum of the costs of all charged events."""
        return self._spent

    @property
    def remaining(self) -> Fraction:
        """What is left of the budget."""
        return self._budget - self._spent

    @property
    def failure_delta(self) -> Fraction:
        """What all events together may have as delta of their own."""
        return self._failure_delta

    @property
    def failure_delta_spent(self) -> Fraction:
        """Sum of the deltas of all charged events."""
        return self._failed

    @property
    def events(self) -> tuple[Event, ...]:
        """All charged events, oldest first."""
        return tuple(self._events)

    @property
    def share_spent(self) -> float:
        """The share of the budget that is spent, that of the whole for a part of it."""
        whole = self if self._whole is None else self._whole
        return float(whole.spent / whole.budget)

    def charge(self, event: Event) -> None:
        """Pay for an event, or raise and leave the ledger as it was.

        Raises
        ------
        BudgetExceededError
            If the event costs more than what is left, of rho or of delta.
        PrivacyError
            If it is not Gaussian but the accounting is for Gaussian events.
        ParameterError
            If its cost is not above 0 and finite, or its delta not at least 0 and below 1.
        """
        if self._accounting is Accounting.GDP and not event.is_gaussian:
            raise PrivacyError(
                f"accounting: gdp does not cover {type(event).__name__}, which is not Gaussian; use accounting zcdp"
            )
        # Before the lock: what is no number leaves the ledger as it was.
        cost, failure = exact_rho(event.rho), exact_delta(event.delta)
        with self._lock:
            left_to_fail = self._failure_delta - self._failed
            for what, price, left in (
                ("rho", cost, self.remaining),
                ("delta", failure, left_to_fail),
            ):
                if price > left:
                    raise BudgetExceededError(
                        f"privacy budget: {type(event).__name__} costs {what} {float(price):.6g} but only "
                        f"{float(left):.6g} is left for that; ask for less or give more"
                    )
            # The whole first. If it refuses, the part has charged nothing.
            if self._whole is not None:
                self._whole.charge(event)
            self._failed += failure
            # First, so that an interrupt between these lines never leaves too much.
            self._spent += cost
            self._events.append(event)
