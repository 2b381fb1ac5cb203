"""What is counted of linked tables: columns, pairs of one table and across tables, numbers of
children, siblings.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.data.records.unit_rows import positions_within
from synthdp.linked.linking.linked_rows import FamilyRows
from synthdp.linked.package.joined import Joined
from synthdp.linked.package.view import LinkedView
from synthdp.schema.columns.column import Column

COLUMNS, OWN, ACROSS, NUMBERS, SIBLINGS, TRANSITIONS = KINDS = (
    "columns",
    "own pairs",
    "pairs across tables",
    "numbers of children",
    "siblings",
    "transitions",
)
"""What is counted: each column, and each number of children, by itself; pairs of one table; a
column and one of a table above, or of a public table that it refers to; a column and a number of
children; of a row and any other of its parent; of a row and the next one.
"""

Counts: TypeAlias = NDArray[np.float64]
Names: TypeAlias = tuple[str, ...]
_Rows: TypeAlias = NDArray[np.intp] | slice

_ALL = slice(None)

MAX_PAIRS = 2**20
"""Pairs of siblings that are counted: of a thousand rows of one parent there are a million."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class LinkedMarginals:
    """The rows of one table beside those that they hang on, as metrics count them."""

    view: LinkedView
    """What its columns are called, and what their codes mean."""
    rows: FamilyRows
    """Its rows, after all rows below were counted."""
    times: NDArray[np.intp] | None = None
    """How often each root was drawn, for counts of a sample."""
    unread: Collection[str] = frozenset()
    """The attributes of which values were not read, in these rows or in those that they are held
    against.
    """

    def names(self) -> Iterator[tuple[str, Names]]:
        """The kind and the columns of everything that is counted; two tables of one description
        have the same.
        """
        if self.view.schema is None:
            return
        own = self.view.table.attributes
        counts = self.view.counts
        yield from ((COLUMNS, (name,)) for name in self.view.drawn)
        yield from ((OWN, pair) for pair in combinations(own, 2))
        above = [name for name in self.view.ancestors if not name.startswith("number of ")]
        yield from ((ACROSS, pair) for pair in product(above, own))
        yield from (
            (ACROSS, (name, each))
            for name, each in product(self._joined, own)
            if self._source(name) != each
        )
        yield from ((NUMBERS, pair) for pair in product(own, counts))
        if self.view.table.parent is None or self.view.table.max_children == 1:
            return
        yield from ((SIBLINGS, pair) for pair in product(own, own))
        if self.view.table.order is not None:
            yield from ((TRANSITIONS, pair) for pair in product(own, own))

    def counts(self, kind: str, names: Names) -> Counts:
        """Rows, or pairs of rows, in each cell of some columns: one axis a column."""
        return self._counted(self._cells(kind, names), names)

    def counts_and_sample(self, kind: str, names: Names) -> tuple[Counts, Counts]:
        """The same, and the same of the families as often as they were drawn."""
        cells = self._cells(kind, names)
        return self._counted(cells, names), self._counted(cells, names, self._weights[kind])

    def _cells(self, kind: str, names: Names) -> NDArray[np.int64]:
        places = self._places(kind)
        cells = self._codes[names[0]][places[0]].astype(np.int64)
        for name in names[1:]:  # there is one at most
            cells *= self.column(name).size
            cells += self._codes[name][places[1]]
        return cells

    def _counted(
        self, cells: NDArray[np.int64], names: Names, weights: Counts | None = None
    ) -> Counts:
        sizes = [self.column(name).size for name in names]
        return np.bincount(cells, weights, minlength=prod(sizes)).astype(np.float64).reshape(sizes)

    @cached_property
    def _weights(self) -> dict[str, Counts]:
        """By kind how often each row, or pair of rows, is drawn with its family."""
        assert self.times is not None
        roots = self.rows.roots
        return {kind: self.times[roots[self._places(kind)[0]]].astype(np.float64) for kind in KINDS}

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
        column = self.view.schema[name]
        return column.with_unread_place() if name in self.unread else column

    @cached_property
    def _joined(self) -> dict[str, Joined]:
        """Columns of public tables to which these rows refer, or rows above, unless they only
        rename the key.
        """
        columns = {*self.view.ancestors, *self.view.drawn}
        joined = self.view.package.joined.items()
        return {name: each for name, each in joined if each.source in columns and not each.renames}

    def _source(self, name: str) -> str:
        return self._joined[name].source

    @cached_property
    def _codes(self) -> dict[str, NDArray[Any]]:
        codes = self.rows.with_ancestors()
        if self.view.schema is not None:
            # What lies beyond the bounds is in the outermost bins of what is compared.
            for column in self.view.schema.with_unread_places().columns:
                if column.name in codes:
                    codes[column.name] = column.recoded(codes[column.name])
        for name, each in self._joined.items():
            # Of a key that was not read nothing is known.
            joined_codes = np.append(each.codes, each.column.missing_code)
            codes[name] = joined_codes[codes[each.source]]
        return codes

    @cached_property
    def _later(self) -> NDArray[np.intp]:
        """The rows of a parent but its first one."""
        return np.flatnonzero(positions_within(self.rows.parents) > 0)

    @cached_property
    def _siblings(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """All pairs of different rows of one parent, in both orders; of more than `MAX_PAIRS` so
        many at random.
        """
        parents = self.rows.parents
        positions = positions_within(self.rows.parents)
        n_others = np.bincount(parents)[parents] - 1 if len(parents) else positions
        ends = np.cumsum(n_others)
        total = int(n_others.sum())
        rng = np.random.default_rng(0)
        pairs = np.arange(total) if total <= MAX_PAIRS else rng.integers(total, size=MAX_PAIRS)
        ones = np.searchsorted(ends, pairs, side="right")
        # Which of its siblings, from the first one on.
        steps = pairs - (ends[ones] - n_others[ones])
        others = ones - positions[ones] + steps + (steps >= positions[ones])
        return ones, others


def distance(one: Counts, other: Counts) -> float:
    """Total variation distance: half the sum of absolute differences of shares; 1 if only one of
    them is empty.

    >>> (
    ...     distance(np.array([1.0, 1.0]), np.array([30.0, 10.0])),
    ...     distance(np.array([1.0]), np.array([0.0])),
    ... )
    (0.25, 1.0)
    """
    sums = float(one.sum()), float(other.sum())
    if not all(sums):
        return float(any(sums))
    return 0.5 * float(np.abs(one / sums[0] - other / sums[1]).sum())
