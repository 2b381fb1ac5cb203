"""Numbers as people read them, rounded so that they never promise too much."""

from decimal import ROUND_UP, Context, Decimal

_UP = Context(prec=3, rounding=ROUND_UP)


def at_most(share: float) -> str:
    """A share in percent, of three digits, rounded up.

    >>> at_most(0.016001), at_most(1.0), at_most(0.3)
    ('1.61 %', '100 %', '30 %')
    """
    return f"{_short(_UP.create_decimal(repr(100 * share)))} %"


def times(factor: float) -> str:
    """A factor of three digits, rounded up.

    >>> times(2.718281828), times(1e9)
    ('2.72', '1,000,000,000')
    """
    return _short(_UP.create_decimal(repr(factor))) if factor < 1e15 else "any number of"


def chance(probability: float) -> str:
    """A probability as 1 in so many, rounded up.

    >>> chance(1e-9), chance(0.03), chance(0.7)
    ('1 in 1,000,000,000', '1 in 33', '70 %')
    """
    n = int(Decimal(1) / Decimal(repr(probability)))
    return f"1 in {n:,}" if n > 1 else at_most(probability)


def _short(number: Decimal) -> str:
    text = f"{number:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
