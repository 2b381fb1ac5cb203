"""Comparisons and sums as people write them: ``start <= end``, ``total = wages + 2 * bonus``.

Sides are sums of columns, numbers, and numbers times columns. Names that are not plain words stand
in backticks: `` `start date` <= `end date` ``. Several signs may follow each other: ``a <= b <=
c``.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Literal, NoReturn, cast, final

from synthdp.core.errors import SchemaError

Sign = Literal["<=", "<", "="]

_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<name>[^\W\d]\w*)|`(?P<quoted>[^`]+)`"
    r"|(?P<sign><=|>=|==|[<>=](?![<>=]))|(?P<mark>[-+*])"
)
_MEANING: dict[str, tuple[Sign, int]] = {
    "<=": ("<=", 1), "<": ("<", 1), ">=": ("<=", -1), ">": ("<", -1), "=": ("=", 1), "==": ("=", 1)
}  # fmt: skip
"""Each sign as one of three, and 1 if left minus right is compared with zero, -1 if right minus
left.
"""

_MAX_LENGTH = 2000
"""Characters of an expression: one line, even with dozens of long names."""


@final
@dataclass(frozen=True)
class Relation:
    """A sum of multiples of columns and a constant, which is ``<=``, ``<`` or ``=`` zero."""

    text: str
    """What it was read from, for messages."""
    factors: Mapping[str, Fraction] = field(hash=False)
    """Of each column, none of them 0."""
    constant: Fraction
    """What is added."""
    sign: Sign
    """How the sum is compared with zero."""
    total: str | None = None
    """In an equation the column that is alone on a side, and so follows from the others."""


def relations_of(text: object) -> tuple[Relation, ...]:
    """The relations that an expression states, one for each sign.

    Raises
    ------
    SchemaError
        If it cannot be read.

    >>> (relation,) = relations_of("value >= mortgage + 2 * fee")
    >>> {name: int(factor) for name, factor in relation.factors.items()}, relation.sign
    ({'value': -1, 'mortgage': 1, 'fee': 2}, '<=')
    """
    if not isinstance(text, str) or len(text) > _MAX_LENGTH:
        raise SchemaError(
            "schema: constraints: 'check' is not a short text; write it as \"start <= end\""
        )
    sides, signs = _split(text)
    return tuple(
        _relation(text, pair, sign) for pair, sign in zip(pairwise(sides), signs, strict=True)
    )


def refuse_check(text: str, problem: str) -> NoReturn:
    """Raise `SchemaError` about an expression."""
    raise SchemaError(f"schema: constraints: the check {text!r}: {problem}")


Tokens = list[tuple[str, str]]


def _split(text: str) -> tuple[list[Tokens], list[str]]:
    """The sides of an expression, as kinds and texts of their tokens, and the signs between them."""
    sides: list[Tokens] = [[]]
    signs: list[str] = []
    for kind, token in _tokens(text):
        if kind == "sign":
            signs.append(token)
            sides.append([])
        else:
            sides[-1].append(("name" if kind == "quoted" else kind, token))
    if not signs:
        refuse_check(text, "it compares nothing; write one of <=, <, >=, >, = between two sides")
    return sides, signs


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while rest := text[position:].lstrip():
        position = len(text) - len(rest)
        match = _TOKEN.match(text, position)
        if match is None:
            way_out = "write columns, numbers, + - * and <= < >= > =, and other names in backticks, `start date`"
            refuse_check(text, f"it cannot be read from {rest[:20]!r} on; {way_out}")
        kind = cast("str", match.lastgroup)
        yield kind, match[kind]
        position = match.end()


def _relation(text: str, sides: tuple[Tokens, Tokens], sign: str) -> Relation:
    (left, left_constant), (right, right_constant) = (_sum(text, side) for side in sides)
    meant, direction = _MEANING[sign]
    names = dict.fromkeys([*left, *right])
    factors = {
        name: direction * (left.get(name, Fraction(0)) - right.get(name, Fraction(0)))
        for name in names
    }
    # What stands on both sides falls away; if nothing is left, the check says nothing of any
    # column.
    factors = {name: factor for name, factor in factors.items() if factor}
    if not factors:
        refuse_check(text, "no column is left in it; compare columns")
    constant = direction * (left_constant - right_constant)
    # A column that is alone on a side of an equation follows from the others, and can be worked out
    # in place of being drawn.
    alone = [
        next(iter(side))
        for side, added in ((left, left_constant), (right, right_constant))
        if list(side.values()) == [1] and not added and len(left.keys() & right.keys()) == 0
    ]
    return Relation(
        text,
        factors,
        constant,
        meant,
        alone[0] if alone and meant == "=" and len(factors) > 1 else None,
    )


def _sum(text: str, tokens: Tokens) -> tuple[dict[str, Fraction], Fraction]:
    """The factor of each column on one side, and its constant."""
    factors: dict[str, Fraction] = {}
    constant = Fraction(0)
    for sign, term in _terms(text, tokens):
        names = [token for kind, token in term if kind == "name"]
        # Exact: decimals such as 0.1 have no float, and a check that holds exactly must not fail by
        # rounding.
        product = Fraction(sign)
        for kind, token in term:
            product *= Fraction(token) if kind == "number" else 1
        if len(names) > 1:
            refuse_check(
                text,
                f"{names[0]!r} is multiplied by {names[1]!r}; multiply columns by numbers only",
            )
        if names:
            factors[names[0]] = factors.get(names[0], Fraction(0)) + product
        else:
            constant += product
    return factors, constant


def _terms(text: str, tokens: Tokens) -> Iterator[tuple[int, Tokens]]:
    """The terms of a side, each with its sign: numbers and names that stars join."""
    # A sum of products needs no grammar: a term ends at each plus or minus that follows an operand.
    # Nothing of a check is ever evaluated as Python.
    sign = 1
    term = list[tuple[str, str]]()
    wants_operand, is_first = True, True
    for kind, token in tokens:
        if kind in ("name", "number"):
            if not wants_operand:
                refuse_check(
                    text,
                    f"nothing stands between {term[-1][1]!r} and {token!r}; write +, - or *, or backticks",
                )
            term.append((kind, token))
            wants_operand = False
        elif wants_operand and not (is_first and token == "-"):
            refuse_check(text, f"nothing stands before {token!r}; write a column or a number there")
        elif is_first:
            sign, wants_operand = -1, True
        elif token == "*":
            wants_operand = True
        else:
            yield sign, term
            sign = 1 if token == "+" else -1
            term = []
            wants_operand = True
        is_first = False
    if wants_operand:
        refuse_check(text, "a side of it ends where a column or a number should stand; add one")
    yield sign, term
