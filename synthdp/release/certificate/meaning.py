"""What a guarantee means: how well anybody could tell whether a person, or a group, is in the
table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import expm1, sqrt
from statistics import NormalDist
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger

FALSE_POSITIVES = 0.01
"""Share of those who are not in the table that an attacker wrongly takes to be in it: the usual
place to look.
"""

STATED_FALSE_POSITIVES, STATED_GROUPS = (0.01, 0.001), (1, 2, 5)
"""What certificates state: at two shares of false positives, for one unit of privacy and for groups
of so many.
"""

_ORDERS = np.geomspace(1e-3, 1e9, 600)
_EPSILONS = np.geomspace(1e-6, 1e4, 600)
"""Any order and any epsilon give a bound that holds; of so many the smallest is within 1 % of the
least.
"""

_HALVINGS = 60
"""Of an interval of length 1: what is left is less than floating point tells apart."""


@final
@dataclass(frozen=True, kw_only=True)
class Protection:
    """A guarantee, as a bound on everybody who attacks the release.

    An attacker looks at the release and says whether somebody's data are in the table. Of those who
    are not, a share is wrongly taken to be in it (false positives); of those who are, another share
    is rightly recognised (true positives).

    >>> one = {"epsilon": 1.0, "delta": 1e-9}
    >>> both = [Protection(**one, accounting=a, rho=float(a.rho(**one))) for a in Accounting]
    >>> [round(protection.true_positives(0.01), 4) for protection in both]
    [0.0167, 0.016]
    >>> [round(protection.advantage(group=2), 3) for protection in both]
    [0.173, 0.144]
    """

    epsilon: float
    delta: float
    """The guarantee."""
    accounting: Accounting
    rho: float
    """The theorem that it stands on, and its budget."""
    failure_delta: float = 0.0
    """Part of delta with which costs may not hold."""

    def true_positives(self, false_positives: float, *, group: int = 1) -> float:
        """Largest share of those who are in the table that anybody can recognise from the release.

        For one unit it is the smaller of what (epsilon, delta) allows, ``min(e^epsilon f + delta, 1
        - e^-epsilon (1 - delta - f))`` [Kairouz 2015], and of what the currency allows: in Gaussian
        DP ``Phi(Phi^-1(f) + mu)`` with ``mu^2 = 2 rho`` [DRS19], and in zCDP the same as for
        (epsilon, delta), for all pairs that follow from rho [CKS20]. Where costs fail with
        probability p, it is ``p + (1 - p) h(f / (1 - p))`` for the bound h on runs that keep them.

        Tables that differ in a group are the ends of a chain of neighbours, and what one step makes
        of f is at most what the next begins with. So the bound for a group of k is that for one, k
        times over [DRS19, Thm. 2.14]: in Gaussian DP ``Phi(Phi^-1(f) + k mu)``. In zCDP without
        failures it is also that of ``k^2 rho`` [BS16, Prop. 1.9], and the smaller of the two holds.

        Parameters
        ----------
        false_positives
            The share f, from 0 to 1.
        group
            Number of units, at least 1, whose data are in the table all together or not at all.
        """
        share = false_positives
        for _ in range(group):
            share = self._of_one(share)
        return share

    def advantage(self, *, group: int = 1) -> float:
        """Largest difference between the shares of true and of false positives, whatever the latter
        is.

        As a function of f the bound is concave and, like guarantees for both of two neighbours,
        symmetric about the diagonal on which false positives and misses are equally many. So the
        difference is largest there: ``1 - 2 f`` for the f that solves ``true_positives(f) = 1 -
        f``, here rounded up.
        """
        low, high = 0.0, 0.5
        # The low end is what is returned, so that the advantage is too large rather than too small.
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (
                (middle, high)
                if self.true_positives(middle, group=group) <= 1 - middle
                else (low, middle)
            )
        return 1 - 2 * low

    def _of_one(self, false_positives: float) -> float:
        """The bound for one unit."""
        kept = 1.0 - self.failure_delta
        wrong = min(false_positives / kept, 1.0)
        # Where costs fail everybody may be recognised: that share is added whole.
        right = self.failure_delta + kept * self._kept(wrong)
        return min(
            right, _allowed(false_positives, np.array([self.epsilon]), np.array([self.delta])), 1.0
        )

    def _kept(self, wrong: float) -> float:
        """The bound for one unit in runs that keep their costs."""
        if self.accounting is Accounting.ZCDP:
            return _allowed(wrong, *self._pairs)
        if wrong in (0.0, 1.0):  # there no quantile is a number
            return wrong
        normal = NormalDist()
        return normal.cdf(normal.inv_cdf(wrong) + sqrt(2.0 * self.rho))

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return _zcdp_pairs(self.rho)


_MEANT_AT_FIRST = {
    "currency": Accounting.ZCDP.value,
    "failure_delta": 0.0,
    "failure_delta_spent": 0.0,
}


def with_what_was_meant(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    """A certificate of any version, with what all were alike in before it was stated."""
    accounting = certificate["accounting"] and _MEANT_AT_FIRST | certificate["accounting"]
    return {"max_rows_per_unit": 1} | dict(certificate) | {"accounting": accounting}


def protection_of(certificate: Mapping[str, Any]) -> Protection:
    """The guarantee of a certificate that has one, of any version."""
    accounting = with_what_was_meant(certificate)["accounting"]
    return Protection(
        epsilon=certificate["epsilon"],
        delta=certificate["delta"],
        accounting=Accounting(accounting["currency"]),
        rho=accounting["rho_budget"],
        failure_delta=accounting["failure_delta"],
    )


def protection_of_ledger(ledger: PrivacyLedger) -> Protection:
    """The guarantee of a run, from before it asks anything."""
    return Protection(
        epsilon=ledger.epsilon,
        delta=ledger.delta,
        accounting=ledger.accounting,
        rho=float(ledger.budget),
        failure_delta=float(ledger.failure_delta),
    )


def stated_meaning(protection: Protection) -> list[dict[str, Any]]:
    """What a certificate states of a guarantee, as plain JSON values: an entry for each size of
    group.
    """
    return [
        {
            "units": group,
            "advantage": advantage,
            "true_positives": [
                {"false_positives": share, "at_most": most}
                for share, most in zip(STATED_FALSE_POSITIVES, bounds, strict=True)
            ],
        }
        for group, (advantage, *bounds) in zip(
            STATED_GROUPS, _stated_bounds(protection), strict=True
        )
    ]


# The certificate of a saved table is stated again and again, of the same guarantee.
@lru_cache(maxsize=64)
def _stated_bounds(protection: Protection) -> list[list[float]]:
    """For each size of group the advantage, then the share of true positives at each of false."""
    return [
        [
            protection.advantage(group=group),
            *(protection.true_positives(share, group=group) for share in STATED_FALSE_POSITIVES),
        ]
        for group in STATED_GROUPS
    ]


def _allowed(wrong: float, epsilons: NDArray[np.float64], deltas: NDArray[np.float64]) -> float:
    """The best true positive rate under all of some pairs (epsilon, delta)."""
    grown = np.exp(np.minimum(epsilons, 700.0)) * wrong + deltas
    shrunk = 1.0 - np.exp(-epsilons) * (1.0 - deltas - wrong)
    return float(np.clip(np.minimum(grown, shrunk).min(), wrong, 1.0))


def _zcdp_pairs(rho: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of epsilon and delta that rho-zCDP gives; see `synthdp.privacy.accounting.zcdp_rho`.

    The first is epsilon 0: the distance in total variation is at most ``sqrt(rho / 2)`` [Pinsker]
    and ``sqrt(1 - e^-rho)`` [Bretagnolle-Huber], as rho bounds the Kullback-Leibler divergence.
    """
    a = _ORDERS
    exponents = a * ((1 + a) * rho - _EPSILONS[:, None]) + a * np.log(a) - (1 + a) * np.log1p(a)
    deltas = np.exp(np.minimum(exponents.min(axis=1), 0.0))
    distance = min(sqrt(rho / 2), sqrt(-expm1(-rho)))
    return np.concatenate([[0.0], _EPSILONS]), np.concatenate([[distance], deltas])
