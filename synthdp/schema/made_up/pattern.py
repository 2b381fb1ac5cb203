"""Patterns of ids: a text with one number in it, written as Python's format strings are."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from string import Formatter
from typing import Self, final

from synthdp.schema.words.texts import check_text, refuse

_SPEC = re.compile(r"(?:0([1-9]\d?))?([doxX]?)", re.ASCII)
"""What may follow the colon: a width that zeros fill, and how digits are written. Other fills could
make two numbers look alike: 1 and 11 are both ``11`` where ones fill up two places.
"""

MAX_WIDTH = 64
"""More digits than this in a pattern are a slip of the finger."""

_EXAMPLE = 'write one number in braces, as in "P-{:06d}"'


@final
@dataclass(frozen=True)
class Pattern:
    """A text with one whole number in it; different numbers give different texts.

    >>> Pattern.parse("P-{:04d}", column="patient").written([7, 12345])
    ['P-0007', 'P-12345']
    """

    before: str
    after: str
    """The texts before and after the number."""
    spec: str
    """How it is written: nothing or a width that zeros fill, then ``d``, ``o``, ``x`` or ``X``.
    A number that needs more digits than the width gets them.
    """

    @classmethod
    def parse(cls, text: object, *, column: str) -> Self:
        """Read the format string of a column; nothing in it is evaluated.

        Raises `SchemaError` unless it holds one number, written in a way in which no two look
        alike.
        """
        check_text(text, column, "synthdp.pattern")
        assert isinstance(text, str)
        try:
            # Parsed, and never formatted with str.format: a format string can reach into attributes
            # of what it is given.
            pieces = list(Formatter().parse(text))
        except ValueError:
            refuse(column, f"synthdp.pattern {text!r} is no format string; {_EXAMPLE}")
        numbers = [
            (name, spec, conversion) for _, name, spec, conversion in pieces if name is not None
        ]
        if len(numbers) != 1:
            refuse(
                column, f"synthdp.pattern {text!r} has {len(numbers)} numbers in braces; {_EXAMPLE}"
            )
        name, spec, conversion = numbers[0]
        match = _SPEC.fullmatch(spec or "")
        if (
            name not in ("", "0")
            or conversion is not None
            or match is None
            or int(match[1] or 0) > MAX_WIDTH
        ):
            kinds = "digits with leading zeros if you like, and d, o, x or X"
            refuse(column, f"synthdp.pattern {text!r} asks for more than {kinds}; {_EXAMPLE}")
        # Formatter unescapes doubled braces, so the texts around the number are put together from
        # its pieces.
        at = next(i for i, piece in enumerate(pieces) if piece[1] is not None)
        before, after = (
            "".join(piece[0] for piece in part) for part in (pieces[: at + 1], pieces[at + 1 :])
        )
        return cls(before, after, spec or "")

    def written(self, numbers: Iterable[int]) -> list[str]:
        """The texts of some numbers, of at least 0."""
        return list(map(str(self).format, numbers))

    def __str__(self) -> str:
        """The format string, as a schema file has it."""
        before, after = (
            text.replace("{", "{{").replace("}", "}}") for text in (self.before, self.after)
        )
        return f"{before}{{:{self.spec}}}{after}" if self.spec else f"{before}{{}}{after}"
