"""Tables as metrics read them: level codes, and numbers and dates as they are."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.frames.plain import plain, plain_column
from synthdp.data.loading import chunks_of
from synthdp.data.records.coded_source import CodedSource
from synthdp.data.rows import header_of, opened_here
from synthdp.schema.axes.axis import Axis
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.rules import names_in
from synthdp.schema.schema import Schema
from synthdp.schema.words.headers import check_names

FloatArray = NDArray[np.float64]

BATCH_CELLS = 2**21
"""Cells of marginals that are counted at a time: 16 MiB of counts."""

MAX_SIZE = 1e100
"""Larger numbers are taken for this one, so that sums of squares stay finite, and infinite ones for
a bound.
"""


@final
@dataclass(frozen=True, eq=False, repr=False)
class ReadTable:
    """A table read by a schema."""

    schema: Schema
    """What its codes mean."""
    codes: CodedTable
    """Level codes of all attributes."""
    numbers: Mapping[str, FloatArray]
    """Of each column of numbers or dates (in seconds since 1970) the values, NaN where missing;
    shape ``(n_rows,)``.
    """
    unknown: Mapping[str, int]
    """Of each column of levels how many values are none of them."""
    coordinates: Mapping[str, Sequence[FloatArray]]
    """Of each column whose values consist of several numbers, these."""
    strays: Mapping[str, pd.Categorical]
    """Of each column of levels that has values that are none of them, their texts; no category
    where the value is a level or missing.
    """
    weights: FloatArray | None = None
    """How much each row weighs; together as much as the number of rows that, all alike, would vary
    as these do [Kish 1965]. None if rows weigh alike.
    """

    @property
    def domain(self) -> Domain:
        """Names and numbers of levels."""
        return self.codes.domain

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes.columns[0])

    @property
    def size(self) -> float:
        """The sum of all weights; of rows that weigh alike their number."""
        return float(self.n_rows if self.weights is None else self.weights.sum())

    def share(self, rows: NDArray[np.bool_]) -> float:
        """The share of some rows, by their weights."""
        return float(np.average(rows, weights=self.weights))

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The codes of one attribute."""
        return self.codes.columns[self.domain.index(name)]

    def counts(self, clique: Clique) -> NDArray[Any]:
        """Counts of one marginal, one axis an attribute; sums of weights, if rows have some."""
        return next(self.counts_of([clique]))

    def counts_of(self, cliques: Sequence[Clique]) -> Iterator[NDArray[Any]]:
        """Counts of many marginals in their order; about `BATCH_CELLS` cells are held at a time."""
        if self.weights is not None:
            yield from map(self._weighed, cliques)
            return
        for batch in batches(cliques, self.domain):
            yield from CodedSource(self.codes).counts_of(batch)

    def _weighed(self, clique: Clique) -> FloatArray:
        shape = self.domain.project(clique).shape
        # Sums of weights, which no counting of integers can give: cell by cell over all rows.
        cells = np.ravel_multi_index([self[name].astype(np.int64) for name in clique], shape)
        sums = np.bincount(cells, self.weights, self.domain.size(clique))
        return sums.astype(np.float64).reshape(shape)

    def weighed_by(self, name: str, what: str) -> Self:
        """The same without a column of weights, which rows weigh by if the table has it.

        Raises `ParameterError`, with what messages call the table, if a weight is below 0 or all
        are
        0.
        """
        weights = self.numbers.get(name)
        if weights is not None:
            # A row without a weight stands for nobody.
            weights = np.nan_to_num(weights, nan=0.0)
            if weights.min() < 0 or not weights.any():
                raise ParameterError(
                    f"{what}: weights in {name!r} are below 0, or all 0; give numbers from 0"
                )
            # Kish's effective number of rows: references by chance then know how much less such a
            # sample says than one of as many rows that weigh alike.
            weights = weights * (weights.sum() / np.square(weights).sum())
        schema = without_column(self.schema, name)
        codes = CodedTable(schema.domain, tuple(self[each] for each in schema.domain.attributes))
        numbers = {other: values for other, values in self.numbers.items() if other in schema.names}
        return replace(self, schema=schema, codes=codes, numbers=numbers, weights=weights)

    def alike(self, rng: np.random.Generator) -> Self:
        """Rows that weigh alike, drawn in proportion to weight, evenly along the table; the table
        itself if its rows weigh alike.
        """
        if self.weights is None:
            return self
        n_rows = max(round(self.size), 1)
        # Systematic sampling: one random start, and every so much weight a row. A row of weight w
        # comes w times, up to one; independent draws would add noise of their own.
        ends = np.cumsum(self.weights) * (n_rows / self.size)
        rows = np.searchsorted(ends, np.arange(n_rows) + rng.random(), side="right")
        return replace(self.take(np.minimum(rows, self.n_rows - 1)), weights=None)

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        """A table of some of the rows."""
        coordinates = {}
        for name, columns in self.coordinates.items():
            coordinates[name] = [values[rows] for values in columns]
        return replace(
            self,
            codes=CodedTable(self.domain, tuple(column[rows] for column in self.codes.columns)),
            numbers={name: values[rows] for name, values in self.numbers.items()},
            coordinates=coordinates,
            strays={name: texts[rows] for name, texts in self.strays.items()},
            weights=None if self.weights is None else self.weights[rows],
        )

    def missing_share(self, column: Column) -> float:
        """Which share of the rows has no value in a column."""
        # Schemas promise that none is missing; the records may break that.
        if column.name in self.numbers and column.required:
            return self.share(np.isnan(self.numbers[column.name]))
        return 0.0 if column.required else self.share(self[column.name] == column.missing_code)

    def unread_shares(self) -> dict[str, float]:
        """Of the columns of which values were not read, in which share of the rows."""
        shares = {}
        for column in self.schema.table_columns:
            if column.has_unread_place:
                is_unread = self[column.name] == column.unread_code
                shares[column.name] = self.share(is_unread)
        return {name: share for name, share in shares.items() if share}

    def with_places(self, names: Collection[str]) -> Self:
        """The same with places for unread values in these columns only; the others have none."""
        columns = [
            column if column.source in names else column.without_unread_place()
            for column in self.schema.columns
        ]
        schema = replace(self.schema, columns=tuple(columns))
        codes = CodedTable(schema.domain, self.codes.columns)
        return replace(self, schema=schema, codes=codes)

    @cached_property
    def ranks(self) -> dict[str, FloatArray]:
        """The ranks of each column's numbers, the mean rank for equal ones, NaN where missing."""
        ranks = {}
        for name, numbers in self.numbers.items():
            ranks[name] = pd.Series(numbers).rank().to_numpy()
        return ranks


