"""What integer and number columns share: how they are written, public bounds, and bins as a count
or as edges.
"""

import math
import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.axes.bin_limits import MAX_LEVELS
from synthdp.schema.axes.bin_shape import Heaping
from synthdp.schema.axes.points import decimal_points
from synthdp.schema.columns.binned import BinnedColumn
from synthdp.schema.columns.reading import Values, floats_of, is_missing, numbers_by, to_float
from synthdp.schema.words.texts import refuse

NUMBER_MARKS = "decimalChar, groupChar, bareNumber"
"""What a field can say of how numbers are written."""

_ALIKE = (
    " \N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}",
    "'\N{RIGHT SINGLE QUOTATION MARK}",
)
"""Marks between groups of digits that look alike: who declares one of them means all."""

_MINUS = "-\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{FIGURE DASH}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}"


@final
@dataclass(frozen=True, kw_only=True)
class Notation:
    """How texts write numbers, in the words of Frictionless Table Schema.

    Parameters
    ----------
    decimal_char
        What stands before the decimals.
    group_char
        What may stand between groups of three digits (two or three before the last such group);
        empty for nothing.
    bare_number
        False: other characters may stand around a number, such as a currency or a percent sign. A
        minus beside the number or before all else counts, and so do brackets around it all.
    width
        Digits that whole numbers have, zeros in front included; 0: no zeros stand in front of a
        number, and a text in which they do is none.

    >>> german = Notation(decimal_char=",", group_char=".", bare_number=False)
    >>> [german.number(text) for text in ("1.234,56 EUR", "-3 %", "(7,5)", "1,234.56", "n/a")]
    [1234.56, -3.0, -7.5, nan, nan]
    >>> padded = Notation(width=5)
    >>> [padded.number(text) for text in ("04109", "12345", "7", "0007")], padded.written("4109")
    ([4109.0, 12345.0, 7.0, nan], '04109')
    """

    decimal_char: str = "."
    group_char: str = ""
    bare_number: bool = True
    width: int = 0

    def check(self, column: str) -> None:
        """Refuse marks that could not be told from the rest of a number."""
        marks = (("decimalChar", self.decimal_char), ("groupChar", self.group_char))
        for key, mark in marks:
            if (
                len(mark) > 1
                or mark.isalnum()
                or mark in {"+", *_MINUS}
                or (key == "decimalChar" and not mark.strip())
            ):
                refuse(
                    column,
                    f"{key} is {mark!r}; give one character that is no digit, letter or sign",
                )
        if self.decimal_char == self.group_char:
            refuse(column, f"decimalChar and groupChar are both {self.decimal_char!r}; give two")
        is_whole = isinstance(self.width, int) and not isinstance(self.width, bool)
        if not is_whole or not 0 <= self.width <= MAX_WIDTH:
            refuse(
                column,
                f"synthdp.width is {self.width!r}; give the number of digits, from 1 to {MAX_WIDTH}",
            )

    @cached_property
    def _is_plain(self) -> bool:
        return replace(self, width=0) == PLAIN

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        point = re.escape(self.decimal_char)
        alike = next(
            (marks for marks in _ALIKE if self.group_char and self.group_char in marks),
            self.group_char,
        )
        group = f"[{re.escape(alike)}]"
        whole = (
            rf"[0-9]{{1,3}}(?:{group}[0-9]{{2,3}})*{group}[0-9]{{3}}|[0-9]+" if alike else "[0-9]+"
        )
        # where text may stand before a number, "No.5" is 5; and "5,-" is a price without cents
        decimals = rf"{point}[0-9]*" if self.bare_number else rf"{point}(?:[0-9]+|[{_MINUS}]+)"
        number = rf"(?:({whole})({decimals})?|(?<![^\W_])({point}[0-9]+))"
        before, after = (f"[{_MINUS}+]?", "") if self.bare_number else ("[^0-9]*?", "[^0-9]*")
        return re.compile(rf"({before}){number}([eE][+-]?[0-9]+)?({after})")

    def number(self, value: object) -> float:
        """One value as a number; NaN if it is none. What is no text is read as it is."""
        if not issubclass(type(value), str):
            return to_float(value)
        text = str.__str__(value).strip()
        if (
            self.width
            and (digits := _DIGITS.fullmatch(text)) is not None
            and len(digits[1]) == self.width
        ):
            return float(text)
        if self._is_plain:
            return to_float(text)
        found = self._pattern.fullmatch(text)
        if found is None:
            return math.nan
        before, whole, decimals, alone, power, after = found.groups()
        if whole and whole[0] == "0" and len(whole) > 1:
            return math.nan
        if whole and not whole.isdigit():
            whole = "".join(filter(str.isdigit, whole))
        fraction = (decimals or alone or "")[1:]
        number = float(f"{whole or '0'}.{fraction if fraction.isdigit() else '0'}{power or ''}")
        return _sign(before, after) * number if before or after else number

    def floats(self, values: Values) -> NDArray[np.float64]:
        """`number` of each of some values."""
        if self == PLAIN or values.dtype != object:
            return floats_of(values)
        return numbers_by(self.number, values)

    def written(self, text: str) -> str:
        """A number as Python writes it, with this decimal mark, without groups, and with zeros up
        to the width.
        """
        if self.width:
            sign = text[: text.startswith("-")]
            return sign + text[len(sign) :].zfill(self.width)
        return text.replace(".", self.decimal_char)

    def properties(self) -> dict[str, Any]:
        """What a field must say of this notation."""
        given = {
            "decimalChar": self.decimal_char,
            "groupChar": self.group_char,
            "bareNumber": self.bare_number,
        }
        return {key: value for key, value in given.items() if value != NOTATION[key]}


