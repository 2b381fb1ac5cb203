"""Intervals around the counts of a marginal, by the noise that was recorded; no records and no fit are needed."""

from collections.abc import Callable, Sequence
from numbers import Real

import numpy as np
import pandas as pd

from synthdp.cliques import Clique
from synthdp.errors import ModelTooLargeError, ParameterError
from synthdp.inference.requests import check_cliques
from synthdp.measurement import FloatArray, LinearMeasurement
from synthdp.release.uncertainty.cell_estimates import cell_estimates
from synthdp.release.uncertainty.limits import noise_limits, widest_limits
from synthdp.table.columns.binned import BinnedColumn
from synthdp.table.columns.column import Column
from synthdp.table.schema.schema import Schema

MEASURED, MODEL = "measured", "model"
"""What a count rests on: on measurements alone, or on a model as well."""

MAX_CELLS = 1 << 24
"""Cells of a marginal with intervals: a table of them takes about a gigabyte."""


def check_interval(interval: object, name: str = "interval") -> float:
    """The probability of an interval; raises `ParameterError` unless it lies between 0 and 1."""
    if not isinstance(interval, Real) or isinstance(interval, bool) or not 0 < float(interval) < 1:
        raise ParameterError(f"{name} is {interval!r}; give a probability between 0 and 1, such as 0.95")
    return float(interval)


def cell_labels(schema: Schema, columns: Sequence[str]) -> pd.Index:
    """Labels of the cells of a marginal, those of the last column running fastest."""
    index = pd.MultiIndex.from_product([schema[name].labels for name in columns], names=columns)
    return index if len(columns) > 1 else index.get_level_values(0)


def cell_texts(schema: Schema, columns: Sequence[str], *, text: bool) -> pd.DataFrame:
    """The combinations of `cell_labels` as the schema writes values: one row each, for a file of texts or another."""
    levels = [_level_texts(schema[name], text=text) for name in columns]
    cells = pd.MultiIndex.from_product(map(range, map(len, levels))).to_frame(index=False, name=list(columns))
    for name, texts in zip(columns, levels, strict=True):
        cells[name] = np.array(texts, dtype=object)[cells[name]]
    return cells


def _level_texts(column: Column, *, text: bool) -> list[str | None]:
    """What each code of a column stands for, as the schema writes values; bins by their first and last value.

    "Missing" is the text for it in files of texts, and nothing in others.
    """
    codes = np.arange(column.size)
    levels: list[str | None] = column.decode_text(codes, np.random.default_rng(0)).tolist()
    if isinstance(column, BinnedColumn):
        starts, known = column.drawn_starts, np.zeros(column.n_levels, dtype=np.bool_)
        firsts, lasts = column.texts_at(starts[:-1], known), column.texts_at(starts[1:] - 1, known)
        ends = zip(firsts, lasts, strict=True)
        levels[: column.n_levels] = [low if low == high else f"{low} .. {high}" for low, high in ends]
    return levels if text or column.required else [*levels[:-1], None]


def with_intervals(
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    columns: Sequence[str],
    interval: float,
    expected: Callable[[Clique], FloatArray],
) -> pd.DataFrame:
    """A marginal with limits; see `synthdp.release.synthesis.Synthesis.marginal`.

    Parameters
    ----------
    schema
        What the columns mean.
    measurements
        Everything that was measured.
    columns
        Names of the marginal's columns.
    interval
        Probability, over the noise, that a cell's limits hold the count of the table.
    expected
        The model's counts of a marginal; asked for where measurements leave a cell open.
    """
    check_interval(interval)
    (clique,) = check_cliques(schema.domain, [columns])
    if schema.domain.size(clique) > MAX_CELLS:
        raise ModelTooLargeError(f"columns: with an interval at most {MAX_CELLS} combinations; name fewer columns")
    told = cell_estimates(schema.domain, measurements, clique)
    known, counts = told.is_known, np.maximum(told.counts, 0.0)
    low, high = noise_limits(told, interval)
    if not known.all():
        widest = widest_limits(schema.domain, measurements, clique, interval)
        low, high = np.where(known, low, widest.low), np.where(known, high, widest.high)
        counts = np.where(known, counts, expected(clique))
    basis = np.where(known, MEASURED, MODEL).astype(object)
    cells = {"count": counts, "low": low, "high": high, "basis": basis}
    return pd.DataFrame({name: values.ravel() for name, values in cells.items()}, index=cell_labels(schema, clique))