def batches(cliques: Iterable[Clique], domain: Domain) -> Iterator[list[Clique]]:
    """Cut a list of marginals into runs of at most `BATCH_CELLS` cells, or of one marginal."""
    batch: list[Clique] = []
    n_cells = 0
    for clique in cliques:
        if batch and n_cells + domain.size(clique) > BATCH_CELLS:
            yield batch
            batch, n_cells = [], 0
        batch.append(clique)
        n_cells += domain.size(clique)
    if batch:
        yield batch


def without_column(schema: Schema, name: str) -> Schema:
    """A schema without a column, and without the rules that name it."""
    columns = tuple(each for each in schema.columns if each.source != name)
    rules = tuple(each for each in schema.rules if name not in names_in(each.text))
    return replace(schema, columns=columns, rules=rules, weight=None)


def read_table(data: object, schema: Schema, what: str, *, weight: str | None = None) -> ReadTable:
    """Read a table by a schema, with places for unread values; columns that the schema does not
    have are left out.

    Parameters
    ----------
    data
        The path of a file, or a table in memory or in partitions.
    schema
        Its columns.
    what
        What messages call the table.
    weight
        A column of weights, which the table may lack: then its rows weigh alike.

    Raises
    ------
    DataFileError, SourceError
        If a file cannot be read, or a partition.
    SchemaError
        If a column of the schema is not there.
    ParameterError
        If it is no table, or has no rows.
    """
    with opened_here(data, schema.dialect, name=what) as table:
        header = header_of(table)
        if weight is not None and weight not in header:
            schema = without_column(schema, weight)
        names = [column.name for column in schema.table_columns]
        check_header(header, names, what)
        schema = schema.with_unread_places()
        parts = [_read(chunk, schema) for chunk in chunks_of(table)]
    joined = _joined(parts, schema)
    if not joined.n_rows:
        raise ParameterError(f"{what}: it has no rows; give a table with at least one")
    return joined if weight is None else joined.weighed_by(weight, what)


