"""How a column is read, with one example of what fits, and how that is written."""

from dataclasses import dataclass
from typing import final

UNITS = "; units and currencies around a number are not written"
"""What is said of columns of numbers beside which something may stand."""

UNWRITTEN = "; fractions are rounded, and not written (synthdp.decimals)"
"""What is said of numbers that are declared without decimals, or where none are."""

LEARNT = "; as many decimals are written as are told from noise (synthdp.decimals)"
"""What is said of numbers whose decimals are learnt."""


@final
@dataclass(frozen=True, kw_only=True)
class Reading:
    """How one column is read."""

    what: str
    """What its values are, in a few words."""
    fits: str
    """A text that is one of them."""
    written: str
    """How that is written, where the column can say it."""
    note: str = ""
    """What comes out in another way than it came in, or is not read, and what to declare; empty if
    nothing is.
    """
