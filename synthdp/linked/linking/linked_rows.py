"""Rows of several tables, linked by keys and bounded level by level, before anything is counted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.grid import Grid
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.codes.coded_table import CodeColumn, CodedTable
from synthdp.data.records.held_columns import HeldFrequencies
from synthdp.data.records.held_table import HeldTable, HeldTableReader
from synthdp.data.records.placed_source import PlacedSource
from synthdp.data.records.row_pieces import RowPieces
from synthdp.data.records.unit_rows import UnitRows, positions_within
from synthdp.data.records.unit_values import UnitSample, UnitValues
from synthdp.data.records.vocabulary import NO_KEY
from synthdp.linked.linking.weighted_source import CLASS, WeightedSource
from synthdp.linked.package.linked_table import LinkedTable
from synthdp.linked.package.view import TOO_MANY, LinkedView
from synthdp.privacy.values.records import MOST_ROWS
from synthdp.schema.words.headers import check_names

Ints = NDArray[np.integer[Any]]


@final
class LinkedTableReader(Sensitive):
    """Takes the rows of one table of a package in chunks, once: its columns, as they are held until
    their domain is known, and keys.

    Parameters
    ----------
    table
        What is public of it.
    hash_key
        For tests; see `UnitRows`.
    """

    __slots__ = ("_held", "_keys", "_order", "_parents", "_table")

    def __init__(self, table: LinkedTable, *, hash_key: str | None = None) -> None:
        self._table = table
        self._held = None if table.declared is None else HeldTableReader(table.declared)
        self._order = RowPieces(np.float64)
        self._keys, self._parents = (
            UnitRows(max_rows=most, missing_values=table.missing_values, key=hash_key)
            # One row a key, and a bounded number of rows a reference: these bounds are enforced
            # here, and all weights stand on them.
            for most in (1, table.max_children)
        )

    def add(self, frame: pd.DataFrame) -> None:
        """Take a chunk of rows; total on values. Raises `SchemaError` if its columns are not the
        table's.
        """
        table = self._table
        check_header(table, frame.columns)
        self._keys.add(joined_keys(frame, table.row_key, table.missing_values))
        self._parents.add(joined_keys(frame, table.parent_key, table.missing_values))
        if self._held is not None and table.declared is not None:
            self._held.add(frame[list(table.declared.names)])
            if table.order is not None:
                self._order.add(table.ranks(frame))

    def add_placeholders(self, below: "LinkedTableReader") -> None:
        """Take a root of missing values for each key that rows of a table below refer to, and no
        root has.

        Sensitivity: there is one for a key, or none, by the rows that have that key, root or not.
        So where the unit of privacy is a key with all that hangs on it, tables of neighbours are
        neighbours also with their placeholders.
        """
        ids = below._parents.ids
        # Of rows alone: a dtype may name keys that nobody has.
        numbers, names, roots = np.unique(ids.rows.joined()), ids.keys, {*self._keys.ids.keys}
        referred = (names[number] for number in numbers if number != NO_KEY)
        keys = pd.Series([key for key in referred if key not in roots], dtype=object)
        nothing = pd.Series([None] * len(keys), dtype=object)
        self._keys.add(keys)
        self._parents.add(nothing)
        if self._held is not None and self._table.declared is not None:
            self._held.add(pd.DataFrame(dict.fromkeys(self._table.declared.names, nothing)))

    def family_rows(self, parent: "FamilyRows | None") -> "FamilyRows":
        """The rows as they hang together, with those of the table above; called once.

        Kept are of roots with one key one, by the hash of that key. Of a table below: of the rows
        with one reference, one of each key, at most ``max_children``, the first ones where the
        table has an order, else a sample by the keyed hash of the reference; then each of them that
        refers to a row that is kept, once under each root that has such a row; then under one root
        one row of each key, the first one. So what is kept of a root is a function of the rows that
        hang on it and of a random key, whatever the keys of others are: no table is refused, and
        none may be empty.
        """
        table, keys = self._table, self._keys.ids.rows.joined()
        if parent is None:
            # Of several roots with one key one is kept by a keyed hash, not the first: which comes
            # first depends on others.
            rows: Ints = np.flatnonzero(self._keys.kept())
            parents: Ints = np.arange(len(rows))
        else:
            rows, parents = self._below(parent, keys if table.row_key else np.arange(len(keys)))
        held = None if self._held is None else self._held.finish().of_rows(rows)
        all_keys = self._keys.ids.keys  # a new list each time
        names = [all_keys[key] for key in keys[rows]] if table.row_key else []
        ranks = np.empty(0) if table.order is None else self._order.joined()[rows]
        return FamilyRows(table, parent, held, parents, names, ranks)

    def _below(self, parent: "FamilyRows", keys: Ints) -> tuple[Ints, Ints]:
        """Rows of a table that is not the root, and their parents' places, those of one parent
        together and in order.

        ``keys`` are the numbers of the rows' own keys, all different where these are not looked at.
        """
        table, references = self._table, self._parents.ids.rows.joined()
        order = np.zeros(len(keys)) if table.order is None else self._order.joined()
        rows: Ints = np.flatnonzero(keys != NO_KEY)
        # One row of each key under a parent before any are cut off, or copies of a row would crowd
        # others out.
        rows = rows[_firsts(references[rows], keys[rows])]
        if table.order is None:
            # Sensitivity: which copy is the first, and which rows have a key, follows from the rows
            # of one reference.
            is_first = np.zeros(len(keys), np.bool_)
            is_first[rows] = True
            rows = np.flatnonzero(self._parents.kept(is_first))
        else:
            # Stable: in the order of the file otherwise.
            rows = rows[np.lexsort((order[rows], references[rows]))]
            rows = np.sort(rows[positions_within(references[rows]) < table.max_children])
        # Only now: there are never more than may be used.
        rows, parents = parent.referred(self._parents, rows)
        firsts = _firsts(parent.roots[parents], keys[rows])
        # Again under the root: a row may refer to several rows of one family.
        rows, parents = rows[firsts], parents[firsts]
        # Stable, so that rows of one parent stay in the order of the file where no column orders
        # them.
        together = np.lexsort((order[rows], parents))
        return rows[together], parents[together]


@final
class FamilyRows(Sensitive):
    """The kept rows of one table, those of one parent together and in their order.

    Parameters
    ----------
    table
        What is public of it.
    parent
        The rows above; None of the root.
    held
        Its columns; None if it has none.
    parents
        For each row the place of its parent among the rows above.
    names
        For each row its key.
    ranks
        By what rows are ordered, if they are.
    """

    __slots__ = (
        "_held",
        "_names",
        "codes",
        "n_rows",
        "parent",
        "parents",
        "ranks",
        "roots",
        "table",
    )

    def __init__(
        self,
        table: LinkedTable,
        parent: "FamilyRows | None",
        held: HeldTable | None,
        parents: Ints,
        names: Sequence[str | bytes],
        ranks: NDArray[np.float64],
    ) -> None:
        self.table, self.parent, self.parents, self._names = table, parent, parents, names
        self.ranks = ranks
        self._held = held
        self.n_rows = len(parents)
        self.roots: Ints = np.arange(self.n_rows) if parent is None else parent.roots[parents]
        self.codes: dict[str, CodeColumn] = {}
        if not table.is_open:
            self.settle_codes(table)

    def settle_codes(self, table: LinkedTable) -> None:
        """Make codes of its columns, once, by what is declared of them or was learnt."""
        if self._held is not None and table.schema is not None:
            # Which code a value gets, also beyond the bounds, is a function of the value alone: a
            # row is in one cell of each marginal, as ever.
            coded = self._held.encode(table.schema.with_all_places())
            self.codes |= dict(zip(table.attributes, coded.columns, strict=True))
        self.table, self._held = table, None

    def values_by_root(self, hash_key: str | None) -> UnitValues | None:
        """Values of open columns, of which each root is one record; None if all is declared."""
        if self._held is None:
            return None
        root, most = self, 1
        while root.parent is not None:
            most = min(most * root.table.max_children, MOST_ROWS)
            root = root.parent
        # As bytes, of which no two keys have the same: as texts they would be read once more.
        names = np.array([repr(name).encode() for name in root._names], dtype=object)
        units = UnitRows(max_rows=most, key=hash_key)
        units.add(pd.Series(names[self.roots], dtype=object))
        return self._held.values_of(UnitSample.drawn(units, max_rows=most))

    def referred(self, references: UnitRows, rows: Ints) -> tuple[Ints, Ints]:
        """Rows of a table below, and the places of what they refer to: a row once for each, none if
        there is none.

        ``rows`` are places among ``references``; in what is found each root has them in the same
        order.
        """
        numbers: dict[str | bytes, int] = {}
        # Rows under different roots may have one key; a reference to it then is one to each of
        # them.
        groups = np.array([numbers.setdefault(name, len(numbers)) for name in self._names], np.intp)
        members, sizes = np.argsort(groups, kind="stable"), np.bincount(groups)
        of_key = np.array(
            [*(numbers.get(key, NO_KEY) for key in references.ids.keys), NO_KEY], np.intp
        )
        group = of_key[references.ids.rows.joined()[rows]]
        rows, group = rows[group >= 0], group[group >= 0]
        times, starts = sizes[group], np.cumsum(sizes) - sizes
        positions = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
        return np.repeat(rows, times), members[np.repeat(starts[group], times) + positions]

    def count(self, child: "FamilyRows") -> None:
        """Add how many rows of a table below each row has."""
        counts = np.bincount(child.parents, minlength=self.n_rows)
        self.codes[child.table.count] = counts.astype(np.min_scalar_type(child.table.max_children))

    def with_ancestors(self) -> dict[str, CodeColumn]:
        """Codes of its columns and of those of the tables above, row by row."""
        ancestors = {} if self.parent is None else self.parent.with_ancestors()
        return {name: codes[self.parents] for name, codes in ancestors.items()} | self.codes

    @property
    def sizes(self) -> Ints:
        """For each row the product of the numbers of children on its way up: its siblings, its
        parent's ...

        At each step it is cut at `TOO_MANY`, of which a row counts nothing: it must never grow out
        of its integers, and wrap around to a small one.
        """
        if self.parent is None:
            return np.ones(self.n_rows, np.int64)
        siblings = np.bincount(self.parents, minlength=self.parent.n_rows)
        # A row of a family with three rows at each of two steps weighs a ninth; all rows of a
        # family together weigh what one record would.
        sizes: Ints = np.minimum(siblings * self.parent.sizes, TOO_MANY)[self.parents]
        return sizes

    def source(self, view: LinkedView, unit: str) -> WeightedSource:
        """Exact counts of a view of the table, for the kernel, after all rows below were counted."""
        schema, positions = view.reading_schema, positions_within(self.parents)
        assert schema is not None
        rows = np.flatnonzero(positions > 0 if view.is_later else positions == 0)
        columns = {name: codes[rows] for name, codes in self.with_ancestors().items()}
        # How many rows its parent has is a function of the row's family, as its position is.
        counts = np.bincount(self.parents, minlength=1)[self.parents[rows]]
        columns |= view.sibling_codes(self.codes, rows, positions[rows], counts)
        columns |= view.repeated_codes(columns)
        if view.gaps is not None:
            columns[view.gaps.name] = view.gaps.codes(self.ranks, rows)
        sizes = (
            np.ones(self.n_rows, np.int64)
            if self.parent is None
            else self.parent.sizes[self.parents]
        )
        if view.is_later:
            assert self.parent is not None
            # Later rows share their parent's weight among themselves: the first has a view of its
            # own.
            sizes *= np.bincount(self.parents, minlength=self.parent.n_rows)[self.parents] - 1
        classes = view.class_of(sizes[rows]).astype(np.min_scalar_type(len(view.sizes)))
        domain = Domain((*schema.names, CLASS), (*schema.domain.shape, len(view.sizes)))
        coded = CodedTable(domain, (*(columns[name] for name in schema.names), classes))
        declared = Domain(
            domain.attributes, (*schema.without_unread_places().domain.shape, len(view.sizes))
        )
        return WeightedSource(
            PlacedSource(coded, declared), view.weights, unit=unit, max_rows=view.grid
        )


@final
class FamilyValues(Sensitive):
    """Exact counts of single open columns, of which each root is a record. Only the privacy kernel
    may ask it.

    It is to the kernel what one table of the roots would be, whose columns are called
    ``table.column``: a root is in one cell of a histogram, or in none, or shares itself out. It may
    have several levels, and counts for all of them.

    Parameters
    ----------
    tables
        Counts of the open columns of each table that has some.
    """

    __slots__ = ("_tables",)

    is_by_unit: ClassVar[bool] = True

    def __init__(self, tables: Mapping[str, UnitValues]) -> None:
        self._tables = dict(tables)

    def histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """As that of `UnitValues`."""
        values, own = self._of(grid)
        return values.histogram(own, starts)

    def shared_histogram(self, grid: Grid, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """As that of `UnitValues`."""
        values, own = self._of(grid)
        return values.shared_histogram(own, starts)

    def most_values(self, grid: Grid) -> int:
        """As that of `UnitValues`."""
        values, own = self._of(grid)
        return values.most_values(own)

    def frequencies(self, grid: Grid) -> HeldFrequencies:
        """As those of `UnitValues`."""
        values, own = self._of(grid)
        return values.frequencies(own)

    def _of(self, grid: Grid) -> tuple[UnitValues, Grid]:
        table, _, column = grid.column.partition(".")  # no table has a dot in its name
        return self._tables[table], replace(grid, column=column)


@final
class LinkedRows(Sensitive):
    """The rows of all tables as they hang together, until their domain is known.

    Parameters
    ----------
    tables
        What is public of them, parents before children.
    readers
        Of each table the reader, which has taken all rows.
    unit
        What tells units of privacy apart.
    hash_key
        For tests; see `UnitRows`.
    """

    __slots__ = ("_families", "_hash_key", "_unit")

    def __init__(
        self,
        tables: Iterable[LinkedTable],
        readers: Mapping[str, LinkedTableReader],
        unit: str,
        *,
        hash_key: str | None = None,
    ) -> None:
        self._families = linked_rows(tables, readers)
        self._unit, self._hash_key = unit, hash_key

    @property
    def values(self) -> FamilyValues:
        """Exact counts of the values of open columns, for the kernel."""
        tables = {
            name: rows.values_by_root(self._hash_key) for name, rows in self._families.items()
        }
        return FamilyValues({name: each for name, each in tables.items() if each is not None})

    def counted(self, views: Mapping[str, LinkedView]) -> dict[str, WeightedSource]:
        """Exact counts of each view that has something to draw, by what it is called; total, as
        reading is.
        """
        for view in views.values():
            self._families[view.name].settle_codes(view.table)
        return {
            label: self._families[view.name].source(view, self._unit)
            for label, view in views.items()
            if view.schema is not None
        }


def linked_rows(
    tables: Iterable[LinkedTable], readers: Mapping[str, LinkedTableReader]
) -> dict[str, FamilyRows]:
    """The rows of tables as they hang together, parents before children."""
    families: dict[str, FamilyRows] = {}
    tables = list(tables)
    for table in tables:
        if table.has_orphans and table.parent is not None:
            readers[table.parent].add_placeholders(readers[table.name])
    for table in tables:
        parent = None if table.parent is None else families[table.parent]
        families[table.name] = readers[table.name].family_rows(parent)
        if parent is not None:
            parent.count(families[table.name])
    return families


def check_header(table: LinkedTable, names: Sequence[str]) -> None:
    """Raise `SchemaError` unless a table's header holds the names of its fields, each once, in any
    order.
    """
    made_up = () if table.schema is None else table.schema.generated.names
    allowed, besides = (
        [name for name in table.fields if name not in made_up],
        (*made_up, *table.ignored),
    )
    check_names(tuple(names), allowed, besides=besides, of=table.name)


def joined_keys(frame: pd.DataFrame, names: Sequence[str], missing: Sequence[str]) -> pd.Series:
    """The keys of rows: the values of one column, or one text for those of several that no others
    have.
    """
    if len(names) == 1:
        return frame[names[0]]
    whole: list[str | None] = ["" if names else None] * len(frame)
    for name in names:
        ids = UnitRows(max_rows=1, missing_values=missing)
        ids.add(frame[name])
        # Lengths first, so that ("a", "bc") and ("ab", "c") are two keys.
        texts = [*(f"{len(text)}:{text}" for text in map(repr, ids.ids.keys)), None]
        parts = (texts[row] for row in ids.ids.rows.joined())
        whole = [
            None if one is None or part is None else one + part
            for one, part in zip(whole, parts, strict=True)
        ]
    return pd.Series(whole, dtype=object)


def _firsts(groups: Ints, keys: Ints) -> NDArray[np.intp]:
    """Places of the first row of each key in each group, in their order."""
    order = np.lexsort((keys, groups))  # stable
    groups, keys = groups[order], keys[order]
    is_new = np.append(True, (groups[1:] != groups[:-1]) | (keys[1:] != keys[:-1]))[: len(order)]
    return np.sort(order[is_new])
