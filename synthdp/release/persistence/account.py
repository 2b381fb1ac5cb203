"""What releases about one population cost together: a privacy filter whose terms are settled before
anything is seen.

The costs of releases add up in one currency, rho of zCDP or mu^2 / 2 of Gaussian DP, also when what
is released next, and for how much, depends on what came out [Whitehouse 2023, Feldman-Zrnic 2021,
Smith-Thakurta 2022]. For that the theorem, and the part of delta that it is worked out for, must
not depend on what came out. So the first release that has a cost in rho settles them. To decide
afterwards which theorem gives the best total would be wrong: whoever goes on under one theorem
where the noise was unlucky and under the other where it was not can have up to twice the delta.

Releases by other systems may be known by (epsilon, delta) only. Those that are entered first come
off the budget as they are, by basic composition. Later ones cost rho: (epsilon, delta)-DP is
epsilon-DP but for a probability of delta [KOV15], and epsilon-DP is

- ``epsilon^2 / 2``-zCDP [BS16, Prop. 3.3], and for the one order alpha of Renyi divergence by which
  zCDP is turned into epsilon and delta [CKS20] it counts as rho = ``epsilon / alpha``, as no
  divergence is above epsilon;
- mu-Gaussian DP with ``Phi(-mu / 2) = 1 / (1 + e^epsilon)``: both trade-off curves meet at that
  point, and between it and the ends the Gaussian one, being convex, lies below the chords that the
  other one consists of [DRS19].
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import exp, inf, log, nextafter
from statistics import NormalDist
from typing import Self, final

from synthdp.core.errors import BudgetExceededError, PrivacyError
from synthdp.privacy.accounting import Accounting, best_order

RESERVED = 0.25
"""Share of delta for thresholds and for deltas of other systems, unless the first release needs
another.
"""

_SPARE = Fraction(1, 2**30)
"""Far more than what floating-point functions are wrong by: in proportion, and a thousandth of it
where mu is tiny.
"""

_LARGE_EPSILON = 30.0
"""From there on an epsilon is more than any budget of Gaussian DP allows for."""


@final
@dataclass(frozen=True, kw_only=True)
class Cost:
    """The cost of one release: in rho of ``accounting``, or in ``epsilon`` where that is None; and
    its own delta.
    """

    accounting: Accounting | None
    rho: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)


@final
@dataclass(frozen=True, kw_only=True)
class Terms:
    """What is settled by the first release that has a cost in rho."""

    accounting: Accounting
    """The theorem."""
    capacity: Fraction
    """The most that may be spent in rho."""
    reserve: Fraction
    """The part of delta that releases may use up as their own."""
    order: Fraction
    """The order alpha of zCDP's conversion; 1 for Gaussian DP."""

    @classmethod
    def for_budget(
        cls, accounting: Accounting, *, epsilon: float, delta: float, reserve: float
    ) -> Self:
        """The terms of a budget, worked out exactly as a run works out its own."""
        rest = nextafter(delta - reserve, 0.0) if reserve else delta
        order = 1 + Fraction(best_order(epsilon, log(rest)) if accounting is Accounting.ZCDP else 0)
        capacity = accounting.rho(epsilon=epsilon, delta=rest)
        return cls(accounting=accounting, capacity=capacity, reserve=Fraction(reserve), order=order)

    def rho_of(self, cost: Cost) -> Fraction:
        """What a release costs under these terms.

        Raises `PrivacyError` if they do not cover it.
        """
        if cost.accounting is None:
            return self._rho_of_stated(cost.epsilon)
        if self.accounting is Accounting.GDP and cost.accounting is not Accounting.GDP:
            raise PrivacyError(
                "its accounting is Gaussian DP, which its first release settled, and this one is not Gaussian: use a "
                "mechanism with Gaussian noise (--accounting gdp), or create the next budget with --accounting zcdp"
            )
        return cost.rho  # mu-GDP is mu^2 / 2-zCDP: Renyi divergences of a Gaussian bound those of what it dominates

    def _rho_of_stated(self, epsilon: Fraction) -> Fraction:
        """What a release counts as of which only epsilon is known."""
        if self.accounting is Accounting.ZCDP:
            return min(epsilon**2 / 2, epsilon / self.order)
        mu = -2 * NormalDist().inv_cdf(1 / (1 + exp(min(float(epsilon), _LARGE_EPSILON))))
        largest = Fraction(mu) * (1 + _SPARE) + _SPARE / 1000
        return largest**2 / 2 if epsilon < _LARGE_EPSILON else Fraction(10**9)


