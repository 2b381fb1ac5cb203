"""A table in an engine: its columns by name and type, and the one question that is ever asked of
its rows.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any, Literal, Self, TypeAlias, final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError, SourceError
from synthdp.data.asking.asking import Answer, asked
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.asking.stoppable import Stop
from synthdp.data.engines.engines import (
    HAVE_TIMES,
    KEEP_TABLES,
    WHITE_SPACE,
    Engine,
    behind_ibis,
    renamed,
)
from synthdp.data.frames.containers import opened

TypeFamily: TypeAlias = Literal[
    "integer", "float", "text", "boolean", "date", "datetime", "time", "other"
]
"""Types of an engine whose values are read in the same way."""

AROUND = f"^[{WHITE_SPACE}]+|[{WHITE_SPACE}]+$"
"""White space around a text, as a pattern."""

GIVEN = "_given"
"""Ends what texts are called that were not stripped, where codes are kept in a temporary table."""

_ENGINES: tuple[Engine, ...] = ("polars", "duckdb", "ibis", "pyspark")
"""The implementations of narwhals that are held to the rules of `synthdp.data.engines.codes` by
tests.
"""


OF_NANOSECONDS = (
    datetime(1677, 9, 21, 0, 12, 43, 145_225, UTC),
    datetime(2262, 4, 11, 23, 47, 16, tzinfo=UTC),
)
"""The first microsecond, and the last second, of moments that are counted in nanoseconds."""

CHANGED = (
    "the table was changed while it was counted; give a snapshot or a copy that nobody writes to"
)
"""What is wrong with a table of which scans do not agree."""

_WAY_OUT = "give one of polars, DuckDB, Ibis or PySpark, or its rows in memory"


@final
@dataclass(frozen=True)
class EngineColumn:
    """One column of a table in an engine; ``alias`` is its name there for our questions."""

    name: str
    alias: str
    dtype: Any
    engine: Engine

    @property
    def family(self) -> TypeFamily:
        """The types among which its own is."""
        dtype = self.dtype
        if dtype.is_numeric():
            return "integer" if dtype.is_integer() else "float"
        families: dict[Any, TypeFamily] = dict.fromkeys(
            (nw.String, nw.Categorical, nw.Enum), "text"
        )
        families |= {nw.Boolean: "boolean", nw.Date: "date", nw.Datetime: "datetime"}
        if self.engine in HAVE_TIMES:
            families[nw.Time] = "time"
        return next((family for kind, family in families.items() if dtype == kind), "other")

    @property
    def has_zone(self) -> bool:
        """Whether its values are moments in a time zone."""
        return self.family == "datetime" and self.dtype.time_zone is not None

    @property
    def values(self) -> nw.Expr:
        """Its values; texts without white space around them, moments in UTC where the engine can
        say so.
        """
        return nw.col(self.alias)

    @property
    def seconds_of_day(self) -> nw.Expr:
        """Whole seconds since midnight of times of day: of 24:00:00, which some engines have,
        86,400.
        """
        within = self.values.dt
        hour, minute, second = (
            part().cast(nw.Int64) for part in (within.hour, within.minute, within.second)
        )
        return (hour * 60 + minute) * 60 + second

    @property
    def is_missing(self) -> nw.Expr:
        """Whether each value is null or NaN: some engines call NaN larger than all numbers."""
        is_null = self.values.is_null()
        if self.family != "float" or self.engine == "sqlite":  # which stores NaN as null
            return is_null
        return is_null | self.values.cast(nw.Float64).is_nan()

    @property
    def whole_numbers(self) -> range:
        """All values of its type, if that is one of whole numbers: engines compare it with no
        others.
        """
        bits = int("".join(filter(str.isdigit, str(self.dtype))))
        if self.dtype.is_signed_integer():
            return range(-(2 ** (bits - 1)), 2 ** (bits - 1))
        return range(2**bits)

    def moment(self, seconds: int) -> date | None:
        """The first value of its type at or after some seconds since 1970, as far as Python has it;
        else None.
        """
        try:
            if self.family == "date":
                return date(1970, 1, 1) + timedelta(days=-(-seconds // 86_400))
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        except OverflowError:
            return None
        first, last = OF_NANOSECONDS if self.dtype.time_unit == "ns" else (moment, moment)
        if moment > last:
            return None
        return max(moment, first).replace(tzinfo=UTC if self.has_zone else None)

    def prepared(self, given: nw.Expr) -> nw.Expr:
        """What `values` are of the values that were given."""
        is_polars = self.engine == "polars"
        if self.has_zone and is_polars:
            return given.dt.convert_time_zone("UTC")
        if self.family != "text" or self.engine == "sqlite":  # of which `renamed` has taken care
            return given
        # Which in Spark have no collation: they are compared by their bytes.
        texts = given.cast(nw.String)
        # DuckDB's own trim takes 9 times as long as a pattern
        return (
            texts.str.strip_chars(WHITE_SPACE) if is_polars else texts.str.replace_all(AROUND, "")
        )


@final
@dataclass(frozen=True, repr=False)
class EngineFrame(Sensitive):
    """A table that stays where it is: a query, its columns, and the name of its engine."""

    given: nw.LazyFrame[Any]
    """The query as it was given."""
    rows: nw.LazyFrame[Any]
    """The rows of it that are counted; columns are called as the ``alias`` of ``columns`` says."""
    columns: Mapping[str, EngineColumn]
    """By name."""
    engine: Engine
    """What holds the table."""
    writing: Callable[[], AbstractContextManager[None]] = nullcontext
    """Within it the engine may make a temporary table, if it lets its user."""
    stop: Stop | None = None
    """Ends its query early, if it is in DuckDB, which does not hear of Ctrl-C while it works in
    several threads.
    """

    @classmethod
    def from_native(cls, native: Any) -> Self:
        """A query or table of DuckDB, Ibis, PySpark, or a lazy one of polars.

        Raises
        ------
        ParameterError
            If it is of another library.
        SourceError
            If the engine cannot say which columns there are.
        """
        lazy = nw.from_native(native)
        assert isinstance(lazy, nw.LazyFrame)
        library = lazy.implementation.name.lower()
        # Only engines that tests hold to the codec: of another one nobody knows how it compares
        # texts or rounds.
        engine = next((each for each in _ENGINES if each == library.removesuffix("_connect")), None)
        if engine is None:
            raise ParameterError(f"data is a lazy table of {library}; {_WAY_OUT}")
        if engine == "ibis":
            engine, native = asked(engine, "finding the engine", lambda: behind_ibis(native))
        types = asked(
            engine,
            "reading the types of columns",
            lambda: dict(nw.from_native(native).collect_schema()),
        )
        types |= {
            # An Enum's levels are part of the type, and may have been read off the rows: no error
            # must name them.
            name: nw.Categorical()
            for name in types
            if types[name] == nw.Enum
        }  # whose levels may be the rows'
        # `renamed` asks Postgres for moments in UTC
        types |= {
            name: nw.Datetime()
            for name in types
            if engine == "postgres" and types[name] == nw.Datetime
        }
        columns = {
            name: EngineColumn(name, f"column_{i}", types[name], engine)
            for i, name in enumerate(types)
        }
        texts = {name for name, column in columns.items() if column.family == "text"}
        # Names of one's own, so that no column of a user's table collides with ours or has to be
        # quoted.
        aliases = {name: column.alias for name, column in columns.items()}
        rows = asked(
            engine,
            "naming columns",
            lambda: nw.from_native(renamed(engine, native, aliases, texts=texts)),
        )
        prepared = [
            each.prepared(nw.col(each.alias)).alias(each.alias) for each in columns.values()
        ]
        if engine in KEEP_TABLES:
            prepared += [nw.col(aliases[name]).alias(aliases[name] + GIVEN) for name in texts]
        # Relations of DuckDB have it since 2.0.
        connection = getattr(nw.to_native(rows), "_con", None)
        return cls(
            lazy,
            rows.select(prepared),
            columns,
            engine,
            stop=getattr(connection, "interrupt", None),
        )

    @property
    def empty(self) -> Any:
        """A table in memory of the same types without rows: of polars, for all other engines of
        pandas.
        """
        empty = self.asked(
            "reading the types of columns", lambda: self.given.head(0).collect()
        ).to_native()
        return empty if self.engine == "polars" else opened(empty).frame

    def asked(self, what: str, question: Callable[[], Answer]) -> Answer:
        """The answer to a question about it; raises as `asking.asked`."""
        return asked(self.engine, what, question, stop=self.stop)

    def with_rows(self, rows: nw.LazyFrame[Any]) -> "EngineFrame":
        """The same columns of other rows."""
        return replace(self, rows=rows)

    def collected(self, query: Callable[[], nw.LazyFrame[Any]], what: str) -> nw.DataFrame[Any]:
        """The answer to a query about it, which engines may already refuse when it is made; raises
        as `asked`.
        """
        return self.asked(what, lambda: collected(query()))

    def counted(
        self, query: Callable[[], nw.LazyFrame[Any]], what: str
    ) -> dict[str, NDArray[np.int64]]:
        """The columns of an answer that must be whole numbers of at least 0; raises as `collected`."""
        frame = self.collected(query, what)
        return {name: self.whole_numbers(frame, name) for name in frame.columns}

    def grouped_often(
        self, tables: Sequence[Mapping[str, int]], what: str
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """How many rows there are of each combination of codes, for several lists of columns, by
        one query.

        The rows stay in the engine; what comes here has a line for each combination that occurs.

        Parameters
        ----------
        tables
            For each the columns and how many codes they have; at least one.

        Returns
        -------
        list
            For each table the cells that are not empty, numbered in C order, and their numbers of
            rows.

        Raises
        ------
        SourceError
            If the engine fails, or its answer is none.
        """
        columns = self.counted(lambda: nw.concat([*map(self._cells_of, tables, count())]), what)
        of_table, cells, n_rows = (columns[name] for name in ("of_table", "cell", "n_rows"))
        return [
            (cells[lines], n_rows[lines])
            for lines in (of_table == number for number in range(len(tables)))
        ]

    def _cells_of(self, table: Mapping[str, int], number: int) -> nw.LazyFrame[Any]:
        cell: nw.Expr = nw.lit(0).cast(nw.Int64)
        for name, size in table.items():
            cell = cell * size + nw.col(name).cast(nw.Int64)
        # One number for a combination, worked out in the engine: what comes here is cells and
        # counts, never rows.
        n_rows = nw.len().alias("n_rows")
        cells = self.rows.select(cell.alias("cell")) if table else self.rows
        counted = cells.group_by("cell").agg(n_rows) if table else cells.select(n_rows)
        return counted.select(
            nw.lit(number).cast(nw.Int64).alias("of_table"),
            (nw.col("cell") if table else nw.lit(0)).cast(nw.Int64).alias("cell"),
            nw.col("n_rows").cast(nw.Int64),
        )

    def whole_numbers(self, frame: nw.DataFrame[Any], name: str) -> NDArray[np.int64]:
        """A column of an answer that must be whole numbers; raises `SourceError` if it is not."""
        numbers = asked(self.engine, "reading counts", frame[name].to_numpy)
        # Counts that are no whole numbers would have no integer sensitivity.
        if numbers.dtype.kind not in "iu" or (numbers.size and int(numbers.min()) < 0):
            raise SourceError(
                f"{self.engine}: its counts are not whole numbers of at least 0; do not count by it"
            )
        return np.asarray(numbers, dtype=np.int64)


@final
class Total:
    """The number of rows that all scans of a table must find; of one that does not change none is
    ever refused.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine, self._n_rows = engine, -1

    def check(self, total: int) -> None:
        """Refuse a table that grows or shrinks between scans, by a `SourceError`."""
        self._n_rows = total if self._n_rows < 0 else self._n_rows
        # Two scans that count different rows are two tables, and a noise of one record's change
        # would not cover that.
        if total != self._n_rows:
            raise SourceError(f"{self._engine}: {CHANGED}")


def collected(query: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The answer to a query; polars reads files piece by piece for it."""
    if query.implementation is nw.Implementation.POLARS:
        # In pieces, so that a table larger than memory can be counted.
        return query.collect(backend="polars", engine="streaming")
    return query.collect()