MAX_WIDTH = 15
"""Most digits of whole numbers with zeros in front: floats hold all of them."""

_DIGITS = re.compile(r"[+-]?([0-9]+)")

PLAIN = Notation()
"""Numbers as Python reads them."""

NOTATION: dict[str, Any] = {"decimalChar": ".", "groupChar": "", "bareNumber": True}
"""The notation of a field that says nothing of it."""


def _sign(before: str, after: str) -> float:
    """The sign of a number between other characters; NaN if that is not clear."""
    in_brackets = before.startswith("(") and after.endswith(")")
    n_minus = sum(before.count(mark) + after.count(mark) for mark in _MINUS)
    if not n_minus:
        return -1.0 if in_brackets else 1.0
    beside = (before[:1], before.rstrip()[-1:], after)
    return -1.0 if n_minus == 1 and not in_brackets and set(beside) & set(_MINUS) else math.nan


def check_bound(column: str, key: str, value: object) -> float:
    """A bound as a finite number (an int stays an int)."""
    if value is None:
        refuse(column, f"{key} is not filled in; give the bound that is public knowledge")
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(column, f"{key} is {value!r}; give a number")
    try:
        finite = math.isfinite(value)
    except OverflowError:
        finite = False
    if not finite:
        refuse(column, f"{key} is not a finite number; give a finite bound")
    return value


def check_order(column: str, low: Any, high: Any) -> None:
    """Refuse bounds in the wrong order."""
    if low > high:
        refuse(
            column,
            f"constraints.minimum {low} is above constraints.maximum {high}; exchange or correct them",
        )


def check_edges(column: str, edges: Sequence[Any], low: Any, high: Any, bins: int | None) -> None:
    """Refuse edges that are too few, not increasing, or contradict bounds or bins."""
    if bins is not None and bins != len(edges) - 1:
        refuse(
            column,
            f"synthdp has both bins ({bins}) and edges of {len(edges) - 1} bins; keep one of the two",
        )
    if len(edges) < 3:
        refuse(
            column, f"synthdp.edges has {len(edges)} entries; give at least 3, for at least 2 bins"
        )
    if len(edges) > MAX_LEVELS:
        refuse(column, f"synthdp.edges has {len(edges)} entries; use at most {MAX_LEVELS}")
    for left, right in pairwise(edges):
        if left >= right:
            refuse(
                column,
                f"synthdp.edges are not increasing: {left} comes before {right}; sort them, each once",
            )
    for key, bound, edge in (("minimum", low, edges[0]), ("maximum", high, edges[-1])):
        if bound is not None and bound != edge:
            refuse(
                column,
                f"constraints.{key} is {bound}, but synthdp.edges end at {edge}; make them equal",
            )


DEFAULT_BINS = 32
"""Bins of a column that has more than `MAX_SINGLE_LEVELS` values and names no bins."""

MAX_SINGLE_LEVELS = 64
"""A column of at most this many values has one level for each, if it names no bins."""


def default_bins(n_values: int) -> int:
    """Number of bins of a column of ``n_values`` values that names none.

    >>> default_bins(64), default_bins(65)
    (64, 32)
    """
    return n_values if n_values <= MAX_SINGLE_LEVELS else DEFAULT_BINS


def check_bins(column: str, bins: object, n_values: int | None, things: str) -> int:
    """The number of bins if it is a possible one; ``n_values`` is how many values there are to bin."""
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        refuse(column, f"synthdp.bins is {bins!r}; give a whole number of at least 2")
    if bins == 1 and n_values != 1:
        refuse(
            column,
            "synthdp.bins is 1, and one bin keeps nothing of the column; give at least 2 bins",
        )
    if n_values is not None and bins > n_values:
        refuse(
            column,
            f"synthdp.bins is {bins}, but there are {n_values} {things} between the bounds; use fewer bins",
        )
    if bins > MAX_LEVELS:
        refuse(column, f"synthdp.bins is {bins}; use at most {MAX_LEVELS}")
    return bins