@final
@dataclass(frozen=True, kw_only=True)
class Account:
    """What of a budget is spent, and what is left."""

    epsilon: Fraction
    delta: Fraction
    """The budget, less what other systems had stated before the terms were settled."""
    accounting: Accounting | None = None
    """The theorem, if it was settled when the budget was created."""
    terms: Terms | None = None
    """None until a release has a cost in rho."""
    rho: Fraction = Fraction(0)
    failed: Fraction = Fraction(0)
    """What is spent under the terms, in rho and of the reserve."""

    def settled(self, cost: Cost) -> Terms | None:
        """The terms under which a release would be charged; None if it comes off epsilon and delta
        as it is.

        Raises `PrivacyError` if nothing can be charged any more.
        """
        if self.terms is not None or cost.accounting is None:
            return self.terms
        # The terms are settled by the first release that has a cost in rho: before it the budget is
        # plain epsilon and delta, from which other systems' guarantees are subtracted.
        accounting = self.accounting or cost.accounting
        epsilon = _below(self.epsilon)
        delta = _below(self.delta)
        if min(epsilon, delta) <= 0:
            raise BudgetExceededError(
                "all of it is spent; nothing more may be released about this population"
            )
        # Some of delta is kept for mechanisms that may fail. If the first release does not fit into
        # that split, the reserve becomes what it needs.
        terms = Terms.for_budget(accounting, epsilon=epsilon, delta=delta, reserve=delta * RESERVED)
        if (cost.rho > terms.capacity or cost.delta > terms.reserve) and cost.delta < self.delta:
            terms = Terms.for_budget(
                accounting, epsilon=epsilon, delta=delta, reserve=_above(cost.delta)
            )
        return terms

    def charged(self, cost: Cost, terms: Terms | None) -> "Account":
        """The account after a release; it may be overspent."""
        if terms is None:
            return replace(self, epsilon=self.epsilon - cost.epsilon, delta=self.delta - cost.delta)
        return replace(
            self, terms=terms, rho=self.rho + terms.rho_of(cost), failed=self.failed + cost.delta
        )

    def given_back(self, cost: Cost) -> "Account":
        """The account once a run that stopped has given back what it did not spend.

        The theorem is that of a privacy filter: costs are of mechanisms, each chosen in view of all
        earlier answers, and what must never pass the capacity is their sum [Rogers, Roth, Ullman,
        Vadhan 2016; for zCDP Feldman, Zrnic 2021 and Whitehouse et al. 2023, Thm. 1; for Gaussian
        DP Smith, Thakurta 2022]. A run that is charged beforehand only keeps others from what it
        may still ask for. Once it asks no more, the sum is what its ledger has spent, wherever in
        view of its answers it stopped: so the rest may pay for other questions.

        Raises `ValueError` if that is no cost of a run.
        """
        if self.terms is None or cost.accounting is None:
            raise ValueError("no run has such a cost")
        rho = self.rho - self.terms.rho_of(cost)
        failed = self.failed - cost.delta
        if min(rho, failed) < 0:
            raise ValueError("more is given back than was spent")
        return replace(self, rho=rho, failed=failed)

    def check(self, cost: Cost, terms: Terms | None) -> None:
        """Raise `BudgetExceededError` if a release would overspend."""
        after = self.charged(cost, terms)
        if terms is None:
            if after.epsilon < 0 or after.delta < 0:
                raise BudgetExceededError(
                    f"({float(cost.epsilon):.4g}, {float(cost.delta):.4g}) is asked for but only "
                    f"({float(self.epsilon):.4g}, {float(self.delta):.4g}) is left"
                )
            return
        # Rho and the reserve are two purses: what is left in one does not pay for the other.
        for what, price, left in (
            ("rho", after.rho - self.rho, terms.capacity - self.rho),
            ("delta of its own", cost.delta, terms.reserve - self.failed),
        ):
            if price > left:
                raise BudgetExceededError(
                    f"this costs {what} {float(price):.4g} but only {float(left):.4g} is left for that; "
                    f"{self._hint(terms, cost.accounting or terms.accounting)}"
                )

    def _hint(self, terms: Terms, accounting: Accounting) -> str:
        """What would fit: of a run that converts its epsilon by another theorem than the budget,
        less.
        """
        left = epsilon_of(
            accounting, terms.capacity - self.rho, float(self.delta), most=float(self.epsilon)
        )
        if not left:
            return "all is spent"
        if accounting is terms.accounting:
            better = ""
        else:
            better = f"; more with --accounting {terms.accounting.value}"
        return f"with delta {float(self.delta):.4g} about epsilon {0.99 * left:.3g} fits ({accounting.value}){better}"


def epsilon_of(accounting: Accounting, rho: Fraction, delta: float, *, most: float) -> float:
    """Largest epsilon, within 1 %, for which (epsilon, delta) allows for at most ``rho``; 0 if that
    is almost none.
    """
    low = most * 1e-4
    high = most
    if rho <= 0 or accounting.rho(epsilon=low, delta=delta) > rho:
        return 0.0
    if accounting.rho(epsilon=high, delta=delta) <= rho:
        return high
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (
            (middle, high) if accounting.rho(epsilon=middle, delta=delta) <= rho else (low, middle)
        )
    return low


def _below(number: Fraction) -> float:
    """The largest float up to a number."""
    return float(number) if Fraction(float(number)) <= number else nextafter(float(number), -inf)


def _above(number: Fraction) -> float:
    """The smallest float from a number on."""
    return -_below(-number)
