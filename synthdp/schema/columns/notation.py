"""How texts write numbers."""

import math
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.schema.columns.field import Field
from synthdp.schema.columns.reading import Values, floats_of, is_missing, numbers_by, to_float
from synthdp.schema.words.texts import in_column, refuse

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

    >>> german = Notation(decimal_char=",", group_char=".", bare_number=False)
    >>> [german.number(text) for text in ("1.234,56 EUR", "-3 %", "(7,5)", "1,234.56", "n/a")]
    [1234.56, -3.0, -7.5, nan, nan]
    >>> padded = Notation(width=5)
    >>> [padded.number(text) for text in ("04109", "12345", "7", "0007")], padded.written("4109")
    ([4109.0, 12345.0, 7.0, nan], '04109')
    """

    decimal_char: str = "."
    """The decimal mark."""
    group_char: str = ""
    """What may stand between groups of three digits (two or three before the last such group);
    empty for nothing.
    """
    bare_number: bool = True
    """False: other characters may stand around a number, such as a currency or a percent sign. A
    minus beside the number or before all else counts, and so do brackets around it all.
    """
    width: int = 0
    """Digits that whole numbers have, zeros in front included; 0: no zeros stand in front of a
    number, and a text in which they do is none.
    """

    @classmethod
    def parse(cls, field: Field) -> Self:
        """How a field says that numbers are written; years and texts are written in one way only."""
        marks = {key: field[key].default(usual) for key, usual in NOTATION.items()}
        for key, mark in marks.items():
            if field.type not in ("integer", "number") and mark.value != NOTATION[key]:
                kinds = "columns of type 'integer' or 'number'"
                mark.refuse(f"is for {kinds}; change the type, or remove it")
        return cls(
            decimal_char=marks["decimalChar"].text(),
            group_char=marks["groupChar"].text(),
            bare_number=marks["bareNumber"].flag(),
        )

    def check(self, column: str) -> None:
        """Refuse marks that could be mistaken for another part of a number."""
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
        in_column(column, "synthdp.width", self.width).whole(0, MAX_WIDTH)

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
        match = self._pattern.fullmatch(text)
        # Total, as all reading: what is no number is unread, and never an error.
        if match is None:
            return math.nan
        before, whole, decimals, alone, power, after = match.groups()
        # An area code or an identifier; as a number it would lose its zero.
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
            # Zeros go between the sign and the digits.
            sign = text[: text.startswith("-")]
            return sign + text[len(sign) :].zfill(self.width)
        return text.replace(".", self.decimal_char)

    def text_of(self, value: object, text: str) -> str:
        """The text of a value in this notation, if it is a number; others stay as they are."""
        is_no_number = isinstance(value, str | bool | np.bool_) or is_missing(value)
        return text if is_no_number else self.written(text)

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
    # One minus, and it must touch the number or open the text: in "10 - 20 EUR" it is a range, and
    # nobody knows which end is meant.
    beside = (before[:1], before.rstrip()[-1:], after)
    return -1.0 if n_minus == 1 and not in_brackets and set(beside) & set(_MINUS) else math.nan
