"""Grids: the integer for each value of a column, so that the kernel counts integers only."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, final, get_args

from synthdp.core.errors import ParameterError

Of: TypeAlias = Literal["values", "decimals", "exponents", "steps", "reading"]
"""What is counted of a column."""

UNREAD, READ = 0, 1
"""The points of values that a column cannot read, and of those that it can."""

MAX_POINT = 1 << 62
"""Grid points lie within this of 0; values further out, infinite ones too, are moved there."""

MAX_DECIMALS = 300
"""Grids are at most so fine, and so coarse: beyond it, powers of ten are no floats."""


INFINITE = MAX_POINT + 1
"""The point of infinite numbers, where they have one."""


@final
@dataclass(frozen=True, kw_only=True)
class Grid:
    """Which integer, the grid point, stands for a value of a column.

    Every record has one point, or is missing. A point is

    - of an integer or a year: the integer itself, of a fraction the one below;
    - of a number: the multiple of ``10**-decimals`` at or below it;
    - of a date: the number of its unit of resolution since 1970;
    - with ``of="decimals"``: how many decimals a number is written with, see `decimals_of`;
    - with ``of="exponents"``: how large a number is, see `exponents_of`;
    - with ``of="steps"``: how round the point of its value is, see `steps_of`;
    - with ``of="reading"``: `READ` if the column reads it, `UNREAD` if not; these are missing to
      other grids. Of a truth value it is `READ` and the number of how that is spelt.

    Raises
    ------
    ParameterError
        If ``of`` is not known, or ``decimals`` is out of range.

    >>> Grid(column="price", decimals=2)
    Grid(column='price', of='values', decimals=2, has_infinite=False)
    """

    column: str
    """Name of the column."""
    of: Of = "values"
    """What is counted."""
    decimals: int = 0
    """Of a number column: how fine the grid is; negative for tens, hundreds, ..."""
    has_infinite: bool = False
    """Whether infinite numbers are at `INFINITE`; else they are missing."""

    def __post_init__(self) -> None:
        if self.of not in get_args(Of):
            raise ParameterError(
                f"grid of {self.column!r}: of is {self.of!r}; use one of {', '.join(get_args(Of))}"
            )
        whole = isinstance(self.decimals, int) and not isinstance(self.decimals, bool)
        if not whole or abs(self.decimals) > MAX_DECIMALS:
            limit = f"give a whole number from -{MAX_DECIMALS} to {MAX_DECIMALS}"
            raise ParameterError(f"grid of {self.column!r}: decimals is {self.decimals!r}; {limit}")
