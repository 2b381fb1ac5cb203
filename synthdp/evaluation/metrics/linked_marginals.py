"""What is counted of linked tables: columns, pairs of one table and across tables, numbers of children, siblings."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.table.columns.column import Column
from synthdp.table.linking.linked_rows import FamilyRows
from synthdp.table.package.joined import Joined
from synthdp.table.package.view import View
from synthdp.table.records.unit_rows import turns_of

COLUMNS, OWN, ACROSS, NUMBERS, SIBLINGS, TRANSITIONS = KINDS = (
    "columns",
    "own pairs",
    "pairs across tables",
    "numbers of children",
    "siblings",
    "transitions",
)
"""What is counted: each column, and each number of children, by itself; pairs of one table; a column and one of a table
above, or of a public table that it refers to; a column and a number of children; of a row and any other of its parent;
of a row and the next one."""

Counts: TypeAlias = NDArray[np.float64]
Names: TypeAlias = tuple[str, ...]
_Rows: TypeAlias = NDArray[np.intp] | slice

_ALL = slice(None)


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinkedMarginals:
    """The rows of one table beside those that they hang on, as metrics count them.

    Parameters
    ----------
    view
        What its columns are called, and what their codes mean.
    rows
        Its rows, after all rows below were counted.
    """

    view: View
    rows: FamilyRows

    def names(self) -> Iterator[tuple[str, Names]]:
        """The kind and the columns of everything that is counted; two tables of one description have the same."""
        if self.view.schema is None:
            return
        own, counts = self.view.table.attributes, self.view.counts
        yield from ((COLUMNS, (name,)) for name in self.view.own)
        yield from ((OWN, pair) for pair in combinations(own, 2))
        above = [name for name in self.view.above if not name.startswith("number of ")]
        yield from ((ACROSS, pair) for pair in product(above, own))
        yield from ((ACROSS, (name, each)) for name, each in product(self._joined, own) if self._source(name) != each)
        yield from ((NUMBERS, pair) for pair in product(own, counts))
        if self.view.table.parent is None or self.view.table.max_children == 1:
            return
        yield from ((SIBLINGS, pair) for pair in product(own, own))
        if self.view.table.order is not None:
            yield from ((TRANSITIONS, pair) for pair in product(own, own))

    def counts(self, kind: str, names: Names, times: NDArray[np.integer[Any]] | None = None) -> Counts:
        """Rows, or pairs of rows, in each cell of some columns; ``times`` says how often each root counts, default 1.

        Returns
        -------
        numpy.ndarray
            One axis a column.
        """
        sizes = [self.column(name).size for name in names]
        places = self._places(kind)
        cells = self._codes[names[0]][places[0]].astype(np.int64)
        for name, size in zip(names[1:], sizes[1:], strict=True):  # there is one at most
            cells = cells * size + self._codes[name][places[1]]
        weights = None if times is None else times[self.rows.roots[places[0]]]
        found = np.bincount(cells, weights=weights, minlength=int(np.prod(sizes)))
        return found.astype(np.float64).reshape(sizes)

    def _places(self, kind: str) -> tuple[_Rows, _Rows]:
        """Of each pair of columns the rows that have the one, and those that have the other."""
        if kind == SIBLINGS:
            return self._siblings
        return (self._later - 1, self._later) if kind == TRANSITIONS else (_ALL, _ALL)

    def column(self, name: str) -> Column:
        """What the codes of a column mean."""
        if name in self._joined:
            return self._joined[name].column
        assert self.view.schema is not None
        return self.view.schema[name]

    @cached_property
    def _joined(self) -> dict[str, Joined]:
        """Columns of public tables to which these rows refer, or rows above, unless they only rename the key."""
        known = {*self.view.above, *self.view.own}
        found = self.view.package.joined.items()
        return {name: each for name, each in found if each.source in known and not each.renames}

    def _source(self, name: str) -> str:
        return self._joined[name].source

    @cached_property
    def _codes(self) -> dict[str, NDArray[Any]]:
        found = self.rows.with_above()
        return found | {name: each.codes[found[each.source]] for name, each in self._joined.items()}

    @cached_property
    def _later(self) -> NDArray[np.intp]:
        """The rows of a parent but its first one."""
        return np.flatnonzero(turns_of(self.rows.parents) > 0)

    @cached_property
    def _siblings(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """All pairs of different rows of one parent, in both orders."""
        turns = turns_of(self.rows.parents)
        later = [np.flatnonzero(turns >= step) for step in range(1, int(turns.max(initial=0)) + 1)]
        none = np.empty(0, np.intp)
        ones = np.concatenate([none, *(which - step for step, which in enumerate(later, 1))])
        others = np.concatenate([none, *later])
        return np.concatenate([ones, others]), np.concatenate([others, ones])


def distance(one: Counts, other: Counts) -> float:
    """Total variation distance: half the sum of absolute differences of shares; 1 if only one of them is empty.

    >>> distance(np.array([1.0, 1.0]), np.array([30.0, 10.0])), distance(np.array([1.0]), np.array([0.0]))
    (0.25, 1.0)
    """
    sums = float(one.sum()), float(other.sum())
    if not all(sums):
        return float(any(sums))
    return 0.5 * float(np.abs(one / sums[0] - other / sums[1]).sum())
