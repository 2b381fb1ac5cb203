"""Random columns to learn from: whatever their types, values and grids, an engine counts as memory
does.
"""

import random

import numpy as np
import polars as pl
import pytest
from helpers.engines import ENGINES
from helpers.random_values import DTYPES, RESOLUTIONS, asked, levels_in_engines
from helpers.values import counted

from synthdp.core import INFINITE, READ, Grid, SchemaError
from synthdp.data import EngineFrame, EngineTable, held_rows, opened
from synthdp.schema import OpenSchema, Schema

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)


def check(engine, seed, dtypes=DTYPES, n_grids=None):
    """Whether the engine takes the column."""
    column = asked(random.Random(seed), dtypes, n_grids)
    try:
        remote = EngineTable.from_frame(
            EngineFrame.from_native(ENGINES[engine](column.frame)), column.schema
        ).source
    except SchemaError:
        return False
    held = held_rows(opened(column.frame).frame, column.schema).source
    for grid, starts in column.questions:
        assert remote.histogram(grid, starts).tolist() == held.histogram(grid, starts).tolist(), (
            grid,
            starts,
        )
        if not starts.size:
            expected = levels_in_engines(column, counted(held.frequencies(grid)))
            assert counted(remote.frequencies(grid)) == expected, grid
    return True


FEW = {
    "polars": ["Float64", "Float32", "ns", "Int64", "String"],
    "duckdb": ["Float32", "ns", "String"],
    "ibis": ["String"],
    "other": ["ns"],
}
"""One case of each takes seconds; all of them, in more columns, are marked slow below."""


@pytest.mark.parametrize(
    ("engine", "dtype"), [(engine, dtype) for engine in ENGINES for dtype in FEW[engine]]
)
def test_values_of_a_random_column_are_those_of_memory(engine, dtype):
    assert check(engine, 4, [dtype], n_grids=3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 200, 10))
@pytest.mark.parametrize("engine", ENGINES)
def test_values_of_random_columns_are_those_of_memory(engine, seed):
    assert sum(check(engine, each) for each in range(seed, seed + 10)) > 3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["number", "integer"])
def test_nan_of_any_bits_is_missing_and_never_unread(kind, engine):
    """Memory says by its sign what was not read; a NaN of the table says nothing by it."""
    bits = [0x7FF8 << 48, 0xFFF8 << 48, 0xFFF8_0000_DEAD_BEEF, 0x7FF4_0000_0000_0001, 2**64 - 1]
    numbers = np.concatenate([np.array(bits, np.uint64).view(np.float64), [1.0, 2.0]])
    schema = OpenSchema.from_kinds({"x": kind})
    remote = EngineTable.from_frame(
        EngineFrame.from_native(ENGINES[engine](pl.DataFrame({"x": numbers}))), schema
    ).source
    assert remote.histogram(Grid(column="x", of="reading"), np.array([READ])).tolist() == [5, 0, 2]


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "ibis"])
def test_exponents_of_random_numbers_are_those_of_memory(engine):
    column, grid = asked(random.Random(4), ["Float64"]), Grid(column="x", of="exponents")
    assert column.schema.open_columns[0].type == "number"
    remote = EngineTable.from_frame(
        EngineFrame.from_native(ENGINES[engine](column.frame)), column.schema
    ).source
    held = held_rows(opened(column.frame).frame, column.schema).source
    exponents = np.arange(-1024, 1024)
    assert remote.histogram(grid, exponents).tolist() == held.histogram(grid, exponents).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_floats_of_32_bits_are_the_numbers_that_their_texts_say(engine):
    """All digits of some, and halves of the last one: 266.515625 is written 266.51562."""
    numbers = [
        266.515625,
        -247.140625,
        2306867.25,
        7.7444363,
        -100.329124,
        0.0053000376,
        80.7,
        1e-5,
        0.0,
    ]
    frame = pl.DataFrame({"x": pl.Series(numbers, dtype=pl.Float32)})
    schema, grid = OpenSchema.from_kinds({"x": "number"}), Grid(column="x", decimals=9)
    remote = EngineTable.from_frame(EngineFrame.from_native(ENGINES[engine](frame)), schema).source
    held = held_rows(opened(frame).frame, schema).source
    assert counted(remote.frequencies(grid)) == counted(held.frequencies(grid))


