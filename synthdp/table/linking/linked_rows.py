"""Rows of several tables, linked by keys and bounded level by level, before anything is counted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.domain import Domain
from synthdp.errors import PrivacyError
from synthdp.table.headers import check_names
from synthdp.table.linking.weighted_source import CLASS, WeightedSource
from synthdp.table.package.linked_table import LinkedTable
from synthdp.table.package.view import TOO_MANY, View
from synthdp.table.records.codec import CodedTable, Codes, encode
from synthdp.table.records.placed_source import PlacedSource
from synthdp.table.records.row_pieces import RowPieces
from synthdp.table.records.unit_rows import UnitRows, turns_of
from synthdp.table.records.vocabulary import NO_KEY
from synthdp.table.sensitive import Sensitive

Ints = NDArray[np.integer[Any]]


@final
class LinkedTableReader(Sensitive):
    """Takes the rows of one table of a package in chunks, once: codes of its columns, and keys.

    Parameters
    ----------
    table
        What is public of it.
    hash_key
        For tests; see `UnitRows`.
    """

    __slots__ = ("_keys", "_order", "_parents", "_parts", "_table")

    def __init__(self, table: LinkedTable, *, hash_key: str | None = None) -> None:
        self._table = table
        self._parts: list[CodedTable] = []
        self._order = RowPieces(np.float64)
        self._keys, self._parents = (
            UnitRows(max_rows=most, missing_values=table.missing_values, key=hash_key)
            for most in (1, table.max_children)
        )

    def add(self, frame: pd.DataFrame) -> None:
        """Take a chunk of rows; total on values. Raises `SchemaError` if its columns are not the table's."""
        table, schema = self._table, self._table.schema
        check_header(table, frame.columns)
        self._keys.add(joined_keys(frame, table.row_key, table.missing_values))
        self._parents.add(joined_keys(frame, table.parent_key, table.missing_values))
        if schema is not None:
            self._parts.append(encode(frame[list(schema.types)], schema.with_unread_places()))
            if table.order is not None:
                self._order.add(table.ranks(frame))

    def above(self, parent: "FamilyRows | None") -> "FamilyRows":
        """The rows as they hang together, with those of the table above; called once.

        Kept are rows whose parent is kept, of each parent at most ``max_children``: the first ones where the table has
        an order, else a sample by the keyed hash of the parent's key; of rows of one key one: of roots by the hash of
        that key, below the first one. Each of it is a function of the rows of one root and of a random key.
        """
        table, n_rows = self._table, len(self._keys.ids.rows.joined())
        parents = np.zeros(n_rows, np.intp) if parent is None else parent.places_of(self._parents)
        keys = self._keys.ids.rows.joined() if table.row_key else np.arange(n_rows)
        kept = (parents >= 0) & (keys != NO_KEY)
        if table.row_key:
            roots = parents if parent is None else parent.roots[parents]
            if parent is not None and _any_shared(keys[kept], roots[kept]):
                _refuse_shared(table.name)
            kept &= self._keys.kept() if parent is None else _first_of(keys, kept)
        if parent is not None and table.order is None:
            kept &= self._parents.kept()
        order = self._order.joined() if table.order is not None else np.zeros(n_rows)
        rows = np.flatnonzero(kept)
        rows = rows[np.lexsort((order[rows], parents[rows]))]  # stable: in the order of the file otherwise
        if parent is not None:
            rows = rows[turns_of(parents[rows]) < table.max_children]
        else:
            parents = np.arange(n_rows)
        domain = None if table.schema is None else table.schema.with_unread_places().domain
        columns = () if domain is None else CodedTable.concatenate(domain, self._parts).columns
        known = self._keys.ids.keys  # a new list each time
        names = [known[key] for key in keys[rows]] if table.row_key else []
        return FamilyRows(table, parent, [codes[rows] for codes in columns], parents[rows], names)