def even_starts(first: int, last: int, bins: int) -> NDArray[np.int64]:
    """First integer of each of ``bins`` runs of ``first .. last``, as even as possible, then ``last
    + 1``.

    >>> even_starts(0, 9, 3).tolist()
    [0, 3, 6, 10]
    """
    n = last - first + 1
    return np.array([first + i * n // bins for i in range(bins + 1)], dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class NumericColumn(BinnedColumn):
    """Bounds and bins, given as a count of equally wide bins or as edges.

    Parameters
    ----------
    minimum, maximum
        Inclusive public bounds; values outside go to the nearest bin. Not needed with ``edges``.
    bins
        Number of bins, as equally wide as possible.
    edges
        Increasing edges: bin ``i`` holds ``edges[i] <= x < edges[i + 1]``, the last bin its
        right edge too. In place of ``bins``.
    notation
        How texts write the numbers.
    heaping
        How many of the values are round, for decoding; None for no more than there are round
        numbers.
    """

    minimum: float | None = None
    maximum: float | None = None
    bins: int | None = None
    edges: tuple[float, ...] | None = None
    notation: Notation = PLAIN
    heaping: Heaping | None = None

    def _check_bounds(self) -> None:
        """Fill in bounds from edges, and check each number and their order."""
        self.notation.check(self.name)
        if self.edges is None:
            bounds = [
                self._number(f"constraints.{key}", getattr(self, key))
                for key in ("minimum", "maximum")
            ]
            check_order(self.name, *bounds)
        else:
            edges = tuple(self._number("an entry of synthdp.edges", edge) for edge in self.edges)
            check_edges(self.name, edges, self.minimum, self.maximum, self.bins)
            object.__setattr__(self, "edges", edges)
            bounds = [edges[0], edges[-1]]
        object.__setattr__(self, "minimum", bounds[0])
        object.__setattr__(self, "maximum", bounds[1])
        self._check_missing_outside(*bounds)
        if self.shape is not None:
            object.__setattr__(self, "shape", self.shape.checked(self.name, self._number, *bounds))

    @abstractmethod
    def _number(self, key: str, value: object) -> float:
        """A bound or edge, checked and of the column's type."""

    @property
    def _bounds(self) -> tuple[Any, Any]:
        return self.minimum, self.maximum

    def _read(self, values: Values) -> NDArray[np.float64]:
        return self.notation.floats(values)

    def _binning(self) -> dict[str, Any]:
        own: dict[str, Any] = (
            {"bins": self.bins} if self.edges is None else {"edges": list(self.edges)}
        )
        if self.shape is not None:
            own["shape"] = {"starts": list(self.shape.starts), "weights": list(self.shape.weights)}
        if self.heaping is not None:
            own["heaping"] = self.heaping.to_dict()
        return own

    @property
    def bounds(self) -> tuple[Any, Any]:
        """The lowest and the highest value."""
        return self.minimum, self.maximum

    @property
    def n_values(self) -> int:
        """How many values are written between the bounds."""
        ends = np.array(self.bounds, dtype=np.float64)
        first, last = decimal_points(ends, self.decimals or 0).tolist()
        return 1 if self.minimum == self.maximum else int(last - first) + 1

    def widened(self, others: Sequence[Axis], spread: int, limits: tuple[Any, Any]) -> Self:
        """The column from the lowest bound of some others to the highest, and some units more."""
        low = min(other.bounds[0] for other in others)
        high = max(other.bounds[1] for other in others)
        try:
            low, high = low - spread, high + spread
            if self.is_whole:
                low, high = math.floor(low), math.ceil(high)
        except OverflowError:
            low, high = limits
        return self._between(low, high, limits, edges=self.edges, bins=self.bins)

    not_read: ClassVar[str] = "is no number"

    @property
    def ways_of_writing(self) -> str:
        """What a field can declare so that more values are read."""
        return NUMBER_MARKS

    @property
    def decimal_char(self) -> str:
        """What stands before the decimals."""
        return self.notation.decimal_char

    def typed(self, values: pd.Series) -> pd.Series:
        """Numbers for what texts say."""
        return pd.Series(self.read_numbers(values))

    def text_of(self, value: object) -> str:
        """How a file holds a value."""
        text = super().text_of(value)
        is_read = isinstance(value, str | bool | np.bool_)
        return text if is_read or is_missing(value) else self.notation.written(text)

    def _near(self, number: float) -> float:
        """A number between the bounds, as near to one as can be."""
        assert self.minimum is not None
        assert self.maximum is not None
        return min(max(number, self.minimum), self.maximum)
