"""What a guarantee means for one person: how well anybody could tell whether the person is in the table."""

from math import exp, sqrt
from statistics import NormalDist

import numpy as np

from synthdp.privacy.accounting import Accounting

FALSE_POSITIVES = 0.01
"""Share of those who are not in the table that an attacker wrongly takes to be in it: the usual place to look."""

_ORDERS = np.geomspace(1e-3, 1e9, 600)
_EPSILONS = np.geomspace(1e-6, 1e4, 600)
"""Any order and any epsilon give a bound that holds; of so many the smallest is within 1 % of the least."""


def best_true_positives(
    *,
    epsilon: float,
    delta: float,
    accounting: Accounting,
    rho: float,
    failure_delta: float = 0.0,
    false_positives: float = FALSE_POSITIVES,
) -> float:
    """Largest share of those who are in the table that anybody can recognise from the release.

    It is the smaller of what (epsilon, delta) allows, ``min(e^epsilon f + delta, 1 - e^-epsilon (1 - delta - f))``
    [Kairouz 2015], and of what the currency allows: ``Phi(Phi^-1(f) + mu)`` with ``mu^2 = 2 rho`` in Gaussian DP
    [DRS19], and in zCDP the same as for (epsilon, delta), for all pairs that follow from rho [CKS20].

    Parameters
    ----------
    epsilon, delta
        The guarantee.
    accounting, rho
        The theorem that it stands on, and its budget.
    failure_delta
        Part of delta with which costs may not hold.
    false_positives
        Share f of those who are not in the table that the attacker takes to be in it.

    >>> one = {"epsilon": 1.0, "delta": 1e-9}
    >>> [round(best_true_positives(**one, accounting=a, rho=float(a.rho(**one))), 4) for a in Accounting]
    [0.0167, 0.016]
    """
    kept = 1.0 - failure_delta
    wrong = min(false_positives / kept, 1.0)
    if accounting is Accounting.GDP:
        normal = NormalDist()
        right = normal.cdf(normal.inv_cdf(wrong) + sqrt(2.0 * rho)) if wrong < 1.0 else 1.0
    else:
        right = min(_allowed(found, lost, wrong) for found, lost in _zcdp_pairs(rho))
    return min(failure_delta + kept * right, _allowed(epsilon, delta, false_positives), 1.0)


def _allowed(epsilon: float, delta: float, wrong: float) -> float:
    """The best true positive rate under (epsilon, delta)."""
    return min(exp(min(epsilon, 700.0)) * wrong + delta, 1.0 - exp(min(-epsilon, 700.0)) * (1.0 - delta - wrong))


def _zcdp_pairs(rho: float) -> list[tuple[float, float]]:
    """Pairs of epsilon and delta that rho-zCDP gives; see `synthdp.privacy.accounting.zcdp_rho`."""
    a = _ORDERS
    exponents = a * ((1 + a) * rho - _EPSILONS[:, None]) + a * np.log(a) - (1 + a) * np.log1p(a)
    return list(zip(_EPSILONS.tolist(), np.exp(np.minimum(exponents.min(axis=1), 0.0)).tolist(), strict=True))