@final
class FamilyRows(Sensitive):
    """The kept rows of one table, those of one parent together and in their order.

    Parameters
    ----------
    table
        What is public of it.
    parent
        The rows above; None of the root.
    columns
        Codes of its columns.
    parents
        For each row the place of its parent among the rows above.
    names
        For each row its key.
    """

    __slots__ = ("_names", "codes", "n_rows", "parent", "parents", "roots", "table")

    def __init__(
        self,
        table: LinkedTable,
        parent: "FamilyRows | None",
        columns: Sequence[Codes],
        parents: Ints,
        names: Sequence[str | bytes],
    ) -> None:
        self.table, self.parent, self.parents, self._names = table, parent, parents, names
        self.n_rows = len(parents)
        self.roots: Ints = np.arange(self.n_rows) if parent is None else parent.roots[parents]
        self.codes: dict[str, Codes] = dict(zip(table.attributes, columns, strict=True))

    def places_of(self, references: UnitRows) -> Ints:
        """For each row of a table below the place of the row that it refers to, -1 if there is none."""
        places = {name: place for place, name in enumerate(self._names)}
        found = np.array([*(places.get(key, NO_KEY) for key in references.ids.keys), NO_KEY], dtype=np.intp)
        result: Ints = found[references.ids.rows.joined()]
        return result

    def count(self, child: "FamilyRows") -> None:
        """Add how many rows of a table below each row has."""
        counts = np.bincount(child.parents, minlength=self.n_rows)
        self.codes[child.table.count] = counts.astype(np.min_scalar_type(child.table.max_children))

    def with_above(self) -> dict[str, Codes]:
        """Codes of its columns and of those of the tables above, row by row."""
        above = {} if self.parent is None else self.parent.with_above()
        return {name: codes[self.parents] for name, codes in above.items()} | self.codes

    @property
    def sizes(self) -> Ints:
        """For each row the product of the numbers of children on its way up: its siblings, its parent's ...

        At each step it is cut at `TOO_MANY`, of which a row counts nothing: it must never grow out of its integers, and
        wrap around to a small one.
        """
        if self.parent is None:
            return np.ones(self.n_rows, np.int64)
        siblings = np.bincount(self.parents, minlength=self.parent.n_rows)
        sizes: Ints = np.minimum(siblings * self.parent.sizes, TOO_MANY)[self.parents]
        return sizes

    def source(self, view: View, unit: str) -> WeightedSource:
        """Exact counts of a view of the table, for the kernel, after all rows below were counted."""
        schema, turns = view.reading_schema, turns_of(self.parents)
        assert schema is not None
        rows = np.flatnonzero(turns > 0 if view.is_later else turns == 0)
        columns = {name: codes[rows] for name, codes in self.with_above().items()}
        columns |= view.codes_beside(self.codes, rows, turns[rows])
        sizes = np.ones(self.n_rows, np.int64) if self.parent is None else self.parent.sizes[self.parents]
        if view.is_later:
            assert self.parent is not None
            sizes *= np.bincount(self.parents, minlength=self.parent.n_rows)[self.parents] - 1
        classes = view.class_of(sizes[rows]).astype(np.min_scalar_type(len(view.sizes)))
        domain = Domain((*schema.names, CLASS), (*schema.domain.shape, len(view.sizes)))
        coded = CodedTable(domain, (*(columns[name] for name in schema.names), classes))
        declared = Domain(domain.attributes, (*schema.without_unread_places().domain.shape, len(view.sizes)))
        return WeightedSource(PlacedSource(coded, declared), view.weights, unit=unit, max_rows=view.grid)


def linked_rows(tables: Iterable[LinkedTable], readers: Mapping[str, LinkedTableReader]) -> dict[str, FamilyRows]:
    """The rows of tables as they hang together, parents before children; raises as `linked_sources`."""
    families: dict[str, FamilyRows] = {}
    for table in tables:
        above = None if table.parent is None else families[table.parent]
        families[table.name] = readers[table.name].above(above)
        if above is not None:
            above.count(families[table.name])
    return families


def linked_sources(
    views: Mapping[str, View], readers: Mapping[str, LinkedTableReader], unit: str
) -> dict[str, WeightedSource]:
    """Exact counts of each view that has something to draw, by what it is called.

    Raises
    ------
    PrivacyError
        If rows of several roots have the same key, so that nobody can tell to whom rows below them belong.
    """
    families = linked_rows([view.table for view in views.values() if not view.is_later], readers)
    return {label: families[view.name].source(view, unit) for label, view in views.items() if view.schema is not None}


def check_header(table: LinkedTable, names: Sequence[str]) -> None:
    """Raise `SchemaError` unless a table's header holds the names of its fields, each once, in any order."""
    made_up = () if table.schema is None else table.schema.generated.names
    known, besides = [name for name in table.fields if name not in made_up], (*made_up, *table.ignored)
    check_names(tuple(names), known, besides=besides, of=table.name)


def joined_keys(frame: pd.DataFrame, names: Sequence[str], missing: Sequence[str]) -> pd.Series:
    """The keys of rows: the values of one column, or one text for those of several that no others have."""
    if len(names) == 1:
        return frame[names[0]]
    whole: list[str | None] = ["" if names else None] * len(frame)
    for name in names:
        ids = UnitRows(max_rows=1, missing_values=missing)
        ids.add(frame[name])
        texts = [*(f"{len(text)}:{text}" for text in map(repr, ids.ids.keys)), None]
        parts = (texts[row] for row in ids.ids.rows.joined())
        whole = [None if one is None or part is None else one + part for one, part in zip(whole, parts, strict=True)]
    return pd.Series(whole, dtype=object)


def _first_of(keys: Ints, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The first row of each key among those that are kept: rows that are not, as orphans, take nobody's place."""
    rows, found = np.flatnonzero(kept), np.zeros(len(kept), np.bool_)
    found[rows[np.unique(keys[rows], return_index=True)[1]]] = True
    return found


def _any_shared(keys: Ints, roots: Ints) -> bool:
    """Whether rows of several roots have the same key."""
    order = np.lexsort((roots, keys))
    keys, roots = keys[order], roots[order]
    return bool(((keys[1:] == keys[:-1]) & (roots[1:] != roots[:-1])).any())


def _refuse_shared(name: str) -> NoReturn:
    raise PrivacyError(
        f"table {name!r}: its primaryKey repeats among rows of different roots, so that nobody can tell whose rows "
        "hang on them; make the key unique, for instance with the key of the table above in it"
    )
