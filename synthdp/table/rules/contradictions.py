"""Contradictions between checks, found before anything is read or paid for."""

from collections.abc import Sequence
from fractions import Fraction

from synthdp.errors import SchemaError
from synthdp.table.rules.expressions import Relation

_STRICT = Fraction(1, 10**30)
"""What ``<`` lies below ``<=``: less than anything that can be written."""


def check_consistent(relations: Sequence[Relation]) -> None:
    """Raise `SchemaError` if comparisons of two columns each go round in a circle, such as ``a < b`` and ``b < a``.

    Each says that one column is at most another plus a gap. They contradict each other if and only if
    some go round in a circle whose gaps sum up to less than 0, which the algorithm of Bellman and Ford finds.
    """
    steps = [step for relation in relations for step in _steps(relation)]
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
    if changed is None:
        return
    for _ in most:  # far enough back to stand on the circle
        changed = cause[changed][0]
    texts, name = {cause[changed][1]}, cause[changed][0]
    while name != changed:
        texts.add(cause[name][1])
        name = cause[name][0]
    shown = " and ".join(map(repr, sorted(texts)))
    contradict = "contradict each other" if len(texts) > 1 else "contradicts itself"
    raise SchemaError(f"schema: constraints: the check {shown} {contradict}; remove or correct one")


def _steps(relation: Relation) -> list[tuple[str, str, Fraction, str]]:
    """A relation as ``first <= second + gap`` if it says something like that, an equation both ways."""
    if len(relation.factors) != 2 or sum(relation.factors.values()) != 0:
        return []
    (first, factor), (second, _) = relation.factors.items()
    if factor < 0:
        first, second = second, first
    gap = -relation.constant / abs(factor)
    if relation.sign == "=":
        return [(first, second, gap, relation.text), (second, first, -gap, relation.text)]
    return [(first, second, gap - (_STRICT if relation.sign == "<" else 0), relation.text)]
