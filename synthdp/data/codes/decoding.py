"""Decoding: tables of values for released level codes, in every row of which the checks of the
schema hold.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.schema.columns.binned import BinnedColumn
from synthdp.schema.columns.date_parts import part_name
from synthdp.schema.columns.dates import DateColumn
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
        columns, every = schema.checks.columns, codes

        def draw(name: str, rows: NDArray[np.intp]) -> Ints:
            return _drawn(columns[name], every, rng, rows)

        points, codes = drawn_values(schema.checks, codes, draw, rng, given)
    values: dict[str, pd.Series] = {}
    for column in schema.table_columns:
        own = codes[column.name]
        if isinstance(column, BinnedColumn):
            found = (
                points[column.name]
                if column.name in points
                else _drawn(column, codes, rng, slice(None))
            )
            of_points = column.texts_at if text else column.values_at
            made: Any = of_points(found, column.is_missing(own))
        elif categories:
            made = column.decode_categories(own, rng)
        else:
            made = column.decode_text(own, rng) if text else column.decode(own, rng)
        values[column.name] = pd.Series(made, dtype=object if text else None)
    return pd.DataFrame(values, copy=False)


def _drawn(
    column: BinnedColumn,
    codes: Mapping[str, Codes],
    rng: np.random.Generator,
    rows: NDArray[np.intp] | slice,
) -> Ints:
    """A grid point of a column for some rows, dates so that they agree with their parts."""
    own = codes[column.name][rows]
    if isinstance(column, DateColumn):
        return column.draw(
            own, rng, [codes[part_name(column, part)][rows] for part in column.parts]
        )
    return column.draw(own, rng)
