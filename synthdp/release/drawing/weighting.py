"""Rows of the population that a column of weights describes, in place of rows of the sample."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ParameterError
from synthdp.schema.schema import Schema

_DRAWN = 512
"""Values of a bin that are drawn for its mean: it is known to some 2 % of the bin's own width."""


def weight_of(schema: Schema) -> str:
    """The name of the column of weights; raises `ParameterError` if there is none."""
    if schema.weight is None:
        raise ParameterError(
            "weighted: the release has no column of weights; name one by weight=, or in the schema"
        )
    return schema.weight


def mean_weights(schema: Schema) -> NDArray[np.float64]:
    """The mean weight of each level of the column of weights, 0 where it is missing.

    Values are drawn inside of the bins as rows have them, always the same ones.
    """
    found: NDArray[np.float64] = _drawn_weights(schema).mean(axis=1)
    return found


def drawn_ranges(schema: Schema) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest weight that is drawn in each level of the column of weights."""
    drawn = _drawn_weights(schema)
    return drawn.min(axis=1), drawn.max(axis=1)


def _drawn_weights(schema: Schema) -> NDArray[np.float64]:
    """Weights of rows of each level, those below 0 or missing as 0; shape ``(levels, _DRAWN)``."""
    column = schema[weight_of(schema)]
    codes = np.repeat(np.arange(column.size), _DRAWN).astype(column.dtype)
    values = column.decode(codes, np.random.default_rng(0)).to_numpy(np.float64, na_value=np.nan)
    drawn: NDArray[np.float64] = np.maximum(np.nan_to_num(values), 0.0)
    return drawn.reshape(column.size, _DRAWN)


def weight_ranges(schema: Schema) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest weight that a row may have in each level of the column of weights,
    both 0 where it is missing.
    """
    column = schema[weight_of(schema)]
    low = mean_weights(schema)
    high = mean_weights(schema)
    step = 1.0 if column.field()["type"] == "integer" else 0.0
    for code, label in enumerate(column.labels):
        if isinstance(label, pd.Interval):
            low[code] = max(float(label.left), 0.0)
            high[code] = max(float(label.right) - (0.0 if label.closed_right else step), 0.0)
    return low, high


def by_weight(
    schema: Schema, wanted: Mapping[str, NDArray[np.float64]]
) -> dict[str, NDArray[np.float64]]:
    """What is wanted of each level, times the mean weight of the levels of the column of weights."""
    name = weight_of(schema)
    means = mean_weights(schema)
    if not means.any():
        raise ParameterError(
            f"weighted: no value of {name!r} is above 0; nobody is in its population"
        )
    return {**wanted, name: wanted.get(name, np.ones(means.size)) * means}
