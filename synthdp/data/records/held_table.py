"""Held tables: rows read once and kept until every column's domain is known, then encoded."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_named
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.frames.plain import plain_column
from synthdp.data.records.codec import encode
from synthdp.data.records.coded_source import CodedSource
from synthdp.data.records.held_columns import HeldColumn, HeldSource, held_column
from synthdp.data.records.placed_source import PlacedSource, source_of
from synthdp.data.records.unit_rows import UnitRows
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import OpenColumn
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.data.records.unit_values import UnitSample, UnitValues

UNITS = "synthdp.data.records.unit_values"
"""Loaded by runs that learn columns of persons."""


@final
class HeldTable(Sensitive):
    """The sensitive table, read but not yet encoded where its schema is open.

    Closed columns are held as codes, open ones as numbers or as texts, each text once. It shows
    nothing of the rows: no length, no iteration, no text; it is not pickled or copied. Make one
    by `HeldTableReader`, or `loading.held_rows`.
    """

    __slots__ = ("_closed", "_coded", "_max_rows", "_open", "_sample", "_unit")

    def __init__(
        self,
        closed: Schema | None,
        coded: CodedTable,
        columns: Mapping[str, HeldColumn],
        *,
        unit: str | None,
        max_rows: int,
        sample: "UnitSample | None" = None,
    ) -> None:
        self._closed = closed
        self._coded = coded
        self._open = dict(columns)
        self._unit = unit
        self._max_rows = max_rows
        self._sample = sample

    @property
    def unit(self) -> str | None:
        """The column by which persons were told apart when the rows were read; None if they were
        not.
        """
        return self._unit

    @property
    def max_rows(self) -> int:
        """Most rows of a person that were kept; 1 if persons were not told apart."""
        return self._max_rows

    @property
    def source(self) -> "HeldSource | UnitValues":
        """Exact counts of the open columns, for the kernel: of rows, or of persons with several."""
        return HeldSource(self._open) if self._sample is None else self.values_of(self._sample)

    def values_of(self, sample: "UnitSample") -> "UnitValues":
        """Exact counts of the open columns, of which each unit is one record."""
        values: UnitValues = import_named(f"{UNITS}:UnitValues").of(self._open, sample)
        return values

    def of_rows(self, rows: NDArray[np.integer[Any]]) -> "HeldTable":
        """Some of the rows, in their order.

        It bounds nobody's rows: whoever chooses them says why neighbours' choices are neighbours.
        """
        codes = tuple(codes[rows] for codes in self._coded.columns)
        return HeldTable(
            self._closed,
            CodedTable(self._coded.domain, codes),
            {name: column.of_rows(rows) for name, column in self._open.items()},
            unit=self._unit,
            max_rows=self._max_rows,
        )

    def encode(self, schema: Schema) -> CodedTable:
        """The codes that `codec.encode` would give the rows, in the order of the schema, with or
        without unread places.

        Raises
        ------
        ParameterError
            If the schema is not what the table's own schema closes to.
        """
        return CodedTable(schema.domain, tuple(self._codes(column) for column in schema.columns))

    def counted(self, schema: Schema) -> CodedSource | PlacedSource:
        """Exact counts by the closed schema, for the kernel; raises as `encode`."""
        return source_of(self.encode(schema), schema)

    def _codes(self, column: Column) -> NDArray[Any]:
        held = self._open.get(column.source)
        if held is not None and _closes(column, held.column):
            return held.codes(column)
        placed = column.with_all_places()
        if held is None and self._closed is not None and placed in self._closed.columns:
            return column.recoded(self._coded.columns[self._closed.names.index(column.name)])
        raise ParameterError(
            f"schema: column {column.name!r} is not the one that the rows were read by; use its schema"
        )

    def __repr__(self) -> str:
        n_closed = 0 if self._closed is None else len(self._closed.table_columns)
        return f"<HeldTable of {n_closed + len(self._open)} columns>"


@final
class HeldTableReader:
    """Takes the rows of a table in chunks, once, and makes a `HeldTable` of them.

    Parameters
    ----------
    schema
        What is declared; ``unit`` may be among its columns and is left out. Columns that it
        ignores must be there and are not touched.
    unit
        Column of the ids of persons: of each person at most ``max_rows`` rows are kept, by
        `UnitRows`. The ids are kept until `finish` only.
    max_rows
        Most rows of a person.
    key
        For tests; see `UnitRows`.

    >>> reader = HeldTableReader(OpenSchema.from_kinds({"age": "integer"}))
    >>> reader.add(pd.DataFrame({"age": ["39", "50"]}))
    >>> reader.finish()
    <HeldTable of 1 columns>
    """

    __slots__ = ("_closed", "_max_rows", "_open", "_parts", "_schema", "_unit", "_units")

    def __init__(
        self,
        schema: OpenSchema,
        *,
        unit: str | None = None,
        max_rows: int = 1,
        key: str | None = None,
    ) -> None:
        self._schema = schema.without(unit) if unit in schema.names and unit is not None else schema
        closed = self._schema.closed_columns
        self._closed = Schema(closed, schema.missing_values).with_all_places() if closed else None
        self._open = {column.name: held_column(column) for column in self._schema.open_columns}
        self._parts: list[CodedTable] = []
        self._unit = unit
        self._max_rows = 1 if unit is None else max_rows
        if unit is None:
            self._units = None
        else:
            self._units = UnitRows(max_rows=max_rows, missing_values=schema.missing_values, key=key)

    def add(self, frame: pd.DataFrame) -> None:
        """Take a chunk of rows; total on values. Raises `SchemaError` if its columns are not the
        schema's.
        """
        self._schema.check_header(frame.columns, unit=self._unit)
        if self._units is not None:
            # Ids are only ever turned into numbers of persons; they are dropped at `finish`.
            self._units.add(frame[self._unit])
        frame = self._schema.measured(frame, plain_column)
        if self._closed is not None:
            self._parts.append(encode(frame[list(self._closed.table_names)], self._closed))
        for name, column in self._open.items():
            column.add(plain_column(frame[name], column.column.type))

    def finish(self) -> HeldTable:
        """The table of all rows that were taken, or of those kept of each person. Call it once."""
        domain = Domain((), ()) if self._closed is None else self._closed.domain
        coded = CodedTable.concatenate(domain, self._parts)
        sample: UnitSample | None = None
        if self._units is not None:
            # After the last row: which of a person's rows are kept is a function of all of them,
            # and of nobody else's.
            kept = self._units.kept()
            coded = CodedTable(domain, tuple(codes[kept] for codes in coded.columns))
            for column in self._open.values():
                column.rows.keep(kept)
            if self._max_rows > 1 and self._open:
                drawn = import_named(f"{UNITS}:UnitSample").drawn
                sample = drawn(self._units, max_rows=self._max_rows).among(kept)
        return HeldTable(
            self._closed,
            coded,
            self._open,
            unit=self._unit,
            max_rows=self._max_rows,
            sample=sample,
        )

    def __repr__(self) -> str:
        return "<HeldTableReader>"


def _closes(column: Column, opened: OpenColumn) -> bool:
    """Whether a closed column reads values as an open one of its name did."""
    if column.source != column.name:
        return column.source == opened.name
    # A closed column that reads values otherwise would give other codes than the rows were held by.
    return column.missing_values == opened.missing_values and column.type_name == opened.type