def check_header(names: Sequence[object], columns: Sequence[str], what: str) -> None:
    """Raise `SchemaError` unless a table has the columns that are known, each name once and a text."""
    try:
        check_names(names, columns, besides=[str(name) for name in names])
    except SchemaError as error:
        raise SchemaError(f"{what}: {str(error).removeprefix('table: ')}") from None


def _read(frame: pd.DataFrame, schema: Schema) -> ReadTable:
    frame = plain(schema.measured(frame, plain_column), schema.types)
    numbers: dict[str, FloatArray] = {}
    codes: list[NDArray[Any]] = []
    unknown: dict[str, int] = {}
    coordinates: dict[str, Sequence[FloatArray]] = {}
    strays: dict[str, pd.Categorical] = {}
    for column in schema.columns:
        values = frame[column.source]
        if column.axis is not None:
            # Read once, for codes and for numbers: reading texts is what takes the time.
            points = column.axis.read_numbers(values)
            codes.append(column.axis.codes_of_numbers(points))
            numbers[column.name] = _finite(points, column.axis)
            continue
        codes.append(column.encode(values))
        if column.source == column.name:
            # Parts of dates are worked out of their column: what is unknown is counted there.
            is_unknown = ~column.knows(values)
            unknown[column.name] = int(is_unknown.sum())
            if is_unknown.any():
                strays[column.name] = pd.Categorical(_texts(values).where(is_unknown))
            if observed_coordinates := column.coordinates_of(values):
                coordinates[column.name] = observed_coordinates
    coded = CodedTable(schema.domain, tuple(codes))
    return ReadTable(schema, coded, numbers, unknown, coordinates, strays)


def _finite(points: FloatArray, axis: Axis) -> FloatArray:
    """Numbers where none is infinite: what is drawn cannot be beyond the bounds, so that infinite
    values are compared as the nearest bound.
    """
    first, end = axis.drawn_starts[[0, -1]]
    low, high = axis.at(np.array([first, end - 1])).astype(np.float64)
    finite = np.nan_to_num(points, nan=np.nan, posinf=high, neginf=low)
    return np.clip(finite, -MAX_SIZE, MAX_SIZE)


def _texts(values: pd.Series) -> pd.Series:
    return values.astype(object).map(lambda value: str(value).strip(), na_action="ignore")


def _joined(parts: Sequence[ReadTable], schema: Schema) -> ReadTable:
    # Most tables come in one piece, and joining copies them.
    if len(parts) == 1:
        return parts[0]
    codes = CodedTable.concatenate(schema.domain, [part.codes for part in parts])
    numbers: dict[str, FloatArray] = {}
    for column in schema.columns:
        if column.axis is not None:
            # Of no part at all, an empty array.
            of_parts = [part.numbers[column.name] for part in parts]
            numbers[column.name] = np.concatenate([np.empty(0), *of_parts])
    unknown: dict[str, int] = {}
    coordinates: dict[str, Sequence[FloatArray]] = {}
    strays: dict[str, pd.Categorical] = {}
    for name in parts[0].unknown if parts else ():
        unknown[name] = sum(part.unknown[name] for part in parts)
    for name in parts[0].coordinates if parts else ():
        by_coordinate = zip(*(part.coordinates[name] for part in parts), strict=True)
        coordinates[name] = [np.concatenate(values) for values in by_coordinate]
    for name in dict.fromkeys(chain.from_iterable(part.strays for part in parts)):
        strays[name] = union_categoricals([_strays_of(part, name) for part in parts])
    return ReadTable(schema, codes, numbers, unknown, coordinates, strays)


def _strays_of(part: ReadTable, name: str) -> pd.Categorical:
    none = pd.Categorical([None] * part.n_rows, categories=pd.Index([], dtype=object))
    return part.strays.get(name, none)
