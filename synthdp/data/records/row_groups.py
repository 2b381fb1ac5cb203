"""Groups of rows that are counted as one record each, such as those of a person."""

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.data.asking.sensitive import Sensitive


@final
class RowGroups(Sensitive):
    """Rows of which several are counted as one, whose weight their values share.

    Parameters
    ----------
    groups
        The group of each row, from 0.
    weights
        What a group of 1, 2, .. values counts for each of them: int64, for as many as a group can
        have.
    """

    __slots__ = ("_groups", "_weights")

    def __init__(self, groups: NDArray[np.integer[Any]], weights: NDArray[np.int64]) -> None:
        self._groups, self._weights = groups, weights

    def counts(self, places: NDArray[np.integer[Any]], n_places: int) -> NDArray[np.int64]:
        """How much the groups weigh at each place, of rows of which each has one or, if it is
        negative, none. A group is at a place or not, however many of its rows are there.
        """
        groups, places, _ = self._present(places, n_places)
        n_values = np.bincount(groups)
        counts = np.zeros(n_places, dtype=np.int64)
        # More values than there are weights for is an error here: a group would weigh too much.
        np.add.at(counts, places, self._weights[n_values[groups] - 1])
        return counts

    def shares(self, cells: NDArray[np.integer[Any]], n_cells: int) -> NDArray[np.int64]:
        """How much the groups weigh in each cell, of rows of which each is in one or, if it is
        negative, in none. A group weighs in proportion to its rows there.

        Sensitivity: numbers of rows are divided by the root of the sum of their squares and rounded
        down, so squares of what a group weighs in all cells add up to that of the weight of a
        single value, or less.
        """
        groups, cells, n_rows = self._present(cells, n_cells)
        squares = np.bincount(groups, np.square(n_rows)).astype(np.int64)[groups]
        whole = np.square(self._weights[0] * n_rows)
        weights = np.sqrt(whole / squares).astype(np.int64)
        weights -= np.square(weights) * squares > whole  # floating-point numbers only propose
        counts = np.zeros(n_cells, dtype=np.int64)
        np.add.at(counts, cells, weights)
        return counts

    def _present(
        self, places: NDArray[np.integer[Any]], n_places: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Each group at each place where it has rows: the group, the place, and how many rows."""
        is_there = places >= 0
        # Sorted, as numpy's own `unique` takes twenty times as long.
        at = np.sort(self._groups[is_there].astype(np.int64) * n_places + places[is_there])
        firsts = np.flatnonzero(np.diff(at, prepend=-1))
        return *np.divmod(at[firsts], n_places), np.diff(firsts, append=len(at))
