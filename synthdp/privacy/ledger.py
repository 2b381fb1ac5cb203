"""The ledger: the privacy filter that every event must pass before the records are touched."""

from fractions import Fraction
from threading import Lock
from typing import final

from synthdp.errors import BudgetExceededError, PrivacyError
from synthdp.privacy.accountant import Accounting
from synthdp.privacy.events import Adjacency, Event, exact_rho


@final
class PrivacyLedger:
    """Adds up the cost of events and refuses the one that would pass the budget.

    Costs (rho of zCDP, or mu^2 / 2 of Gaussian DP; see `Accounting`) add up, also when each event
    is chosen in view of the answers to the earlier ones, as long as a filter stops before the
    total is passed. Costs are exact fractions: a budget can be spent to the last bit, and
    not one bit further.

    Parameters
    ----------
    epsilon, delta
        The guarantee for everything that is charged here.
    adjacency
        What one unit of privacy is.
    accounting
        The theorem that the guarantee stands on; Gaussian DP takes Gaussian events only.

    Raises
    ------
    ParameterError
        If epsilon is not finite and above 0, or delta not strictly between 0 and 1.
    """

    def __init__(
        self, *, epsilon: float, delta: float, adjacency: Adjacency, accounting: Accounting = Accounting.ZCDP
    ) -> None:
        self._epsilon = float(epsilon)
        self._delta = float(delta)
        self._adjacency = adjacency
        self._accounting = accounting
        self._budget = accounting.rho(epsilon=self._epsilon, delta=self._delta)
        self._events: list[Event] = []
        self._spent = Fraction(0)
        self._lock = Lock()

    @property
    def epsilon(self) -> float:
        """Epsilon of the guarantee."""
        return self._epsilon

    @property
    def delta(self) -> float:
        """Delta of the guarantee."""
        return self._delta

    @property
    def adjacency(self) -> Adjacency:
        """What one unit of privacy is."""
        return self._adjacency

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
    def events(self) -> tuple[Event, ...]:
        """All charged events, oldest first."""
        return tuple(self._events)

    def charge(self, event: Event) -> None:
        """Pay for an event, or raise and leave the ledger as it was.

        Raises
        ------
        BudgetExceededError
            If the event costs more than what is left.
        PrivacyError
            If it is not Gaussian but the accounting is for Gaussian events.
        ParameterError
            If its cost is not above 0 and finite.
        """
        if self._accounting is Accounting.GDP and not event.is_gaussian:
            raise PrivacyError(
                f"accounting: gdp does not cover {type(event).__name__}, which is not Gaussian; use accounting zcdp"
            )
        cost = exact_rho(event.rho)
        with self._lock:
            if self._spent + cost > self._budget:
                raise BudgetExceededError(
                    f"privacy budget: {type(event).__name__} costs rho {float(cost):.6g} but only "
                    f"{float(self.remaining):.6g} of {float(self._budget):.6g} is left; ask for less or give more"
                )
            self._spent += cost  # first, so that an interrupt between these lines never leaves too much
            self._events.append(event)
