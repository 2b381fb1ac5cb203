"""What several releases mean together for a person who is in all of them."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, log10
from typing import Any

from synthdp.core.errors import ParameterError
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.ledger import PrivacyLedger
from synthdp.release.certificate.certificate import unit_in_words

_NOT_STATED = "the earlier release states no guarantee that could be added"
_OTHER_UNIT = "the earlier release protects another unit of privacy: the two are not added up"


def losses_together(ledger: PrivacyLedger, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The guarantee of a release and an earlier one together, with all that it builds on itself,
    for who is in all of them.

    Where both are accounted for alike their costs in rho add up, and so do their deltas; else
    epsilon and delta add up as they are, which always holds.

    Parameters
    ----------
    ledger
        Of the new release.
    earlier
        The certificate of the earlier one.
    """
    prior = earlier.get("prior")
    # An earlier release that built on others itself has added them up already.
    before = earlier if prior is None else prior.get("together", {})
    if earlier.get("is_private") is not True or not before.get("epsilon"):
        return {"note": _NOT_STATED}
    if not _protects_same(ledger, earlier):
        return {"note": _OTHER_UNIT}
    accounting = earlier["accounting"] if prior is None else before
    epsilon = ledger.epsilon + float(before["epsilon"])
    delta = ledger.delta + float(before["delta"])
    failure = float(ledger.failure_delta) + float(accounting.get("failure_delta", 0.0))
    together: dict[str, Any] = {"epsilon": epsilon, "delta": delta}
    # Rho of zCDP and of Gaussian DP are different claims about the same events, and do not add up.
    if accounting.get("currency") == ledger.accounting.value and delta - failure > 0:
        rho = ledger.budget + _rho(before, accounting)
        least = max(ledger.epsilon, float(before["epsilon"]))
        reached = epsilon_reaching(ledger.accounting, rho, delta - failure, least=least)
        # Rho mostly says less, as it grows with epsilon squared; both hold, so the smaller one may
        # be stated.
        together["epsilon"] = min(epsilon, reached)
        together |= {
            "currency": ledger.accounting.value,
            "rho": float(rho),
            "failure_delta": failure,
        }
    return together


def _rho(before: Mapping[str, Any], accounting: Mapping[str, Any]) -> Fraction:
    """What earlier releases may have cost: of several as it was added up, of one by its guarantee,
    for the number in a certificate is rounded.
    """
    if "rho" in before:
        # Certificates have floats: a 2^-40th more covers their rounding, so that the sum is never
        # too small.
        return Fraction(float(before["rho"])) * (1 + Fraction(1, 2**40))
    delta = float(before["delta"]) - float(accounting.get("failure_delta", 0.0))
    return Accounting(accounting["currency"]).rho(epsilon=float(before["epsilon"]), delta=delta)


def _protects_same(ledger: PrivacyLedger, earlier: Mapping[str, Any]) -> bool:
    """Whether both protect records, or persons told apart by the same column; how many rows of a
    person are used may differ.
    """
    try:
        unit = replace(ledger.unit, max_rows=earlier.get("max_rows_per_unit", 1))
    except ParameterError:
        return False
    return unit_in_words(unit) == earlier.get("unit_of_privacy")


def epsilon_reaching(accounting: Accounting, rho: Fraction, delta: float, *, least: float) -> float:
    """An epsilon, at most 0.1 % above the smallest one, for which (epsilon, delta) allows for
    ``rho``; never too small.

    >>> both = 2 * Accounting.ZCDP.rho(epsilon=1.0, delta=1e-9)
    >>> epsilon_reaching(Accounting.ZCDP, both, 1e-9, least=1.0)
    1.438
    """
    # Together they cost at least what the dearer one does alone.
    low, high = least, least
    while accounting.rho(epsilon=high, delta=delta) < rho:
        low = high
        high = 2 * high
    while high > 1.0002 * low:
        middle = (low + high) / 2
        if accounting.rho(epsilon=middle, delta=delta) < rho:
            low = middle
        else:
            high = middle
    unit = 10.0 ** (3 - floor(log10(high)))
    return ceil(high * unit) / unit  # upwards: more epsilon allows for more
