"""Sums of tables over some of their axes, and products along others, quickly wherever these axes
lie.

numpy sums over scattered short axes at a fraction of the speed of memory: its innermost loop is as
short as the last axis. Here neighbouring axes of one kind are taken together, and one such run is
summed at a time, the longest first: as a product with a vector of ones, as a product with a small
matrix where few cells lie behind the run, or by numpy where many do.
"""

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import TypeAlias

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.inference.arrays import Array, Axes

_MIN_CELLS = 500
"""Smaller tables are summed by numpy before a plan is found."""
_FEW = 8
"""Cells behind a run up to which a product with a matrix, which does as many times too much, is
quicker.
"""
_MAX_PLANS = 1 << 14
"""Plans kept, at some hundred bytes each: a model has some for each of its cliques."""

_MIN_WIDENED, _LONG, _SMALLER = 4096, 64, 4
"""Cells from which widening pays, cells that a loop should have, and how much smaller a widened
table stays.
"""

_Step: TypeAlias = Callable[[Array], Array]


def summed(table: Array, axes: Axes) -> Array:
    """The sums over some axes; the table itself if there are none.

    Parameters
    ----------
    table
        Any table; where its axes do not lie in memory in their order, numpy sums it.
    axes
        Distinct positions of axes, ascending.
    """
    if not axes:
        return table
    # Below that, finding the plan takes longer than the sum.
    if table.size < _MIN_CELLS or not table.flags.c_contiguous:
        return np.asarray(np.add.reduce(table, axis=axes))
    # numpy sums scattered small axes 5 to 10 times as slowly as one run of neighbouring axes after
    # the other.
    steps, shape = _plan(table.shape, axes)
    for step in steps:
        table = step(table)
    return table.reshape(shape)


def widened(message: Array, shape: tuple[int, ...]) -> Array:
    """A table that broadcasts to a shape, spread over the last axes where that makes broadcasting
    quick.

    Beside a table whose axes it lacks here and there, numpy's innermost loop is as short as the
    last axis; with the last axes in full it is as long as all of them. Nothing is spread that would
    then be large itself.

    Parameters
    ----------
    message
        One axis for each of the shape's; where one is neither of its size nor of 1, nothing is
        spread.
    shape
        Of a table to be combined with it cell by cell.
    """
    n_cells = prod(shape)
    if n_cells < _MIN_WIDENED or any(
        own not in (1, size) for own, size in zip(message.shape, shape, strict=True)
    ):
        return message
    run = 1
    axis = len(shape)
    while axis > 0 and run < _LONG:
        axis -= 1
        run *= shape[axis]
    wide = message.shape[:axis] + shape[axis:]
    if wide == message.shape or prod(wide) * _SMALLER > n_cells:
        return message
    return np.ascontiguousarray(np.broadcast_to(message, wide))


def marginal_inside(table: Array, larger: Clique, clique: Clique) -> Array:
    """The marginal of a clique inside a larger one, both in the order of the domain, from the
    larger one's table.
    """
    return summed(table, tuple(axis for axis, name in enumerate(larger) if name not in clique))


@lru_cache(_MAX_PLANS)
def _plan(shape: tuple[int, ...], axes: Axes) -> tuple[list[_Step], tuple[int, ...]]:
    """The steps to the sums, and the shape of the result."""
    runs: list[tuple[bool, int]] = []
    for axis, size in enumerate(shape):
        is_summed = axis in axes
        before = runs.pop()[1] if runs and runs[-1][0] == is_summed else 1
        runs.append((is_summed, before * size))
    steps = []
    # The longest run first: all later ones then go over the smallest table.
    while any(is_summed for is_summed, _ in runs):
        _, place = max((size, i) for i, (is_summed, size) in enumerate(runs) if is_summed)
        outer, inner = (
            prod(size for _, size in part) for part in (runs[:place], runs[place + 1 :])
        )
        steps.append(_step(outer, runs[place][1], inner))
        # What was kept on either side comes together.
        joined = [part for part in (runs[:place], runs[place + 1 :]) if part]
        if len(joined) == 2:
            middle = (False, joined[0][-1][1] * joined[1][0][1])
            runs = [*joined[0][:-1], middle, *joined[1][1:]]
        else:
            runs = joined[0] if joined else []
    return steps, tuple(size for axis, size in enumerate(shape) if axis not in axes)


def _step(outer: int, run: int, inner: int) -> _Step:
    """How to sum over the middle axis of a table with three."""
    # A product with ones is a sum, at the speed of the matrix library.
    ones = np.ones(run)
    if inner == 1:
        return lambda table: np.matmul(table.reshape(outer, run), ones)
    if outer == 1:
        return lambda table: np.matmul(ones, table.reshape(run, inner))
    if inner <= _FEW:
        # Short rows behind the summed axis: a product that does `inner` times too much is still
        # quicker than a loop over runs of a few cells.
        spread = np.tile(np.eye(inner), (run, 1))
        return lambda table: np.matmul(table.reshape(outer, run * inner), spread)
    return lambda table: np.asarray(np.add.reduce(table.reshape(outer, run, inner), axis=1))
