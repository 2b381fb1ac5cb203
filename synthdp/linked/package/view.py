"""Views: rows of one table of a package beside what they hang on, as one table of records that can
be counted.

Each table has two, but the root and tables of one child a parent: of the first rows of all parents,
and of later rows. A view has these columns:

- *ancestors*: of each table that it hangs on, the root first, its columns and its numbers of
  children;
- *siblings*, in a view of later rows: the table's own columns of another row of the same parent: of
  the row before, if rows are ordered, else of the parent's first one; of ordered rows, which
  position they have and how far they are from the row before; and of columns of many levels whether
  the row repeats its sibling's;
- *own*: the table's own columns, and the number of its children in each table that hangs on it.

So a row is drawn by completing what its ancestors and siblings are with its own columns.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm, prod
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import SchemaError
from synthdp.core.measurement import FloatArray
from synthdp.linked.package.gaps import Gaps
from synthdp.linked.package.linked_table import LinkedTable, refuse_package
from synthdp.linked.package.package import Package
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view_rules import check_rules, rules_of
from synthdp.schema.columns.column import DEFAULT_MISSING_VALUES, Column
from synthdp.schema.schema import Schema

CodeColumn = NDArray[np.integer[Any]]
Ints = NDArray[np.integer[Any]]

MAX_GRID = 2**14
"""Units of weight of a family, where the least common multiple of all numbers of children is
larger: a row counts a whole number of them, and with so many what is lost by rounding down is below
the noise.
"""

TOO_MANY = MAX_GRID + 1
"""Stands for all larger products of numbers of children: one part of so many is less than a unit,
and counts nothing. Products are cut there at each step, for those of all steps can be beyond any
integer of a machine.
"""

MAX_POSITIONS = 8
"""Positions of ordered rows that are kept apart. Where a parent may have more rows, they are parts
of its way from the first row to the last one: time goes on all the way, however long that is.
"""

REPEATED = "repeated "
"""Before the name of a column: whether a row has the level that its sibling has."""

FEWEST_LEVELS, MOST_LEVELS = 32, 256
"""Levels of columns of which views say whether a row repeats its sibling's: with fewer their pair
can be measured as it is, with more its table would be too large to draw from.

