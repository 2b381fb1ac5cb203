"""Decoding: tables of values for released level codes, in every row of which the checks of the
schema hold.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.axes.axis import Axis
from synthdp.schema.columns.column import Column
from synthdp.schema.rules.drawing import drawn_values
from synthdp.schema.schema import Schema
from synthdp.schema.words.runs import Ints

Codes = NDArray[np.integer[Any]]


def decoded(
    codes: Mapping[str, Codes],
    schema: Schema,
    rng: np.random.Generator,
    *,
    text: bool,
    categories: bool,
    given: Mapping[str, NDArray[np.float64]],
) -> pd.DataFrame:
    """Values for the codes of all attributes; see `synthdp.data.records.codec.decode`."""
    points: dict[str, Ints] = {}
    if schema.checks is not None:
        axes, every = schema.checks.columns, codes

        def draw(name: str, rows: NDArray[np.intp]) -> Ints:
            return _drawn(schema[name], axes[name], every, rng, rows)

        points, codes = drawn_values(schema.checks, codes, draw, rng, given)
    values: dict[str, pd.Series] = {}
    for column in schema.table_columns:
        own = codes[column.name]
        if (axis := column.axis) is not None:
            found = (
                points[column.name]
                if column.name in points
                else _drawn(column, axis, codes, rng, slice(None))
            )
            of_points = axis.texts_at if text else axis.values_at
            made: Any = of_points(found, axis.is_missing(own))
        elif categories:
            made = column.decode_categories(own, rng)
        else:
            made = column.decode_text(own, rng) if text else column.decode(own, rng)
        values[column.name] = pd.Series(made, dtype=object if text else None)
    return pd.DataFrame(values, copy=False)


def _drawn(
    column: Column,
    axis: Axis,
    codes: Mapping[str, Codes],
    rng: np.random.Generator,
    rows: NDArray[np.intp] | slice,
) -> Ints:
    """A grid point of a column for some rows, so that it agrees with the column's parts."""
    parts = [codes[part.name][rows] for part in column.part_columns]
    return axis.draw(codes[column.name][rows], rng, parts)
