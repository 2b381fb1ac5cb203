"""Shares of a whole as people write them."""


def percent(share: float) -> str:
    """A share in per cent, to two digits: what noise has touched is known no better.

    >>> percent(0.0234), percent(0.4), percent(0.9999)
    ('2.3 %', '40 %', '100 %')
    """
    # From 99.5 % on two digits would be written as 1e+02.
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"
