"""Contradictions between checks, found before anything is read or paid for."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NoReturn

from synthdp.errors import SchemaError
from synthdp.table.rules.expressions import Relation

_STRICT = Fraction(1, 10**30)
"""What ``<`` lies below ``<=``: less than anything that can be written."""


_ZERO = ""
"""Stands for 0 among columns, which have names."""

Bounds = Mapping[str, tuple[Fraction, Fraction]]
Step = tuple[str, str, Fraction, str]
"""The first column is at most the second one plus a gap; and what says so."""


def check_consistent(relations: Sequence[Relation], bounds: Bounds) -> None:
    """Raise `SchemaError` if comparisons go round in a circle, such as ``a < b`` and ``b < a``.

    Each comparison of two columns, or of one with a number, says that one is at most another plus a gap, and so do
    the ``bounds`` of columns. They contradict each other if and only if some go round in a circle whose gaps sum up
    to less than 0, which the algorithm of Bellman and Ford finds.
    """
    steps = [step for relation in relations for step in _steps(relation)]
    for name, (low, high) in bounds.items():
        text = f"the bounds of {name!r}"
        steps += [(name, _ZERO, high, text), (_ZERO, name, -low, text)]
    most = dict.fromkeys((name for smaller, larger, *_ in steps for name in (smaller, larger)), Fraction(0))
    cause: dict[str, tuple[str, str]] = {}
    changed: str | None = None
    for _ in range(len(most) + 1):
        changed = None
        for smaller, larger, gap, text in steps:
            if most[larger] + gap < most[smaller]:
                most[smaller] = most[larger] + gap
                cause[smaller] = larger, text
                changed = smaller
    if changed is not None:
        _refuse(changed, cause)


def _refuse(name: str, cause: Mapping[str, tuple[str, str]]) -> NoReturn:
    """Name what goes round in a circle, which the causes of a name lead to."""
    for _ in cause:  # far enough to stand on the circle
        name = cause[name][0]
    texts, first = {cause[name][1]}, name
    while (name := cause[name][0]) != first:
        texts.add(cause[name][1])
    shown = " and ".join(sorted(texts))
    contradict = "contradict each other" if len(texts) > 1 else "contradicts itself"
    raise SchemaError(f"schema: constraints: {shown} {contradict}; remove or correct one")


def _steps(relation: Relation) -> list[Step]:
    """What a relation says, an equation both ways; nothing if it is no comparison of two columns or a number."""
    factors = dict(relation.factors)
    if len(factors) == 1:
        factors[_ZERO] = -sum(factors.values(), Fraction(0))
    if len(factors) != 2 or sum(factors.values()) != 0:
        return []
    (first, factor), (second, _) = factors.items()
    if factor < 0:
        first, second = second, first
    gap, text = -relation.constant / abs(factor), f"the check {relation.text!r}"
    if relation.sign == "=":
        return [(first, second, gap, text), (second, first, -gap, text)]
    return [(first, second, gap - (_STRICT if relation.sign == "<" else 0), text)]
