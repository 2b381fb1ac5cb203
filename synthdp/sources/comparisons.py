"""Comparisons with public values, as expressions whose depth and size engines can take."""

import math
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

_BLOCK = 16
"""Values, or blocks of values, that are tried one after the other."""


def counted(at_least: Sequence[nw.Expr]) -> nw.Expr:
    """How many of some conditions hold, each of which implies those before it; by halving."""

    def holding(low: int, high: int) -> nw.Expr:
        if low == high:
            return nw.lit(low)
        middle = (low + high) // 2
        return nw.when(at_least[middle]).then(holding(middle + 1, high)).otherwise(holding(low, middle))

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
    code = _of_block(values, blocks.pop()) if unknown is None else unknown
    for block in reversed(blocks):
        is_in = values.is_in([value for value, _ in block]) if len(block) > 1 else is_value(values, block[0][0])
        code = nw.when(is_in).then(_of_block(values, block)).otherwise(code)
    return code


def _of_block(values: nw.Expr, pairs: Sequence[tuple[Any, int]]) -> nw.Expr:
    """The code of each value, all of which are among some."""
    return nw.lit(pairs[0][1]) if pairs[0][1] == pairs[-1][1] else tried(values, pairs, None)


def is_value(values: nw.Expr, value: Any, *, or_above: bool = False) -> nw.Expr:
    """Whether each value is a public one; engines do not agree on how infinity is written."""
    if not _is_infinite(value):
        found: nw.Expr = values >= value if or_above else values == value
        return found
    if value > 0:
        return values > np.finfo(float).max
    return ~values.is_null() if or_above else values < np.finfo(float).min


def _is_infinite(value: Any) -> bool:
    return isinstance(value, float) and math.isinf(value)