@pytest.mark.parametrize("engine", ENGINES)
def test_floats_of_any_size_are_whole_numbers_where_these_are_learnt(engine):
    """A cast of one of them would fail, and with it the question."""
    numbers = [
        np.inf,
        -np.inf,
        np.nan,
        1e300,
        -1e300,
        1e19,
        -1e19,
        2.0**62,
        5e18,
        1.9,
        -0.5,
        -7.0,
        None,
    ]
    frame = pl.DataFrame({"x": pl.Series(numbers, dtype=pl.Float64)})
    schema, grid = OpenSchema.from_kinds({"x": "integer"}), Grid(column="x")
    remote = EngineTable.from_frame(EngineFrame.from_native(ENGINES[engine](frame)), schema).source
    held = held_rows(opened(frame).frame, schema).source
    assert counted(remote.frequencies(grid)) == counted(held.frequencies(grid))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("kind", "missing"), [("number", [""]), ("integer", ["inf"]), ("number", ["", "-inf"])]
)
def test_infinite_numbers_have_a_cell_of_their_own_as_in_memory(kind, missing, engine):
    """They were counted with what is missing, so that no caution said how many there are. One record
    is in one cell, so that what is asked costs what it did.
    """
    numbers = [np.inf, -np.inf, np.inf, np.nan, 1.75e308, 1e300, 3.0, 4.0, -7.0, None]
    schema = OpenSchema.from_kinds({"x": {"type": kind, "missingValues": missing}})
    grid = Grid(column="x", has_infinite=True)

    def cells(rows, starts):
        frame = pl.DataFrame({"x": pl.Series(rows, dtype=pl.Float64)})
        there = EngineTable.from_frame(EngineFrame.from_native(ENGINES[engine](frame)), schema)
        here = held_rows(opened(frame).frame, schema).source.histogram(grid, starts).tolist()
        assert there.source.histogram(grid, starts).tolist() == here
        return np.array(here)

    starts = np.array([0, 4, INFINITE])
    whole = cells(numbers, starts)
    assert whole[-1] == 4 - sum(2 if text == "inf" else text == "-inf" for text in missing)
    for place in (1, 6):
        changed = whole - cells(numbers[:place] + numbers[place + 1 :], starts)
        assert np.abs(changed).sum() == 1


@pytest.mark.skipif("duckdb" not in ENGINES, reason="duckdb is not installed")
@pytest.mark.parametrize(
    ("dtype", "kind"), [("DATE", "date"), ("TIMESTAMP", "datetime"), ("TIMESTAMPTZ", "datetime")]
)
def test_infinite_days_of_duckdb_are_the_first_and_the_last(dtype, kind):
    days = ["infinity", "-infinity", "0044-03-15 (BC)", "12000-01-01", "1970-01-01"]
    rows = ", ".join(f"('{day}'::TIMESTAMP::{dtype})" for day in days)
    people = ENGINES["duckdb"](pl.DataFrame({"y": [1]})).query("y", f"FROM (VALUES {rows}) AS t(x)")
    field = {"name": "x", "type": kind, "synthdp": {"derive": True, "resolution": "day"}}
    table = EngineTable.from_frame(
        EngineFrame.from_native(people), OpenSchema.from_dict({"fields": [field]})
    )
    assert counted(table.source.frequencies(Grid(column="x"))) == {-719_162: 2, 2_932_896: 2, 0: 1}


