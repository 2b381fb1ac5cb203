"""Quotas: how many rows of one parent have some levels, kept to while rows are drawn by their
position.
"""

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.data.codes.coded_table import CodeColumn
from synthdp.linked.families.row_targets import Group
from synthdp.linked.package.limits import limits_of
from synthdp.linked.package.linked_table import LinkedTable

Ints = NDArray[np.intp]


@final
class Quotas:
    """What each parent's rows still may, or must, be.

    Parameters
    ----------
    table
        Whose rows are drawn.
    counts
        How many rows each parent gets: numbers with which limits can be kept to.
    """

    def __init__(self, table: LinkedTable, counts: Ints) -> None:
        self._counts = counts
        self._limits = {f"{table.name}.{limits.column}": limits for limits in limits_of(table)}
        self._met = {
            name: np.zeros((len(limits.met), len(counts)), np.intp)
            for name, limits in self._limits.items()
        }

    def groups(self, parents: Ints, position: int) -> list[Group]:
        """The rows of one position, one a parent, in groups: which rows, and for attributes which
        levels they may have.

        A row may have the levels with which the rows after it can still keep to all limits on that
        column.
        """
        if not self._limits:
            return [(np.arange(len(parents)), {})]
        allowed = [
            limits.allowed(self._met[name][:, parents], self._counts[parents], position)
            for name, limits in self._limits.items()
        ]
        # Parents that allow the same levels are drawn as one group, however many they are.
        kinds, group = np.unique(np.concatenate(allowed, axis=1), axis=0, return_inverse=True)
        ends = np.cumsum([each.shape[1] for each in allowed])[:-1]
        return [
            (
                np.flatnonzero(group.reshape(-1) == number),
                {
                    n: w
                    for n, w in zip(self._limits, np.split(kind, ends), strict=True)
                    if not w.all()
                },
            )
            for number, kind in enumerate(kinds)
        ]

    def add(self, parents: Ints, codes: Mapping[str, CodeColumn], rows: Ints) -> None:
        """Take the rows that were drawn, one a parent."""
        for name, limits in self._limits.items():
            self._met[name][:, parents] += limits.met[:, codes[name][rows]]
