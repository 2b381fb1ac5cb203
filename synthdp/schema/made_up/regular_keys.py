"""Texts that fit a simple regular expression, one for each number."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple, Self, final

_CLASSES = {"d": digits, "w": digits + ascii_letters + "_", "s": " "}
_PIECE = re.compile(
    r"(?:\[(?P<set>(?:\\.|[^\]\\^])(?:\\.|[^\]\\])*)\]|\\(?P<escaped>[dw\W])|(?P<plain>[^\\\[\](){}|.*+?^$]))"
    r"(?:\{(?P<least>\d{1,2})(?P<comma>,)?(?P<most>\d{1,2})?\}|(?P<sign>[*+?]))?"
)
_RANGE = re.compile(r"\\(?P<escaped>.)|(?P<first>[^\\])-(?P<last>[^\\])|(?P<plain>[^\\])")
_SIGNS = {"*": (0, True), "+": (1, True), "?": (0, False)}


class _Piece(NamedTuple):
    """So many characters out of a set, or more where it can grow."""

    characters: str
    least: int
    grows: bool

    def with_one(self) -> "_Piece":
        return self._replace(least=max(self.least, 1))


@final
@dataclass(frozen=True)
class RegularKeys:
    """A text for each whole number, different ones for different numbers.

    >>> keys = RegularKeys.parse(r"^[A-Z]{2}-\\d{3}$")
    >>> keys.written([1, 999, 1000])
    ['AA-001', 'AA-999', 'AB-000']
    """

    pieces: tuple[_Piece, ...]
    """One after the other; the last of these that grows holds what the others have no room for."""

    @classmethod
    def parse(cls, expression: str) -> Self | None:
        """What fits an expression of characters, sets of them such as ``[A-F]`` or ``\\d``, and how
        often they repeat; None of any other expression, or if nothing in it can differ.
        """
        text = expression.removeprefix("^").removesuffix("$")
        pieces = list[_Piece]()
        place = 0
        while place < len(text):
            match = _PIECE.match(text, place)
            characters = None if match is None else _characters(match)
            if match is None or not characters:
                return None
            least, grows = _repeated(match)
            pieces.append(_Piece(characters, least, grows))
            place = match.end()
        several = [n for n, piece in enumerate(pieces) if len(piece.characters) > 1]
        if not several:
            return None
        # Where all may be left out, one is not: a key is no empty text.
        if not any(pieces[n].least for n in several):
            pieces[several[-1]] = pieces[several[-1]].with_one()
        keys = cls(tuple(pieces))
        # Whatever was misread above would be seen here, where an expression is no such one after
        # all.
        is_kept = all(re.search(f"^(?:{text})$", each) for each in keys.written([0, 1]))
        return keys if is_kept else None

    def written(self, numbers: Iterable[int]) -> list[str]:
        """The texts of some numbers, of at least 0.

        A number that needs more characters than the expression allows gets them, in the last piece
        that repeats, else in the last one that differs.
        """
        return [self._text(number) for number in numbers]

    def _text(self, number: int) -> str:
        lengths = [piece.least for piece in self.pieces]
        while number >= prod(
            len(piece.characters) ** length
            for piece, length in zip(self.pieces, lengths, strict=True)
        ):
            # Texts of different lengths differ, and among those of one length digits stand in fixed
            # places.
            lengths[self._growing] += 1
        parts = []
        for piece, length in zip(reversed(self.pieces), reversed(lengths), strict=True):
            for _ in range(length):
                number, digit = divmod(number, len(piece.characters))
                parts.append(piece.characters[digit])
        return "".join(reversed(parts))

    @property
    def _growing(self) -> int:
        several = [n for n, piece in enumerate(self.pieces) if len(piece.characters) > 1]
        return next((n for n in reversed(several) if self.pieces[n].grows), several[-1])


def _repeated(match: re.Match[str]) -> tuple[int, bool]:
    """How often a piece is there at least, and whether it may be there more often."""
    if match["sign"]:
        return _SIGNS[match["sign"]]
    if match["least"] is None:
        return 1, False
    return int(match["least"]), match["comma"] is not None


def _characters(match: re.Match[str]) -> str:
    """The characters of which a piece is one, the digits of a set first; empty if they are not
    known.
    """
    if match["plain"]:
        return match["plain"]
    if match["escaped"]:
        return _CLASSES.get(match["escaped"], match["escaped"])
    distinct = dict[str, None]()
    for part in _RANGE.finditer(match["set"]):
        if part["first"]:
            ends = ord(part["first"]), ord(part["last"])
            if ends[1] - ends[0] > len(ascii_lowercase + ascii_uppercase):
                return ""
            distinct |= dict.fromkeys(map(chr, range(ends[0], ends[1] + 1)))
        elif part["escaped"]:
            distinct |= dict.fromkeys(_CLASSES.get(part["escaped"], part["escaped"]))
        else:
            distinct[part["plain"]] = None
    return "".join(sorted(distinct))