@pytest.mark.parametrize("engine", [name for name in FEW if name in ENGINES and name != "ibis"])
@pytest.mark.parametrize("resolution", RESOLUTIONS)
def test_moments_are_in_the_units_of_memory(engine, resolution):
    seconds = [
        -62_135_596_800,
        -11_644_473_601,
        -259_201,
        -259_200,
        -1,
        0,
        345_599,
        345_600,
        951_868_799,
        951_868_800,
    ]
    frame = pl.DataFrame(
        {"x": (pl.Series(seconds, dtype=pl.Int64) * 10**6).cast(pl.Datetime("us"))}
    )
    field = {"name": "x", "type": "datetime", "synthdp": {"derive": True, "resolution": resolution}}
    schema, grid = OpenSchema.from_dict({"fields": [field]}), Grid(column="x")
    remote = EngineTable.from_frame(EngineFrame.from_native(ENGINES[engine](frame)), schema).source
    held = held_rows(opened(frame).frame, schema).source
    assert counted(remote.frequencies(grid)) == counted(held.frequencies(grid))


READ_STRICTLY = {
    "fractions": (
        "Float64",
        [1.0, 1.5, -0.25, 2.0**53, 1e300, None, float("nan"), 3.0, -4.0],
        {"type": "integer"},
    ),
    "times of day": (
        pl.Datetime("us"),
        [
            "2020-01-05",
            "2020-01-05T10:00",
            "2020-01-05T00:00:00.5",
            "1969-12-31T23:59:59.5",
            "1960-02-03",
            None,
        ],
        {"type": "date"},
    ),
    "words": (
        "String",
        ["ja", "nein", " ja ", "vielleicht", "", " ", "n/a", None],
        {
            "type": "boolean",
            "trueValues": ["ja"],
            "falseValues": ["nein"],
            "missingValues": ["n/a"],
        },
    ),
    "numbers": ("Int64", [0, 1, 2, -9, None], {"type": "boolean", "missingValues": ["-9"]}),
}


@pytest.mark.parametrize(
    ("engine", "case"),
    [
        (engine, case)
        for engine in ENGINES
        for case in READ_STRICTLY
        if (engine, case) != ("other", "words")
    ],
)
def test_what_a_column_does_not_say_is_unread_in_engines_as_in_memory(engine, case):
    dtype, values, field = READ_STRICTLY[case]
    series = (
        pl.Series("x", values, dtype=pl.String).str.to_datetime(time_unit="us")
        if case == "times of day"
        else None
    )
    series = pl.Series("x", values, dtype=getattr(pl, dtype)) if series is None else series
    bounds = {
        "integer": {"minimum": -5, "maximum": 5},
        "date": {"minimum": "1950-01-01", "maximum": "2030-01-01"},
    }
    schema = OpenSchema.from_dict(
        {"fields": [{"name": "x"} | field | {"synthdp": {"derive": True}}]}
    )
    declared = Schema.from_dict(
        {
            "fields": [{"name": "x", "constraints": bounds.get(field["type"], {})} | field],
            "missingValues": ["n/a"],
        }
    )
    frame, grid = series.to_frame(), Grid(column="x", of="reading")
    remote = EngineTable.from_frame(EngineFrame.from_native(ENGINES[engine](frame)), schema).source
    held = held_rows(opened(frame).frame, schema).source
    for asked_grid, starts in ((grid, range(1, 15)), (Grid(column="x"), [])):
        found = remote.histogram(asked_grid, np.array(starts, dtype=np.int64)).tolist()
        assert found == held.histogram(asked_grid, np.array(starts, dtype=np.int64)).tolist()
    assert held.histogram(grid, np.arange(1, 15))[1] > 0
    coded = EngineTable.from_frame(
        EngineFrame.from_native(ENGINES[engine](frame)), OpenSchema.from_schema(declared)
    ).counted(declared)
    assert next(iter(coded.counts_of([("x",)]))).tolist() == counts_in_memory(frame, declared)


def counts_in_memory(frame, schema):
    (column,) = schema.table_columns
    codes = column.encode(opened(frame).frame["x"])
    return np.bincount(codes, minlength=column.size).tolist()