At epsilon 3 a column of 20 levels, 92 % of them repeated, gains nothing, one of 40 does.
"""

GAP = "gap before "
"""Before the name of the column that orders rows: how far a row is from the one before."""

LATER = "later "
"""Before the name of a table: the view of all rows of a parent but the first."""


@final
@dataclass(frozen=True)
class LinkedView:
    """What is asked of some rows of one table of a package."""

    package: Package
    """The package."""
    table: LinkedTable
    """The table."""
    is_later: bool = False
    """Whether it is of all rows of a parent but the first; else it is of the first ones."""
    heaviest: int = MAX_GRID
    """Units that a row counts at most. With fewer than `grid` rows of small families weigh alike, as
    they do in all that is said of rows, and such families count less than they might.
    """

    @property
    def name(self) -> str:
        """The name of its table."""
        return self.table.name

    @property
    def label(self) -> str:
        """What the view is called."""
        return f"{LATER}{self.name}" if self.is_later else self.name

    @cached_property
    def counts(self) -> tuple[str, ...]:
        """Its numbers of children."""
        return tuple(child.count for child in self.package.children(self.name))

    @cached_property
    def drawn(self) -> tuple[str, ...]:
        """Attributes that are drawn: those of the table, and its numbers of children."""
        return (*self.table.attributes, *self.counts)

    @cached_property
    def siblings(self) -> dict[str, str]:
        """Attributes of the sibling, each with the attribute of the table that it is."""
        return {OTHER + name: name for name in self._beside}

    @cached_property
    def repeats(self) -> dict[str, str]:
        """Attributes that say whether a row has the level of its sibling, each with the attribute
        of the table that it is about: one of many levels in no order.
        """
        return {
            REPEATED + name: name
            for name, column in self._beside.items()
            if column.axis is None and FEWEST_LEVELS <= column.size <= MOST_LEVELS
        }

    @cached_property
    def gaps(self) -> Gaps | None:
        """In a view of ordered later rows how far they are from the row before, if bins of the column
        of order do not say it.
        """
        column = self.ordered_by
        if column is None or column.axis is None:
            return None
        return Gaps.along(column.axis, f"{GAP}{self.name}.{column.name}")

    @property
    def gap(self) -> str | None:
        """The attribute that says it."""
        return None if self.gaps is None else self.gaps.name

    @property
    def comparing(self) -> frozenset[str]:
        """Attributes that say of a row and its sibling what follows from both."""
        return frozenset([*self.repeats, *([] if self.gap is None else [self.gap])])

    @property
    def _beside(self) -> dict[str, Column]:
        """The table's own columns by their attributes, if rows of the view have a sibling."""
        schema = self.table.schema if self.is_later else None
        columns = () if schema is None else schema.table_columns
        return {f"{self.name}.{column.name}": column for column in columns}

    @cached_property
    def position(self) -> str | None:
        """In a view of ordered later rows the attribute that says how many rows come before, if it
        can be several.
        """
        has_positions = self.is_later and self.table.order is not None and self._n_positions > 1
        return f"place among {self.name}" if has_positions else None

    def position_codes(self, positions: Ints, counts: Ints) -> CodeColumn:
        """Codes of `position` of rows before which so many come, at least one, of so many of their
        parent.
        """
        most = self._n_positions
        is_apart = most == self.table.max_children - 1
        codes = positions - 1 if is_apart else positions.astype(np.int64) * most // counts
        return np.asarray(codes, dtype=np.min_scalar_type(most - 1))

    def places(self, positions: Ints, counts: Ints) -> FloatArray | None:
        """Where among the codes of `position` rows stand, as `position_codes` without rounding: a
        whole number in the middle of a code. None if rows have no place.
        """
        if self.position is None:
            return None
        if self._n_positions == self.table.max_children - 1:
            return np.asarray(positions - 1.0)
        return np.asarray((positions / np.maximum(counts, 1)) * self._n_positions - 0.5)

    def sibling_codes(
        self, codes: Mapping[str, CodeColumn], rows: NDArray[np.intp], positions: Ints, counts: Ints
    ) -> dict[str, CodeColumn]:
        """Codes of the positions of some rows, and of their siblings; first rows have none.

        Parameters
        ----------
        codes
            Of the table's own attributes, those of one parent together, each of shape
            ``(n_rows,)``.
        rows, positions, counts
            Which rows, how many rows of its parent come before each, and how many that has.
        """
        other = self.table.siblings(rows, positions)
        own = (
            {} if self.position is None else {self.position: self.position_codes(positions, counts)}
        )
        return own | {name: codes[source][other] for name, source in self.siblings.items()}

    def repeated_codes(self, codes: Mapping[str, CodeColumn]) -> dict[str, CodeColumn]:
        """Codes of `repeats` of rows, given those of their own columns and of their siblings'."""
        return {
            name: (codes[own] == codes[OTHER + own]).astype(np.uint8)
            for name, own in self.repeats.items()
        }

    @property
    def _n_positions(self) -> int:
        return min(self.table.max_children - 1, MAX_POSITIONS)

    @cached_property
    def ancestors(self) -> tuple[str, ...]:
        """Attributes of the tables that its own hangs on."""
        views = (LinkedView(self.package, table) for table in self.package.ancestors(self.name))
        return tuple(name for view in views for name in view.drawn)

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """The numbers of children among which a parent's weight is split, from the root to the
        table.
        """
        tables = [table for table in self.package.ancestors(self.name) if table.parent]
        return tuple(table.count for table in (*tables, *([self.table] if self.is_later else [])))

    @cached_property
    def schema(self) -> Schema | None:
        """Schema of the view, by whose names rules may be on all of its columns; None if it has
        nothing to draw.
        """
        if not self.drawn:
            return None
        tables = (*self.package.ancestors(self.name), self.table)
        fields = [field for table in tables for field in self._fields(table)]
        # First what is known when a row is drawn, then what is drawn: rules may be on both.
        siblings = [
            self._sibling_field(field) for field in fields if OTHER + field["name"] in self.siblings
        ]
        own = [field for field in fields if field["name"] in self.drawn]
        rest = [field for field in fields if field["name"] not in self.drawn]
        if self.position is not None:
            rest.append(_number(self.position, 1, self._n_positions))
        rest += [_number(name, 0, 1) for name in self.repeats]
        if self.gaps is not None:
            rest.append(_number(self.gaps.name, 0, self.gaps.size - 1))
        rules = {
            "constraints": list(
                rules_of(self.package, self.table, self.ordered_by, is_later=self.is_later)
            )
        }
        try:
            return Schema.from_dict(
                {"fields": [*rest, *siblings, *own], "missingValues": [""], "synthdp": rules}
            )
        except SchemaError as error:
            refuse_package(str(error).removeprefix("schema: "), self.name)

    @cached_property
    def reading_schema(self) -> Schema | None:
        """`schema` with places for unread values, and for those beyond bounds, in all columns that
        tables have, by which rows are counted.
        """
        if self.schema is None:
            return None
        tables = (*self.package.ancestors(self.name), self.table)
        read = {name for table in tables for name in table.attributes} | self.siblings.keys()
        return self.schema.with_all_places(read)

    def as_released(self, schema: Schema, heaviest: int = MAX_GRID) -> Self:
        """The same with the schema and the weights that a release was made with: those of earlier
        versions had other columns.
        """
        view = replace(self, heaviest=heaviest)
        vars(view)["schema"] = schema
        return view

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """For each class of rows how many units a row counts; see `sizes`. Those of a family sum to
        `grid` at most.
        """
        return tuple(min(self.grid // size, self.heaviest) for size in self.sizes)

    def levelled(self, size: float) -> Self:
        """The same, with rows that weigh alike in families of up to so many."""
        return replace(self, heaviest=max(int(self.grid / size), 1))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Products of numbers of children that a row can have on its way up: what each row counts
        one part of.

        Those that weigh the same are one class, with the least of them: up to the next one rows are
        of it.
        """
        reachable = np.ones(1, np.int64)
        for most in self._bounds:
            # Which products can occur at all: a sieve, step by step from the root.
            is_reachable = np.zeros(TOO_MANY + 1, np.bool_)
            for number in range(1, most + 1):
                is_reachable[np.minimum(reachable * number, TOO_MANY)] = True
            reachable = np.flatnonzero(is_reachable)
        # Sizes that weigh the same number of whole units are one class, so there are few of them.
        _, least = np.unique(-(self.grid // reachable), return_index=True)
        return tuple(reachable[least].tolist())

    def class_of(self, sizes: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
        """Places in `sizes` and `weights` of rows that are one part of so many, at least 1."""
        return np.asarray(np.searchsorted(self.sizes, sizes, side="right") - 1, np.intp)

    @cached_property
    def grid(self) -> int:
        """Units of weight of a whole family: so many times one record is what it can change in any
        cell.
        """
        # A grid on which every fraction 1/size is a whole number; where it would be huge, weights
        # are rounded down instead, which never passes the bound.
        exact = prod(lcm(*range(1, most + 1)) for most in self._bounds)
        return exact if exact <= MAX_GRID else MAX_GRID

    @property
    def _bounds(self) -> list[int]:
        """Most rows, among which a parent's weight is split, at each step from the root to the
        table.
        """
        steps = [table.max_children for table in self.package.ancestors(self.name) if table.parent]
        return [*steps, self.table.max_children - 1] if self.is_later else steps

    def _fields(self, table: LinkedTable) -> Iterator[dict[str, Any]]:
        """The fields of a table as they are called in views."""
        if table.schema is not None:
            for column in table.schema.table_columns:
                yield {
                    **column.field(),
                    "name": f"{table.name}.{column.name}",
                    "missingValues": list(column.missing_values or DEFAULT_MISSING_VALUES),
                }
        for child in self.package.children(table.name):
            yield _number(child.count, 0, child.max_children)

    def _sibling_field(self, field: Mapping[str, Any]) -> dict[str, Any]:
        """A field of the sibling: the same, but a date has no parts."""
        own = {key: value for key, value in field.get("synthdp", {}).items() if key != "parts"}
        sibling = {**field, "name": OTHER + field["name"], "synthdp": own}
        return sibling if own else {key: sibling[key] for key in field if key != "synthdp"}

    @property
    def ordered_by(self) -> Column | None:
        """The column by which rows of one parent are ordered, if there is one and they can be
        several.
        """
        order = self.table.order
        return None if order is None else self._beside.get(f"{self.name}.{order}")


def _number(name: str, least: int, most: int) -> dict[str, Any]:
    """A field of whole numbers, each a level."""
    bounds = {"minimum": least, "maximum": most, "required": True}
    return {
        "name": name,
        "type": "integer",
        "constraints": bounds,
        "synthdp": {"bins": most - least + 1},
    }


def views_of(package: Package) -> dict[str, LinkedView]:
    """The views of all tables by what they are called, parents before children, first rows before
    later ones.

    Raises
    ------
    SchemaError
        If a rule names no column, or columns that no row has together, or does not fit them; or a
        table is called as the later rows of another one are.
    """
    views: dict[str, LinkedView] = {}
    for table in package.tables:
        for is_later in (False, True) if table.max_children > 1 else (False,):
            view = LinkedView(package, table, is_later=is_later)
            if view.label in views:
                above = view.label.removeprefix(LATER)
                refuse_package(f"later rows of {above!r} are called so, too; rename it", view.label)
            views[view.label] = view
    check_rules(package)
    # A view whose rules do not fit is refused now, before anything is paid for.
    _ = [view.schema for view in views.values()]
    return views
