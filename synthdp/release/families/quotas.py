"""Quotas: how many rows of one parent have some levels, kept to while rows are drawn turn by turn."""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.table.package.linked_table import Limit, LinkedTable
from synthdp.table.records.codec import Codes
from synthdp.table.rules.rules import levels_where

Ints = NDArray[np.intp]
Wanted = dict[str, NDArray[np.bool_]]


@final
class Quotas:
    """What each parent's rows still may, or must, be.

    Parameters
    ----------
    table
        Whose rows are drawn.
    counts
        How many rows each parent gets.
    """

    def __init__(self, table: LinkedTable, counts: Ints) -> None:
        self._table, self._counts = table, counts
        self._met = [self._levels(limit) for limit in table.limits]
        self._found = [np.zeros(len(counts), np.intp) for _ in table.limits]

    def groups(self, parents: Ints, turn: int) -> list[tuple[Ints, Wanted]]:
        """The rows of one turn, one a parent, in groups: places of rows, and for attributes which levels they may have.

        A row must have the levels of a limit if without it too few rows would, or if rows are in the order of that
        column, whose first levels they are; and may not have them if enough rows do.
        """
        if not self._met:
            return [(np.arange(len(parents)), {})]
        states = [self._state(number, parents, turn) for number in range(len(self._met))]
        kinds, group = np.unique(np.array(states), axis=1, return_inverse=True)
        return [
            (np.flatnonzero(group.reshape(-1) == number), self._wanted(kinds[:, number].tolist()))
            for number in range(kinds.shape[1])
        ]

    def add(self, parents: Ints, codes: Mapping[str, Codes], rows: Ints) -> None:
        """Take the rows that were drawn, one a parent."""
        for limit, met, found in zip(self._table.limits, self._met, self._found, strict=True):
            found[parents] += met[codes[f"{self._table.name}.{limit.column}"][rows]]

    def _levels(self, limit: Limit) -> NDArray[np.bool_]:
        assert self._table.schema is not None
        return levels_where(self._table.schema[limit.column], limit.levels)

    def _state(self, number: int, parents: Ints, turn: int) -> NDArray[np.int64]:
        """For each row 1 if it must have the levels of a limit, -1 if it may not, else 0."""
        limit, found = self._table.limits[number], self._found[number][parents]
        comes_first = limit.column == self._table.order and self._met[number][0]
        lacking = limit.at_least - found
        must = (lacking > 0) & (comes_first | (lacking >= self._counts[parents] - turn))
        enough = np.zeros(len(parents), np.bool_) if limit.at_most is None else found >= limit.at_most
        return np.where(must, 1, np.where(enough, -1, 0))

    def _wanted(self, states: Sequence[int]) -> Wanted:
        wanted: Wanted = {}
        for limit, met, state in zip(self._table.limits, self._met, states, strict=True):
            if state:
                name = f"{self._table.name}.{limit.column}"
                levels = met if state > 0 else ~met
                both = wanted.get(name, levels) & levels
                wanted[name] = both if both.any() else levels
        return wanted
