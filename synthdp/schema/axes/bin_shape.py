"""Shapes and heaping: where inside its bins a column's values lie.

A shape is a piecewise constant density over a column's own values; heaping says how many of them
are round. They change how bins are *decoded*, never how values are encoded.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Self, final

from synthdp.core.grid import MAX_POINT
from synthdp.schema.axes.bin_limits import MAX_LEVELS
from synthdp.schema.words.heaps import Heaps
from synthdp.schema.words.texts import in_column, refuse


@final
@dataclass(frozen=True, kw_only=True)
class Shape:
    """A piecewise constant density, as it stands in a schema."""

    starts: tuple[Any, ...]
    """Where each piece begins, increasing, in values of the column; the first is the lower
    bound. A piece ends where the next one begins, the last one at the upper bound, inclusive.
    """
    weights: tuple[float, ...]
    """Expected share of records in each piece, spread evenly over its grid points; finite, at
    least 0, in any unit. What a piece without a grid point weighs is lost.
    """

    def checked(self, column: str, read: Callable[[str, Any], Any], low: Any, high: Any) -> Self:
        """This shape with values as ``read(key, value)`` gives them; raises `SchemaError` if it is
        none.
        """
        starts = tuple(read("an entry of synthdp.shape.starts", start) for start in self.starts)
        weights = checked_weights(
            column, "synthdp.shape.weights", self.weights, len(starts), "starts"
        )
        # A shape that began elsewhere would weigh nothing up to there, or weigh what is never
        # drawn.
        if not starts or starts[0] != low:
            begin = f"begins at {starts[0]}" if starts else "is empty"
            refuse(column, f"synthdp.shape.starts {begin}; begin at the lower bound, {low}")
        if len(starts) > MAX_LEVELS:
            refuse(
                column, f"synthdp.shape.starts has {len(starts)} entries; use at most {MAX_LEVELS}"
            )
        for left, right in pairwise(starts):
            if left >= right:
                refuse(
                    column,
                    f"synthdp.shape.starts are not increasing: {left} before {right}; sort them, each once",
                )
        if starts[-1] > high:
            refuse(
                column,
                f"synthdp.shape.starts has {starts[-1]}, above the upper bound {high}; remove it",
            )
        return type(self)(starts=starts, weights=weights)


def checked_weights(
    column: str, key: str, weights: Sequence[Any], n_wanted: int, things: str, *, zero: bool = True
) -> tuple[float, ...]:
    """Weights as floats: finite, at least 0 (above 0 unless ``zero``), one for each of ``n_wanted``
    things.
    """
    if len(weights) != n_wanted:
        refuse(column, f"{key} has {len(weights)} entries for {n_wanted} {things}; give one each")
    checked = []
    for weight in weights:
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not 0 <= weight <= 1e300 or (weight == 0 and not zero):
            refuse(
                column,
                f"{key} holds {weight!r}; give numbers {'from' if zero else 'above'} 0 up to 1e300",
            )
        checked.append(float(weight))
    return tuple(checked)


@final
@dataclass(frozen=True, kw_only=True)
class Heaping:
    """Shares of values that are round, as they stand in a schema."""

    steps: tuple[Fraction, ...]
    """What round values are multiples of, increasing and each a divisor of the next; above the
    column's unit, 1 or ``10**-decimals``, and multiples of it.
    """
    shares: tuple[float, ...]
    """Share of the values that are multiples of each step and not of the next, where there is room
    for all of them; at least 0, and at most 1 together.
    """

    @classmethod
    def from_dict(cls, column: str, mapping: object) -> Self:
        """The heaping in a schema file, such as ``{"100": 0.5, "1000": 0.2}``; raises `SchemaError`
        if it is none.
        """
        shares = {}
        declared = in_column(column, "synthdp.heaping", mapping)
        for text in declared.mapping('shares by step, such as {"100": 0.5, "1000": 0.2}'):
            if not _is_step(text):
                refuse(
                    column,
                    f"synthdp.heaping has the step {text!r}; give steps as numbers above 0, such as '100'",
                )
            share = declared[text].number("a share from 0 to 1", least=0, most=1)
            shares[Fraction(text)] = float(share)
        steps = tuple(sorted(shares))
        for step, coarser in pairwise(steps):
            # Steps that divide each other make classes: each value has one coarsest step that
            # divides it.
            if coarser % step:
                problem = f"has the steps {_text(step)} and {_text(coarser)}"
                refuse(
                    column,
                    f"synthdp.heaping {problem}; each must divide the next, so leave out one of the two",
                )
        if sum(shares.values()) > 1 + ROUNDING:
            refuse(
                column,
                f"synthdp.heaping has shares of {sum(shares.values()):.6g} together; make them at most 1",
            )
        return cls(steps=steps, shares=tuple(shares[step] for step in steps))

    @property
    def decimals(self) -> int:
        """Fewest decimals, at least 0, of a unit that all steps are multiples of."""
        step = min(self.steps, default=Fraction(1))
        return next(
            (n for n in range(MAX_DECIMALS) if (step * 10**n).denominator == 1), MAX_DECIMALS
        )

    def heaps(self, column: str, decimals: int = 0) -> Heaps | None:
        """The heaps on a grid of multiples of ``10**-decimals``; None if there are none.

        Raises `SchemaError` if a step does not lie on the grid.
        """
        points = [step * Fraction(10) ** decimals for step in self.steps]
        for step, point in zip(self.steps, points, strict=True):
            if point.denominator > 1 or not 1 < point < MAX_POINT:
                if not decimals:
                    unit = "whole numbers"
                else:
                    unit = f"multiples of {_text(Fraction(10) ** -decimals)}"
                refuse(
                    column,
                    f"synthdp.heaping has the step {_text(step)}, but values are {unit}; give coarser ones",
                )
        return Heaps.of_shares(list(map(int, points)), self.shares) if points else None

    def to_dict(self) -> dict[str, float]:
        """As it stands in a schema file."""
        return {_text(step): share for step, share in zip(self.steps, self.shares, strict=True)}


ROUNDING = 1e-9
"""Shares may add up to so much more than 1."""

MAX_DECIMALS = 16
"""Steps have fewer decimals than that: not all numbers of more digits are floats."""


def _is_step(text: object) -> bool:
    """Whether a key is a number above 0 that floats can hold."""
    try:
        return isinstance(text, str) and 0 < float(text) < math.inf
    except ValueError:
        return False


def _text(step: Fraction) -> str:
    """A step as a decimal number."""
    return str(step) if step.denominator == 1 else repr(float(step))
