"""Whether a column is read at all: values that are there and cannot be read, told from missing ones
by noisy counts.
"""

from fractions import Fraction
from math import sqrt

import numpy as np

from synthdp.core.grid import READ, Grid
from synthdp.learning.beyond_doubt import BEYOND_DOUBT, share_unread
from synthdp.learning.learnt import Learnt
from synthdp.privacy.values.private_values import NoisyHistogram, PrivateValues
from synthdp.schema.columns.column import Column

EMPTY = 0.1
"""A column may be one if for each record without a number or date there is no more than this part
of one with it.
"""


def may_be_unread(learnt: Learnt) -> bool:
    """Whether a column of numbers or dates has so few of them that its values may all be
    unreadable.
    """
    is_empty = not learnt.stands_out or learnt.present < EMPTY * learnt.missing
    return is_empty and learnt.missing > BEYOND_DOUBT * learnt.missing_stddev


def ask_reading(
    values: PrivateValues, column: str, *, rho: Fraction, n_ways: int = 1
) -> NoisyHistogram:
    """Spend ``rho`` on how many values are missing, cannot be read (``below``), and are read, each
    way apart.
    """
    return values.histogram(
        Grid(column=column, of="reading"), np.arange(READ, READ + n_ways), rho=rho
    )


def unread_share(histogram: NoisyHistogram) -> float:
    """The share of the values of a column that cannot be read if nearly all cannot, beyond doubt;
    else 0.
    """
    noise = sqrt(1 + histogram.counts.size) * histogram.stddev
    return share_unread(histogram.below, float(histogram.counts.sum()), noise)


def is_empty(missing: float, present: float, stddev: float) -> bool:
    """Whether a column has nothing but missing values, as far as noise can tell."""
    noise = BEYOND_DOUBT * stddev
    return missing > noise and present <= min(noise, EMPTY * missing)


EMPTY_COLUMN = "its values are missing, or nearly all of them are; ignore it if it is empty"
"""What is said of one."""


def learnt_spelling(column: Column, histogram: NoisyHistogram) -> tuple[str, str] | None:
    """How most truth values are spelt, as far as noise can tell and the column may write; None for
    no more than that.

    A few records do not decide it, for the way must stand out from noise and be commoner than all
    others.
    """
    commonest = int(histogram.counts.argmax())
    stands_out = float(histogram.counts[commonest]) > BEYOND_DOUBT * histogram.stddev
    spelling = column.spellings[commonest]
    return spelling if stands_out and commonest and column.can_write(spelling) else None
