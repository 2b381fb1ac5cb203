"""Points of grids in an engine's own terms, at every edge of the rules that memory has for them."""

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from helpers.engines import ENGINES
from helpers.homes import home

from synthdp.core import MAX_POINT
from synthdp.data import VALUE, EngineColumn, points_of
from synthdp.schema import (
    STEPS,
    OpenSchema,
    decimal_points,
    decimals_of,
    exponents_of,
    integer_points,
    steps_of,
)

grid_points = home(points_of)

HALVES = [
    k + 0.5
    for k in (
        0,
        1,
        2,
        3,
        10,
        499_999_998,
        499_999_999,
        500_000_000,
        600_000_001,
        600_000_002,
        2**45,
    )
]
NEAR = [
    k * (1 + sign * part)
    for k in (1.0, 3.0, 12345.0, 1e9)
    for sign in (1, -1)
    for part in (9e-10, 1e-9, 1.1e-9)
]
LARGE = [
    2.0**k * scale
    for k in (30, 51, 52, 53, 61, 62, 63, 64)
    for scale in (1 - 2**-53, 1.0, 1 + 2**-52)
]
TINY = [5e-324, 1e-323, 1e-310, 2.0**-1023, 2.0**-1022, 1e-300, 1e-200, 1e-15, 1e-9]
WRITTEN = [
    0.1,
    0.3,
    0.29,
    1.005,
    80.7,
    2.25,
    123456.789,
    0.1 + 0.2,
    20.714039999999997,
    3.0000000000000004,
    1e11 / 3,
    123456.7890125 * (1 + 2**-50),
    1234567890.12345,
    4.35,
    2251799813.685247,
    1e22,
    1e300,
]
SIZES = np.array([0.0, *HALVES, *NEAR, *LARGE, *TINY, *WRITTEN, np.finfo(float).max, np.inf])
NUMBERS = np.concatenate([SIZES, -SIZES, SIZES / 100, SIZES / 1e9])
FAST = [engine for engine in ENGINES if engine in ("polars", "duckdb")]

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table")


def worked_out(engine, values, *expressions):
    """What an engine makes of values by one expression after the other."""
    order = pl.Series("row", np.arange(len(values)))
    rows = nw.from_native(ENGINES[engine](pl.DataFrame([pl.Series(VALUE, values), order])))
    for expression in expressions:
        rows = rows.with_columns(expression.alias(VALUE))
    found = rows.collect()
    assert found[VALUE].dtype == nw.Int64
    return found[VALUE].to_numpy()[np.argsort(found["row"].to_numpy())].tolist()


@pytest.mark.parametrize("engine", FAST)
@pytest.mark.parametrize("decimals", [-300, -9, -1, 0, 1, 2, 9, 300])
def test_points_are_those_of_memory_at_every_edge(engine, decimals):
    found = worked_out(engine, NUMBERS, grid_points._nearest(nw.col(VALUE), decimals))
    assert found == decimal_points(NUMBERS, decimals).tolist()


@pytest.mark.parametrize("engine", FAST)
def test_floors_decimals_and_exponents_are_those_of_memory_at_every_edge(engine):
    value = nw.col(VALUE)
    assert (
        worked_out(engine, NUMBERS, grid_points._whole(value)) == integer_points(NUMBERS).tolist()
    )
    assert (
        worked_out(engine, NUMBERS, grid_points._decimals(value)) == decimals_of(NUMBERS).tolist()
    )
    assert (
        worked_out(engine, NUMBERS, *grid_points._exponents(value))
        == exponents_of(NUMBERS).tolist()
    )


@pytest.mark.parametrize("engine", FAST)
def test_steps_are_those_of_memory(engine):
    points = np.array(
        [0, 1, *STEPS, *(3 * step for step in STEPS), *(step + 1 for step in STEPS), MAX_POINT]
    )
    points = np.concatenate([points, -points])
    assert (
        worked_out(engine, points, grid_points._steps(nw.col(VALUE))) == steps_of(points).tolist()
    )


def test_the_least_float_that_is_no_0_when_it_is_divided():
    for factor in (10.0, 1e5, 1e15, 1e300):
        least = grid_points._least_over(factor)
        assert least / factor > 0
        assert np.nextafter(least, 0) / factor == 0


def test_which_truth_values_are_unread_is_asked_without_a_cast_that_postgres_lacks():
    """Learning from truth values in Postgres failed where a number is among the missing values."""
    ibis = pytest.importorskip("ibis")
    rows = nw.from_native(ibis.table({"x": "boolean"}))
    field = {"name": "x", "type": "boolean", "synthdp": {"derive": True}}
    (column,) = OpenSchema.from_dict({"fields": [field], "missingValues": ["", "9"]}).columns
    held = EngineColumn("x", "x", nw.Boolean(), "postgres")
    query = nw.to_native(rows.select(grid_points.is_unread(column, held).alias("y")))
    said = ibis.to_sql(query, dialect="postgres")
    assert 'CAST("t0"."x"' not in said.replace("\n", "")
