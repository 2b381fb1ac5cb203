"""Partial records that a caller gives to be completed: read, held against the schema, and kept as
they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_list_like

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.frames.containers import is_foreign, opened
from synthdp.data.frames.partitioned_frame import partitioned
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import objects_of, texts_of
from synthdp.schema.made_up.empty_cells import Mask, empty_cells, filled_cells
from synthdp.schema.schema import Schema
from synthdp.schema.words.headers import listed
from synthdp.schema.words.with_columns import with_columns

RowNumbers = NDArray[np.intp]

_FORMS = 'give a DataFrame, a Series, a dict of lists such as {"age": [34, 71]}, or a list of dicts'


@final
@dataclass(frozen=True, eq=False, repr=False)
class GivenRows:
    """Partial records that fit the schema."""

    frame: pd.DataFrame
    """The values, with empty cells where something is to be drawn."""
    schema: Schema
    """What they mean."""
    known: Mapping[str, Mask]
    """For each column, which of its cells are not empty: shape ``(n_rows,)``."""

    @property
    def modelled(self) -> list[str]:
        """The columns that the model knows of: all but generated ones."""
        return [str(name) for name in self.frame.columns if name not in self.schema.generated.names]

    def codes(self) -> dict[str, NDArray[np.integer]]:
        """Level codes of the given columns, and of the parts of those that are dates; of empty
        cells any.
        """
        given = [column for column in self.schema.columns if column.source in self.frame.columns]
        return {column.name: column.encode(self.frame[column.source]) for column in given}

    def numbers(self) -> dict[str, NDArray[np.float64]]:
        """The given values that checks speak of, or from which distances are, as `read_numbers`
        gives them.
        """
        relatives = self.schema.relatives
        names = {*self.checked, *(() if relatives is None else relatives.others)}
        axes = {name: self.schema[name].axis for name in names if name in self.known}
        return {
            name: axis.read_numbers(self.frame[name])
            for name, axis in axes.items()
            if axis is not None
        }

    @property
    def checked(self) -> list[str]:
        """The given columns that checks name."""
        checks = self.schema.checks
        return [] if checks is None else [name for name in checks.columns if name in self.known]

    def alike(self, names: Iterable[str]) -> list[tuple[list[str], RowNumbers]]:
        """The rows in groups that have the same of some columns given: the names of these, and the
        rows.
        """
        names = list(names)
        rows = np.arange(len(self.frame))
        if not names or not rows.size:
            return [(names, rows)]
        # Rows are grouped by which cells are given, since each pattern is one conditional
        # distribution: usually there are few.
        patterns = np.column_stack([self.known[name] for name in names])
        _, group = np.unique(np.packbits(patterns, axis=1), axis=0, return_inverse=True)
        group = group.reshape(-1)  # some versions of numpy give it two axes
        members = np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])
        return [
            ([n for n, is_given in zip(names, patterns[rows[0]], strict=True) if is_given], rows)
            for rows in members
        ]


def given_rows(given: object, schema: Schema) -> GivenRows:
    """Partial records as rows that fit the schema.

    Raises
    ------
    ParameterError
        If they are none of the forms that are taken.
    SchemaError
        If a column is unknown, a value lies outside the schema and its column has no ``other``, or
        a record breaks a check.
    """
    frame = _as_frame(given).reset_index(drop=True)
    if not len(frame.columns):
        raise ParameterError("given: it has no columns; give at least one, or sample without it")
    _check_names(frame.columns, schema)
    if len(set(frame.columns)) < len(frame.columns):
        raise ParameterError("given: two columns have the same name; give each once")
    rows = GivenRows(
        frame,
        schema,
        {name: ~_empty(frame[name], name, schema) for name in map(str, frame.columns)},
    )
    for name in rows.modelled:
        _check_values(schema[name], frame[name][rows.known[name]])
    if schema.checks is not None and rows.checked:
        numbers = rows.numbers()
        for names, which in rows.alike(rows.checked):
            schema.checks.check_given({name: numbers[name][which] for name in names}, which)
    return rows


def _check_names(names: Iterable[object], schema: Schema) -> None:
    """Refuse columns that are not drawn for themselves."""
    for name in names:
        if name in schema.generated.names:
            continue
        if name not in schema.names:
            raise SchemaError(
                f"given: there is no column {name!r}; there are {listed(schema.table_names)}"
            )
        if schema.relatives is not None and name in schema.relatives.names:
            raise ParameterError(
                f"given: column {name!r} is drawn by its distance from another one; leave it out"
            )
        # A weekday that is given without its date could contradict the date that is drawn.
        if (source := schema[name].source) != name:
            raise SchemaError(
                f"given: column {name!r} is a part of {source!r}; give {source!r} in its place"
            )


def _empty(values: pd.Series, name: str, schema: Schema) -> Mask:
    """Which cells of a column are to be drawn; a blank one is not where it is a level."""
    column = None if name in schema.generated.names else schema[name]
    blank = (
        column is None
        or "" in column.missing_values
        or not column.knows(pd.Series([""], dtype=object)).all()
    )
    return empty_cells(values, blank=blank)


def _as_frame(given: object) -> pd.DataFrame:
    if isinstance(given, pd.DataFrame):
        return given
    if isinstance(given, pd.Series):
        if given.name is None:
            raise ParameterError(
                "given: the Series has no name; name it after the column that it holds"
            )
        return given.to_frame()
    if isinstance(given, Mapping):
        return _of_columns(given)
    if (
        isinstance(given, Sequence)
        and not isinstance(given, str)
        and all(isinstance(row, Mapping) for row in given)
    ):
        names = dict.fromkeys(name for row in given for name in row)
        return _of_columns({name: [row.get(name) for row in given] for name in names})
    if is_foreign(given):
        return opened(given, "given").frame
    if (parts := partitioned(given)) is not None:
        return parts.whole()
    raise ParameterError(f"given is a {type(given).__name__}; {_FORMS}")


def _of_columns(columns: Mapping[object, object]) -> pd.DataFrame:
    series = {}
    for name, values in columns.items():
        if isinstance(values, str | Mapping) or not is_list_like(values):
            raise ParameterError(f"given: column {name!r} is no list of values; {_FORMS}")
        typed = isinstance(values, pd.Series | np.ndarray)
        held = pd.Series(values) if typed else pd.Series(list(values), dtype=object).infer_objects()  # type: ignore[call-overload]
        series[name] = held.reset_index(drop=True)
    if (
        len(lengths := {name: len(values) for name, values in series.items()})
        and len(set(lengths.values())) > 1
    ):
        raise ParameterError(
            f"given: its columns differ in length, {min(lengths.values())} and more; give as many in each"
        )
    return pd.DataFrame(series)


def _check_values(column: Column, values: pd.Series) -> None:
    """Refuse a value that the schema does not know: nothing could be said of it. Their index says
    which they are.
    """
    if column.other is not None:
        return
    suspects = np.arange(len(values))
    if (axis := column.axis) is not None:
        # to know values one by one takes a while, and most lie between the bounds
        low, high = axis.read_numbers(pd.Series(axis.bounds, dtype=object))
        numbers = axis.read_numbers(values)
        suspects = np.flatnonzero(~((low <= numbers) & (numbers <= high)))
    unknown = suspects[~column.knows(values.iloc[suspects])]
    if unknown.size:
        value = objects_of(values.iloc[unknown[:1]].to_numpy(dtype=object))[0]
        is_missing = not set(texts_of(value)).isdisjoint(column.missing_values)
        says = (
            "says that it is missing, but the column is required" if is_missing else column.outside
        )
        place = f"given: column {column.name!r}: value {values.index[unknown[0]]} (from 0)"
        raise SchemaError(f"{place} is {value!r}, which {says}; correct it")


def with_given(table: pd.DataFrame, rows: GivenRows, *, text: bool) -> pd.DataFrame:
    """A completed table with the given values as they are, typed or as texts; without generated
    columns.
    """
    kept = {}
    for name in rows.modelled:
        column = rows.schema[name]
        values = rows.frame[name]
        is_given = rows.known[name]
        if is_given.any():
            stated = _texts(column, values) if text else _typed(column, values)
            kept[name] = filled_cells(stated, table[name], is_given)
    return with_columns(table, kept)


def _typed(column: Column, values: pd.Series) -> pd.Series:
    """Values as they are; texts in a column of something else as what they say."""
    if values.dtype != object and not isinstance(values.dtype, pd.StringDtype):
        return values
    return column.typed(values)


def _texts(column: Column, values: pd.Series) -> pd.Series:
    """Values as texts: texts as they are, all else as the column's own are written."""
    if values.dtype == object:  # equal objects may be written differently, such as 1 and True
        return pd.Series([column.text_of(value) for value in values], dtype=object)
    positions, unique = pd.factorize(values, use_na_sentinel=False)
    texts = [column.text_of(value) for value in unique.astype(object)]
    return pd.Series(np.array(texts, dtype=object)[positions], dtype=object)
