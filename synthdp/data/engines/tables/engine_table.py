"""The sensitive table in an engine: held there until its domain is known, then counted there."""

import secrets
from typing import Self, final

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.engines.codes import code_of, lookup_of
from synthdp.data.engines.coding import coded_source
from synthdp.data.engines.engine_frame import EngineFrame
from synthdp.data.engines.engine_source import EngineSource
from synthdp.data.engines.engines import BEHIND_IBIS
from synthdp.data.engines.persons import bounded
from synthdp.data.engines.values.engine_values import EngineValues
from synthdp.data.engines.values.grid_points import form_of
from synthdp.data.records.coded_source import CodedSource
from synthdp.data.records.placed_source import PlacedSource
from synthdp.schema.columns.with_parts import with_parts
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema


@final
class EngineTable(Sensitive):
    """Rows that stay in an engine, as a release takes them; what `HeldTable` is of rows in memory.

    It shows nothing of the rows: no length, no iteration, no text; it is not pickled or copied.

    Parameters
    ----------
    frame
        The rows that are counted.
    schema
        What is declared of them.
    unit, max_rows
        The column by which persons are told apart, None if they are not, and most rows of each.
    learnt_from
        One row of each person, by which open columns are learnt; by default all rows.
    """

    __slots__ = ("_frame", "_learnt_from", "_max_rows", "_schema", "_unit", "_values")

    def __init__(
        self,
        frame: EngineFrame,
        schema: OpenSchema,
        *,
        unit: str | None,
        max_rows: int,
        learnt_from: EngineFrame | None = None,
    ) -> None:
        self._frame = frame
        self._learnt_from = learnt_from or frame
        self._schema = schema
        self._unit = unit
        self._max_rows = max_rows
        self._values: EngineValues | None = None

    @classmethod
    def from_frame(
        cls, frame: EngineFrame, schema: OpenSchema, *, unit: str | None = None, max_rows: int = 1
    ) -> Self:
        """A table whose columns an engine can read as the schema says; no row is read.

        Raises
        ------
        SchemaError
            If its columns are not the schema's, or the type of one does not say what the schema
            wants; or levels of texts, or moments of a time zone, are to be learnt where it is not
            known how the engine takes them.
        ParameterError, SourceError
            As `persons.bounded`.
        """
        schema.check_header(frame.columns, unit=unit)
        if schema.relatives is not None:
            raise SchemaError(
                f"column {schema.relatives.names[0]!r}: {frame.engine} cannot tell how far it is from another one; "
                "read the table as a file or a data frame, or remove relative_to"
            )
        schema = schema.without(unit) if unit in schema.names and unit is not None else schema
        for learnt in schema.open_columns if frame.engine in BEHIND_IBIS else ():
            held = frame.columns[learnt.name]
            if held.family == "text":
                problem = "an engine that may compare texts by a collation takes several for one when it counts them"
                raise SchemaError(
                    f"column {learnt.name!r}: {problem}; declare its levels, or read the table as a file"
                )
            if held.has_zone and form_of(learnt, held) == "unit":
                problem = "an engine whose sessions have a time zone may take moments for those of other days"
                way_out = "declare its bounds and bins, or give a view where it has no time zone"
                raise SchemaError(f"column {learnt.name!r}: {problem}; {way_out}")
        for column in with_parts(column.template for column in schema.columns):
            lookup_of(column, frame.columns[column.source])  # refuses what is not read
        if unit is None:
            return cls(frame, schema, unit=None, max_rows=1)
        missing = schema.missing_values
        key = secrets.randbits(31)  # the same, so that what is learnt from is counted
        counted, learnt_from = (
            bounded(frame, unit, schema.names, max_rows=most, missing_values=missing, key=key)
            for most in (max_rows, 1)
        )
        return cls(counted, schema, unit=unit, max_rows=max_rows, learnt_from=learnt_from)

    @property
    def unit(self) -> str | None:
        """The column by which persons are told apart; None if they are not."""
        return self._unit

    @property
    def max_rows(self) -> int:
        """Most rows of a person that are counted; 1 if persons are not told apart."""
        return self._max_rows

    def prepared(self) -> Self:
        """This table, all of whose columns the engine has read once: what it cannot read fails
        before anything is paid.

        Where all columns are closed their codes are worked out first anyway, if the engine keeps
        them.

        Raises
        ------
        SourceError
            If the engine fails; which it may at a value that it does not take for one of the
            column's type.
        """
        is_lazy = self._frame.engine in (*BEHIND_IBIS, "pyspark")
        if not self._schema.is_open and not is_lazy:
            return self
        columns = with_parts(self._schema.closed_columns)
        held = self._frame.columns
        read = {
            f"code_{i}": code_of(column, held[column.source]).max()
            for i, column in enumerate(columns)
        }
        if read:
            self._frame.collected(lambda: self._frame.rows.select(**read), "reading rows")
        self._values = self.source
        self._values.prepare()
        return self

    @property
    def source(self) -> EngineValues:
        """Exact counts of the open columns, for the kernel: those that were `prepared`, if they
        were.
        """
        if self._values is not None:
            return self._values
        columns = {column.name: column for column in self._schema.open_columns}
        is_by_unit = self._unit is not None
        return EngineValues(self._learnt_from, columns, is_by_unit=is_by_unit)

    def counted(self, schema: Schema) -> CodedSource | PlacedSource | EngineSource:
        """Exact counts by the closed schema, for the kernel; what was `prepared` is given up.

        Raises
        ------
        ParameterError
            If the schema is not what the table's own schema closes to.
        SchemaError
            If what was learnt is more than an engine compares with.
        SourceError
            If the engine fails.
        """
        if not {column.source for column in schema.columns} <= set(self._schema.names):
            raise ParameterError(
                "schema: it has columns that the table was not opened with; use its schema"
            )
        # Nothing is learnt any more. What was prepared keeps tables in the engine as long as it is
        # there.
        self._values = None
        return coded_source(self._frame, schema)
