"""Families that a caller gives to be completed: rows of the root, and of tables below it, linked by
their keys.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.records.unit_rows import UnitRows, positions_within
from synthdp.linked.families.fitted_view import FittedView
from synthdp.linked.linking.linked_rows import joined_keys
from synthdp.linked.package.linked_table import LinkedTable
from synthdp.linked.package.package import Package
from synthdp.release.drawing.given_rows import GivenRows, given_rows
from synthdp.schema.words.headers import listed

Ints = NDArray[np.intp]


@final
@dataclass(frozen=True, eq=False, repr=False)
class GivenTable:
    """Rows of one table that are given, those of one parent together and in their order."""

    table: LinkedTable
    """What is public of the table."""
    frame: pd.DataFrame
    """Its rows by some columns; below the root by the keys of their parents, and by what orders
    them.
    """
    parents: Ints
    positions: Ints
    """For each row the place of its parent among the rows given above, and how many rows of that
    come before it.
    """

    @classmethod
    def below(cls, table: LinkedTable, given: Any, above_rows: Self, parent: LinkedTable) -> Self:
        """Rows of a table below given rows; raises `ParameterError` if one does not belong to one
        of these.
        """
        frame = _frame(given, table)
        # Rows come in their order, so that it has to be known before anything is drawn of them.
        needed = [*table.parent_key, *([] if table.order is None else [table.order])]
        if lacking := [name for name in needed if name not in frame.columns]:
            raise ParameterError(
                f"given: rows of {table.name!r} lack {lacking[0]!r}; give {listed(needed)}"
            )
        if lacking := [name for name in parent.key if name not in above_rows.frame.columns]:
            raise ParameterError(
                f"given: {table.name!r} refers to {parent.name!r}, whose rows lack {lacking[0]!r}; give their keys"
            )
        missing = table.missing_values
        keys = joined_keys(above_rows.frame, parent.key, missing)
        references = joined_keys(frame, table.parent_key, missing)
        parents = referred_rows(keys, references, missing)
        if (parents < 0).any():
            row = f"row {int(np.flatnonzero(parents < 0)[0])} (from 0) of {table.name!r}"
            raise ParameterError(
                f"given: {row} refers to no given row of {parent.name!r}; give that, or leave it out"
            )
        rows = np.lexsort((table.ranks(frame), parents))  # stable: as they are given otherwise
        positions = positions_within(parents[rows])
        if positions.max(initial=0) >= table.max_children:
            problem = f"a row of {parent.name!r} has {positions.max() + 1} rows of {table.name!r}"
            raise ParameterError(
                f"given: {problem}, and max_children is {table.max_children}; give it fewer"
            )
        return cls(table, frame.iloc[rows].reset_index(drop=True), parents[rows], positions)

    def partial(self) -> GivenRows | None:
        """Its own columns as far as they are given; None if the table has nothing but keys.

        Raises
        ------
        ParameterError, SchemaError
            If a cell holds what the schema does not know, or one by which rows are ordered is
            empty.
        """
        schema = self.table.schema
        if schema is None:
            return None
        names = [column.name for column in schema.table_columns]
        own = self.frame[[name for name in names if name in self.frame.columns]]
        if not len(own.columns):
            return GivenRows(own, schema, {})
        try:
            rows = given_rows(own, schema)
        except SchemaError as error:
            raise SchemaError(f"{error} (rows of {self.table.name!r})") from None
        if self.table.order is not None and not rows.known[self.table.order].all():
            problem = f"column {self.table.order!r} of {self.table.name!r} has an empty cell"
            raise ParameterError(f"given: {problem}, and orders rows; fill it in")
        return rows

    def counted(self, n_above: int) -> Ints:
        """How many rows each row above has."""
        return np.bincount(self.parents, minlength=n_above)


def given_tables(package: Package, given: Any) -> dict[str, GivenTable]:
    """The rows that are given by table, the root first.

    Parameters
    ----------
    package
        The tables.
    given
        Rows of the root: a data frame, a dict of lists or a list of dicts; or a mapping with such
        rows by table.

    Raises
    ------
    ParameterError
        If a table is unknown, rows above one are not given, or rows do not belong together.
    """
    names = [table.name for table in package.tables]
    root = package.root
    # A mapping may be tables by name or columns of the root: the latter name its fields.
    by_table = isinstance(given, Mapping) and (
        isinstance(given.get(root.name), pd.DataFrame | Mapping)
        or (bool(given) and not any(name in root.fields for name in given))
    )
    tables = dict(given) if by_table else {root.name: given}
    if unknown := [name for name in tables if name not in names]:
        raise ParameterError(f"given: there is no table {unknown[0]!r}; there are {listed(names)}")
    opened: dict[str, GivenTable] = {}
    for table in package.tables:
        if table.name not in tables:
            continue
        if table.parent is None:
            frame = _frame(tables[table.name], table)
            places = np.arange(len(frame))
            opened[table.name] = GivenTable(table, frame, places, np.zeros_like(places))
        # Rows that hang on nothing given would need parents to be made up for them.
        elif table.parent not in opened:
            raise ParameterError(
                f"given: rows of {table.name!r} need those of {table.parent!r} above them; give these"
            )
        else:
            opened[table.name] = GivenTable.below(
                table, tables[table.name], opened[table.parent], package[table.parent]
            )
    return opened


def given_roots(
    package: Package, given: Mapping[str, GivenTable], fitted: FittedView
) -> pd.DataFrame:
    """Given rows of the root by the names of its view, with the numbers of rows that are given
    below, as its model has them.
    """
    root = package.root
    rows = given[package.root.name].frame
    names = [n for n in rows.columns if n not in root.keys or n in root.drawn_keys]
    frame = rows[names].rename(columns=lambda name: f"{root.name}.{name}")
    for child in package.children(root.name):
        if child.name in given:
            counts = given[child.name].counted(len(rows))
            frame[child.count] = fitted.nearest_numbers(child.count, counts)
    if not len(frame.columns):
        raise ParameterError(
            f"given: it has no column besides keys; give at least one of {listed(root.fields)}"
        )
    return frame


def referred_rows(keys: pd.Series, references: pd.Series, missing: tuple[str, ...]) -> Ints:
    """For each reference the place of the first row with that key, -1 if there is none."""
    both = UnitRows(max_rows=1, missing_values=missing)
    both.add(keys)
    both.add(references)
    ids = both.ids.rows.joined()
    own = ids[: len(keys)]
    others = ids[len(keys) :]
    places = np.full(len(both.ids.keys) + 1, -1, np.intp)
    places[own[::-1]] = np.arange(len(own))[::-1]
    places[-1] = -1  # where there is no key
    rows: Ints = places[others]
    return rows


def _frame(given: Any, table: LinkedTable) -> pd.DataFrame:
    try:
        frame = given if isinstance(given, pd.DataFrame) else pd.DataFrame(given)
    except (ValueError, TypeError):
        problem = f"given is a {type(given).__name__}; give rows of {table.name!r} as a DataFrame"
        raise ParameterError(problem) from None
    made_up = () if table.schema is None or table.parent is None else table.schema.generated.names
    if generated := [name for name in made_up if name in frame.columns]:
        raise ParameterError(
            f"given: {generated[0]!r} of {table.name!r} is generated; leave it out"
        )
    if unknown := [name for name in frame.columns if name not in table.fields]:
        raise ParameterError(
            f"given: {table.name!r} has no column {unknown[0]!r}; it has {listed(table.fields)}"
        )
    return frame.reset_index(drop=True)
