"""Times of day: what is read, how bounds and formats are checked, rules between times, and engines."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from helpers.values import counted

import synthdp
from synthdp.core import Grid, SchemaError
from synthdp.data import EngineFrame, EngineTable, held_rows, opened
from synthdp.schema import DateColumn, OpenSchema, Schema, Shape, TimeColumn

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)

DAY = {"minimum": dt.time(0), "maximum": dt.time(23, 59, 59)}


def seconds(column, *values):
    found = column.read_numbers(pd.Series(list(values), dtype=object))
    return [None if np.isnan(number) else int(number) for number in found]


def test_what_is_a_time_of_day():
    column = TimeColumn(name="t", **DAY)
    assert seconds(column, "00:00:01", " 12:30 ", "23:59:59.999", dt.time(1, 0, 0, 999)) == [
        1, 45_000, 86_399, 3_600,
    ]  # fmt: skip
    assert seconds(column, dt.timedelta(hours=2), np.timedelta64(5, "s"), pd.Timedelta("1min")) == [
        7_200, 5, 60,
    ]  # fmt: skip
    none = ["24:00:00", "1:00", "12:30Z", "12:30+01:00", "noon", "12", 12, 0.5, True, "-1:00"]
    none += [dt.time(1, tzinfo=dt.UTC), dt.timedelta(days=1), dt.timedelta(-1), dt.date(2020, 1, 1)]
    none += [dt.datetime.fromisoformat("2020-01-01T12:00"), pd.Timestamp.max, b"12:30:00"]
    assert seconds(column, *none) == [None] * len(none)


def test_any_reads_more_than_it_writes():
    column = TimeColumn(name="t", format="any", **DAY)
    assert seconds(column, "9:05", "9 pm", "12:00 a.m.", "7.30", "9", "13 pm", "0 am") == [
        32_700, 75_600, 0, 27_000, None, None, None,
    ]  # fmt: skip
    assert column.decode_text(np.array([0]), np.random.default_rng(0))[0].count(":") == 2


def test_a_format_says_how_times_are_written_and_how_finely():
    column = TimeColumn(name="t", format="%I:%M %p", **DAY)
    assert column.resolution == "minute"
    assert seconds(column, "09:30 PM", "21:30") == [77_400, None]
    assert column.field()["constraints"] == {"minimum": "12:00 AM", "maximum": "23:59:59"}
    with pytest.raises(SchemaError, match=r"the format '%M' cannot say which second"):
        TimeColumn(name="t", format="%M", resolution="second", **DAY)
    field = {"name": "t", "type": "time", "format": "HH.mm", "synthdp": {"derive": True}}
    assert OpenSchema.from_dict({"fields": [field]}).columns[0].template.format == "%H.%M"
    with pytest.raises(SchemaError, match=r"'soon' is not supported; use 'default' \(HH:MM:SS\)"):
        OpenSchema.from_dict({"fields": [field | {"format": "soon"}]})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"maximum": dt.time(0), "minimum": dt.time(1)}, "is above constraints.maximum"),
        ({"minimum": "00:00:00"}, "is '00:00:00'; give a time of day"),
        ({"resolution": "day"}, "use one of hour, minute, second"),
        ({"bins": 100_000}, "but there are 86400 seconds"),
        (
            {"resolution": "hour", "edges": (dt.time(0), dt.time(1, 30), dt.time(23, 59, 59))},
            "cuts a hour in two",
        ),
        ({"missing_values": ("", "12:00")}, "'12:00' lies between the bounds"),
    ],
)
def test_a_column_that_contradicts_itself_is_refused(changed, problem):
    with pytest.raises(SchemaError, match=problem):
        TimeColumn(**{"name": "t"} | DAY | changed)


def test_no_bin_reaches_over_midnight():
    column = TimeColumn(name="t", required=True, bins=3, **DAY)
    assert column.encode(pd.Series(["00:00:00", "23:59:59"])).tolist() == [0, 2]
    assert str(column.labels[0].right) == "0 days 08:00:00"
    bounded = TimeColumn(name="t", minimum=dt.time(8), maximum=dt.time(9), required=True, bins=2)
    assert bounded.encode(pd.Series(["01:00:00", "23:00:00"])).tolist() == [0, 1]


def shifts(n_rows):
    rng = np.random.default_rng(0)
    begin = rng.integers(0, 20 * 60, n_rows)
    end = begin + rng.integers(0, 3 * 60, n_rows)
    times = {"begin": begin, "end": end}
    return pd.DataFrame(
        {name: [dt.time(m // 60, m % 60) for m in minutes] for name, minutes in times.items()}
    )


def test_a_rule_compares_a_time_with_another():
    bounds = {"minimum": "00:00:00", "maximum": "23:59:59", "required": True}
    own = {"resolution": "minute", "bins": 8}
    fields = [
        {"name": name, "type": "time", "constraints": bounds, "synthdp": own}
        for name in ("begin", "end")
    ]
    schema = {"fields": fields, "synthdp": {"constraints": [{"check": "begin <= end"}]}}
    synthesis = synthdp.synthesize(shifts(2_000), schema, epsilon=5, delta=1e-6)
    drawn = synthesis.sample(2_000, seed=1)
    assert (drawn["begin"] <= drawn["end"]).all()
    late = synthesis.sample(50, seed=2, where={"begin": {"minimum": "12:30:00"}})
    assert late["begin"].min() >= dt.time(12, 30)
    with pytest.raises(SchemaError, match="times cannot be added"):
        Schema.from_dict(schema | {"synthdp": {"constraints": [{"check": "begin <= 2 * end"}]}})


@pytest.mark.parametrize("derived", [["bounds", "bins"], ["bounds"], ["bins"]])
def test_bounds_and_bins_are_learnt(derived):
    constraints = {"required": True}
    if "bounds" not in derived:
        constraints |= {"minimum": "00:00:00", "maximum": "23:59:59"}
    fields = [
        {
            "name": "begin",
            "type": "time",
            "constraints": constraints,
            "synthdp": {"derive": derived},
        }
    ]
    table = shifts(5_000)[["begin"]]
    drawn = synthdp.synthesize(table, {"fields": fields}, epsilon=5, delta=1e-6).sample(
        5_000, seed=1
    )
    middle = [frame["begin"].sort_values().iloc[len(frame) // 2] for frame in (table, drawn)]
    assert abs(middle[0].hour - middle[1].hour) <= 1
    assert drawn["begin"].max() < dt.time(21)


def test_times_of_arrow_are_read_in_any_unit_whatever_they_count():
    pa = pytest.importorskip("pyarrow")
    column = TimeColumn(name="t", bins=24, **DAY).with_unread_place()
    for kind, per_second in (("time32[s]", 1), ("time32[ms]", 10**3), ("time64[ns]", 10**9)):
        width = "int32" if "32" in kind else "int64"
        counts = [0, 3_600 * per_second, -1, 86_400 * per_second - 1, 86_400 * per_second, None]
        array = pa.array(counts, type=width).cast(pa.type_for_alias(kind))
        for made in (array, array.dictionary_encode()):
            values = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([made])))
            assert column.encode(values).tolist() == [0, 1, 25, 23, 25, 24]


FIELD = {
    "name": "t",
    "type": "time",
    "missingValues": ["", "03:00:00"],
    "constraints": {"minimum": "04:00:00", "maximum": "22:00:00"},
    "synthdp": {"bins": 20},
}
TIMES = ["00:00:00", "03:00:00", "03:00:00.5", "04:53:59.999999", "12:00:00", "22:00:01", None]


@pytest.mark.parametrize("engine", ["polars", "duckdb", "ibis"])
@pytest.mark.parametrize("required", [False, True])
def test_an_engine_counts_and_learns_times_as_they_are_in_memory(engine, required):
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    times = [None if each is None else dt.time.fromisoformat(each) for each in TIMES]
    frame = pl.DataFrame({"t": pl.Series(times * 3 + times[:2], dtype=pl.Time)})
    query = frame.lazy()
    if engine != "polars":
        connection = duckdb.connect()
        connection.execute("CREATE TABLE people (t TIME)")
        connection.executemany("INSERT INTO people VALUES (?)", [[each] for each in frame["t"]])
        query = connection.table("people")
        if engine == "ibis":
            ibis = pytest.importorskip("ibis")
            query = ibis.duckdb.from_connection(connection).table("people")
    constraints = FIELD["constraints"] | {"required": required}
    closed = OpenSchema.from_dict({"fields": [FIELD | {"constraints": constraints}]})
    learnt = FIELD | {
        "constraints": {"required": required},
        "missingValues": [""],
        "synthdp": {"derive": ["bounds", "bins"], "resolution": "minute"},
    }
    here, there = (
        rows(closed).counted(closed.resolved({}).with_unread_places()).counts_of([("t",)])
        for rows in (
            lambda schema: held_rows(opened(frame).frame, schema),
            lambda schema: EngineTable.from_frame(EngineFrame.from_native(query), schema),
        )
    )
    assert next(iter(here)).tolist() == next(iter(there)).tolist()
    schema, grid = OpenSchema.from_dict({"fields": [learnt]}), Grid(column="t")
    here = held_rows(opened(frame).frame, schema).source
    there = EngineTable.from_frame(EngineFrame.from_native(query), schema).source
    for starts in map(np.array, ([0, 180, 720], [0, 1])):
        assert here.histogram(grid, starts).tolist() == there.histogram(grid, starts).tolist()
        reading = Grid(column="t", of="reading")
        assert here.histogram(reading, starts).tolist() == there.histogram(reading, starts).tolist()
    assert counted(here.frequencies(grid)) == counted(there.frequencies(grid))


def test_the_end_of_a_day_in_duckdb_is_no_time_of_it():
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.connect().sql(
        "SELECT * FROM (VALUES (TIME '24:00:00'), (TIME '23:59:59')) AS _(t)"
    )
    schema = OpenSchema.from_dict({"fields": [FIELD]})
    closed = schema.resolved({}).with_unread_places()
    table = EngineTable.from_frame(EngineFrame.from_native(rows), schema)
    (counts,) = table.counted(closed).counts_of([("t",)])
    assert counts.tolist() == [0] * 19 + [1, 0, 1]


def test_a_type_that_says_no_time_is_refused_before_anything_is_read():
    pl = pytest.importorskip("polars")
    schema = OpenSchema.from_dict({"fields": [FIELD]})
    table = EngineFrame.from_native(pl.LazyFrame({"t": ["12:00:00"]}))
    with pytest.raises(SchemaError, match="the schema says 'time', and the engine String"):
        EngineTable.from_frame(table, schema)


def test_a_shape_begins_at_a_lower_bound_within_a_unit():
    """What is written for the first unit is the bound itself, and weighs what its piece says."""
    bounds = {"minimum": dt.time(6, 30), "maximum": dt.time(20)}
    shape = Shape(starts=(dt.time(6, 30), dt.time(8)), weights=(1.0, 0.0))
    column = TimeColumn(name="t", resolution="hour", bins=2, shape=shape, **bounds)
    drawn = column.decode(np.zeros(2000, dtype=int), np.random.default_rng(0)).value_counts()
    assert set(drawn.index) == {dt.time(6, 30), dt.time(7)}
    assert drawn.min() > 800


def test_bounds_that_are_learnt_are_written_so_that_a_format_reads_them():
    column = DateColumn(
        name="d",
        type="datetime",
        minimum=dt.date(2020, 1, 1),
        maximum=dt.date(2021, 1, 1),
        format="%d.%m.%Y %H:%M%z",
    )
    (text,) = column.written_points(column.grid_points(np.array([1_577_836_800.0]), 0), 0)
    assert text == "01.01.2020 00:00+0000"
    field = column.field() | {"constraints": {"minimum": text, "maximum": text}}
    assert Schema.from_dict({"fields": [field | {"synthdp": {}}]}).columns[0].minimum == (
        column.minimum
    )
