"""Decoding: tables of values for released level codes, in every row of which the checks of the
schema hold.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.data.codes.coded_table import CodeColumn, CodedTable
from synthdp.data.codes.drawn_together import drawn_together
from synthdp.schema.axes.axis import Axis
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema
from synthdp.schema.value_rules import drawn_values
from synthdp.schema.words.grid_intervals import Ints


def decode(
    codes: Sequence[CodeColumn] | CodeColumn,
    schema: Schema,
    rng: np.random.Generator,
    *,
    text: bool = False,
    categories: bool = False,
    given: Mapping[str, NDArray[np.float64]] = {},
) -> pd.DataFrame:
    """A table of values for released level codes; `encode` gives the same codes back.

    Where the bins of a row hold no values that keep to the schema's checks, values lie in other
    bins.

    Parameters
    ----------
    codes, schema
        One 1-D integer array for each of the schema's columns, parts of dates included, or one 2-D
        array of rows and columns. Dates are drawn so that they agree with their parts where their
        bins allow for it.
    rng
        Draws values inside their bins.
    text
        Texts as a CSV file holds them, in place of typed values. The same generator gives
        the same values either way.
    categories
        Typed levels that are texts as categories, which is quicker.
    given
        Of some columns the values, as `read_numbers` gives them, that checks are to hold for, and
        distances are from, in place of those that are drawn.

    Returns
    -------
    pandas.DataFrame
        Its dtypes depend on the schema only: ``str``; ``int64``, or ``Int64`` if values may be
        missing; ``float64``; ``bool`` or ``boolean``; ``datetime64[s]``; ``object`` with ``text``.

    Raises
    ------
    ParameterError
        If the codes do not fit the schema.

    >>> schema = Schema.from_dict({"sex": 2})
    >>> decode([np.array([1, 0])], schema, np.random.default_rng(0))["sex"].tolist()
    [1, 0]
    """
    columns = tuple(codes.T) if isinstance(codes, np.ndarray) and codes.ndim == 2 else tuple(codes)
    table = CodedTable(schema.domain, columns)
    named: Mapping[str, CodeColumn] = dict(zip(schema.names, table.columns, strict=True))
    points, named = _points(named, schema, rng, given)
    values: dict[str, pd.Series] = {}
    for column in schema.table_columns:
        own = named[column.name]
        if (axis := column.axis) is not None:
            of_points = axis.texts_at if text else axis.values_at
            made: Any = of_points(points[column.name], axis.is_missing(own))
        elif categories:
            made = column.decode_categories(own, rng)
        else:
            made = column.decode_text(own, rng) if text else column.decode(own, rng)
        dtype = object if text else column.arrow_dtype if categories else None
        values[column.name] = pd.Series(made, dtype=dtype)
    frame = pd.DataFrame(values, copy=False)
    if schema.relatives is None:
        return frame
    return schema.relatives.written(frame, schema.table_columns, given, text=text)


def _points(
    codes: Mapping[str, CodeColumn],
    schema: Schema,
    rng: np.random.Generator,
    given: Mapping[str, NDArray[np.float64]],
) -> tuple[dict[str, Ints], Mapping[str, CodeColumn]]:
    """Grid points of all columns with an order, from which values are written, and the codes that
    go with them; all other columns are looked up by code.
    """
    points: dict[str, Ints] = {}
    if schema.checks is not None:
        compared = schema.checks.columns
        every = codes

        def draw(name: str, rows: NDArray[np.intp]) -> Ints:
            return _drawn(schema[name], compared[name], every, rng, rows)

        # Columns that checks compare are drawn together: each by itself, two values inside of bins
        # that fit could still break a check.
        known = {name: numbers for name, numbers in given.items() if name in compared}
        points, codes = drawn_values(schema.checks, codes, draw, rng, known)
    axes = {column.name: column.axis for column in schema.table_columns if column.axis is not None}
    drawn = {
        name: _drawn(schema[name], axis, codes, rng, slice(None))
        for name, axis in axes.items()
        if name not in points
    }
    # What agrees with parts, or keeps to checks, stays with its row.
    free = {name: axes[name] for name in drawn if not schema[name].part_columns}
    return points | drawn | drawn_together(codes, drawn, free, rng), codes


def _drawn(
    column: Column,
    axis: Axis,
    codes: Mapping[str, CodeColumn],
    rng: np.random.Generator,
    rows: NDArray[np.intp] | slice,
) -> Ints:
    """A grid point of a column for some rows, so that it agrees with the column's parts."""
    parts = [codes[part.name][rows] for part in column.part_columns]
    return axis.draw(codes[column.name][rows], rng, parts)
