"""Limits on one column: what rows of a parent may still be, such that all limits can be kept to by
those after them.
"""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.linked.package.linked_table import LinkedTable
from synthdp.schema.rules.rules import levels_where

Ints = NDArray[np.integer[Any]]
Bools = NDArray[np.bool_]


@final
class ColumnLimits:
    """The limits of a table on one of its columns, of which any two are nested or apart.

    So what rows can be in all follows limit by limit, the inner ones first: how many rows have the
    levels of one is any number from what it needs at least to what it can have.

    Parameters
    ----------
    table
        Whose limits they are; it has a schema.
    column
        The column.
    """

    def __init__(self, table: LinkedTable, column: str) -> None:
        assert table.schema is not None
        limits = [limit for limit in table.limits if limit.column == column]
        met = np.array([levels_where(table.schema[column], limit.levels) for limit in limits])
        # Limits are nested or apart (`overlap`), so sorted by size each lies inside of the first
        # later one that it meets: a tree, and feasibility is one pass from the leaves.
        inner_first = np.argsort(met.sum(axis=1), kind="stable")
        self.column = column
        self._is_ordered = column == table.order
        self.met: Bools = met[inner_first]
        """For each limit which levels meet it, shape ``(n_limits, n_levels)``, the fewest first."""
        limits = [limits[place] for place in inner_first]
        self._least = np.array([limit.at_least for limit in limits])
        self._most = np.array(
            [np.iinfo(np.int32).max if limit.at_most is None else limit.at_most for limit in limits]
        )
        whole = np.vstack([self.met, np.ones(self.met.shape[1], np.bool_)])
        # Of each level the innermost limit that it meets; last: none.
        self._inner: Ints = whole.argmax(axis=0)
        self._outer = [
            int(whole[n + 1 :, self.met[n].argmax()].argmax()) + n + 1 for n in range(len(limits))
        ]

    @property
    def overlap(self) -> bool:
        """Whether two of them share levels and none holds the other, so that nothing here is true."""
        shared = self.met[:, None] & self.met
        smaller = np.minimum(self.met.sum(axis=1)[:, None], self.met.sum(axis=1))
        n_shared = shared.sum(axis=2)
        return bool(((n_shared > 0) & (n_shared < smaller)).any())

    def impossible(self, most: int) -> list[int]:
        """Numbers of rows of a parent, up to ``most``, that cannot keep to all limits."""
        counts = np.arange(most + 1)
        met = np.zeros((len(self.met), most + 1), np.intp)
        return np.flatnonzero(
            ~self._can_end(met, counts, counts, np.ones(self.met.shape[1], np.bool_))
        ).tolist()

    def allowed(self, met: Ints, counts: Ints, position: int) -> Bools:
        """Which levels the next row of each parent may have, shape ``(n_parents, n_levels)``.

        Parameters
        ----------
        met
            How many of its rows meet each limit so far, shape ``(n_limits, n_parents)``.
        counts
            How many rows each parent gets, more than ``position``.
        position
            How many it has.
        """
        levels = np.arange(self.met.shape[1])
        left = counts - position - 1
        result = np.empty((len(counts), len(levels)), np.bool_)
        for choice in levels if self._is_ordered else np.unique(self._inner):
            alike = levels == choice if self._is_ordered else self._inner == choice
            later = levels >= choice if self._is_ordered else np.ones(len(levels), np.bool_)
            meets = self.met[:, alike.argmax()].astype(np.intp)
            result[:, alike] = self._can_end(met + meets[:, None], counts, left, later)[:, None]
        if self._is_ordered:
            # What the order rules out is ruled out here, too, or parents that are alike would
            # differ by what each has been through.
            result &= levels > self._last_alone(met)[:, None]
        return result

    def _last_alone(self, met: Ints) -> Ints:
        """The last level that a parent may have one row of, and has; -1 if there is none."""
        is_alone = (self.met.sum(axis=1) == 1) & (self._most == 1)
        last: Ints = np.where(is_alone, self.met.argmax(axis=1), -1)
        return np.asarray(np.where(met > 0, last[:, None], -1).max(axis=0, initial=-1))

    def _can_end(self, met: Ints, counts: Ints, left: Ints, levels: Bools) -> Bools:
        """For each parent whether ``left`` more rows of some levels can make all limits hold."""
        n = len(self.met)
        least, most = np.zeros((2, n + 1, len(left)), np.int64)
        possible = np.ones(len(left), np.bool_)
        for limit in range(n + 1):
            if levels[self._inner == limit].any():
                most[limit] += left
            if limit < n:
                # A parent with fewer rows than a limit asks for has to have all of them so.
                low = np.maximum(least[limit], np.minimum(self._least[limit], counts) - met[limit])
                high = np.minimum(most[limit], self._most[limit] - met[limit])
                possible &= low <= high
                least[self._outer[limit]] += low
                # What the inner limits need and allow is a part of what the outer one does.
                most[self._outer[limit]] += high
        possible &= (least[n] <= left) & (left <= most[n])
        return possible


def limits_of(table: LinkedTable) -> list[ColumnLimits]:
    """The limits of a table by column."""
    return [
        ColumnLimits(table, column)
        for column in dict.fromkeys(limit.column for limit in table.limits)
    ]
