"""Comparisons with public values, as expressions whose depth and size engines can take."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import narwhals as nw
import numpy as np

_BLOCK = 16
"""Values, or blocks of values, that are tried one after the other."""


CodesByValue: TypeAlias = Mapping[Any, int]
"""Codes of public values."""


@final
@dataclass(frozen=True)
class Lookup:
    """The code of each value that is among some public ones, else that of an unknown one."""

    values: nw.Expr
    """Texts or whole numbers."""
    codes: CodesByValue
    """Codes of the public ones."""
    unknown: int
    """The code of all others, but for missing ones."""
    by_engine: bool
    """Whether the engine has such a lookup itself, else values are compared."""

    @property
    def worked_out(self) -> nw.Expr:
        """The same as an expression."""
        unknown = nw.lit(self.unknown)
        if self.by_engine and self.codes:
            return self.values.replace_strict(self.codes, default=unknown, return_dtype=nw.Int64)
        return tried(self.values, sorted(self.codes.items(), key=lambda pair: pair[1]), unknown)


def counted(at_least: Sequence[nw.Expr]) -> nw.Expr:
    """How many of some conditions hold, each of which implies those before it."""
    return chosen(at_least, range(len(at_least) + 1))


def chosen(at_least: Sequence[nw.Expr], numbers: Sequence[float]) -> nw.Expr:
    """The number at the place that says how many of some conditions hold; each implies those before
    it. By halving.
    """

    def holding(low: int, high: int) -> nw.Expr:
        if low == high:
            return nw.lit(numbers[low])
        # Nested halves: an engine evaluates log2(n) comparisons for a value, where a chain of cases
        # has n.
        middle = (low + high) // 2
        return (
            nw.when(at_least[middle])
            .then(holding(middle + 1, high))
            .otherwise(holding(low, middle))
        )

    return holding(0, len(at_least))


def searched(values: nw.Expr, pairs: Sequence[tuple[Any, int]], unknown: nw.Expr) -> nw.Expr:
    """By halving public values that are in order."""
    if not pairs:
        return unknown
    if len(pairs) == 1:
        return nw.when(is_value(values, pairs[0][0])).then(nw.lit(pairs[0][1])).otherwise(unknown)
    middle = len(pairs) // 2
    above, below = (searched(values, part, unknown) for part in (pairs[middle:], pairs[:middle]))
    return nw.when(is_value(values, pairs[middle][0], or_above=True)).then(above).otherwise(below)


def tried(values: nw.Expr, pairs: Sequence[tuple[Any, int]], unknown: nw.Expr | None) -> nw.Expr:
    """By blocks of public values; without ``unknown`` all values are known to be among these."""
    step = max(1, -(-len(pairs) // _BLOCK))
    blocks = [pairs[start : start + step] for start in range(0, len(pairs), step)]
    # Blocks of blocks, so that cases nest no deeper than the logarithm of the levels.
    code = _of_block(values, blocks.pop()) if unknown is None else unknown
    for block in reversed(blocks):
        if len(block) > 1:
            is_in = values.is_in([value for value, _ in block])
        else:
            is_in = is_value(values, block[0][0])
        code = nw.when(is_in).then(_of_block(values, block)).otherwise(code)
    return code


def _of_block(values: nw.Expr, pairs: Sequence[tuple[Any, int]]) -> nw.Expr:
    """The code of each value, all of which are among some."""
    return nw.lit(pairs[0][1]) if pairs[0][1] == pairs[-1][1] else tried(values, pairs, None)


def are_successive(edges: Sequence[float]) -> bool:
    """Whether edges are whole numbers one after the other."""
    return len(edges) > 0 and edges == list(range(int(edges[0]), int(edges[0]) + len(edges)))


def is_value(values: nw.Expr, value: Any, *, or_above: bool = False) -> nw.Expr:
    """Whether each value is a public one; engines do not agree on how infinity is written."""
    if not isinstance(value, float) or not math.isinf(value):
        is_met: nw.Expr = values >= value if or_above else values == value
        return is_met
    if value > 0:
        return values > np.finfo(float).max
    return ~values.is_null() if or_above else values < np.finfo(float).min
