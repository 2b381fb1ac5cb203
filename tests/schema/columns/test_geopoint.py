"""Points on a map: what is read, how boxes and grids are checked, how points are drawn and compared."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke

import synthdp
from synthdp.core import SchemaError
from synthdp.schema import GeopointColumn, OpenSchema, Schema

BERLIN = (13.0, 52.3, 13.8, 52.7)
FIELD = {"name": "home", "type": "geopoint"}


def point(**changed):
    return GeopointColumn(**{"name": "home", "bbox": BERLIN, "bins": (4, 2)} | changed)


def codes(column, *values):
    made = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        made[place] = value
    return column.with_unread_place().encode(pd.Series(made, dtype=object)).tolist()


def test_cells_are_numbered_from_the_south_west():
    corners = ["13.05, 52.4", "13.75, 52.4", "13.05, 52.6", "13.75,52.6", "13.4, 52.5"]
    assert codes(point(), *corners) == [
        0,
        3,
        4,
        7,
        6,
    ]  # an edge belongs to the cell north-east of it
    assert point().size == 9


def test_points_beyond_the_box_go_to_the_nearest_cell_and_beyond_the_globe_are_unread():
    assert codes(point(), "0, 0", "20, 60", "13.7, -90", "-180, 52.6") == [0, 7, 3, 4]
    assert (
        codes(point(), "180.1, 52", "13, 90.5", "nan, 52", "inf, 52", "13", "13, 52, 0") == [9] * 6
    )


def test_values_are_read_whatever_holds_them_and_texts_by_their_format():
    held = [(13.7, 52.6), [13.7, 52.6], {"lon": 13.7, "lat": 52.6}, np.array([13.7, 52.6])]
    texts = ["13.7, 52.6", "[13.7, 52.6]", '{"lat": 52.6, "lon": "13.7"}']
    for place, format_ in enumerate(("default", "array", "object")):
        column = point(format=format_)
        assert codes(column, *held) == [7] * 4
        expected = [7 if other == place else 9 for other in range(3)]
        assert codes(column, *texts) == expected
    assert codes(point(format="array"), "[[13.7, 52.6]]", "13.7", "[13.7]", "null") == [9] * 4


@pytest.mark.parametrize(
    ("format_", "kind", "written"),
    [
        ("default", str, "13.7, 52.6"),
        ("array", tuple, "[13.7, 52.6]"),
        ("object", dict, '{"lon": 13.7, "lat": 52.6}'),
    ],
)
def test_what_comes_out_is_of_the_format(format_, kind, written):
    column = point(format=format_, required=True)
    rng = np.random.default_rng(0)
    assert {type(value) for value in column.decode(np.arange(8), rng)} == {kind}
    assert column.text_of((13.7, 52.6)) == column.text_of({"lon": 13.7, "lat": 52.6}) == written
    assert json.loads(json.dumps(column.field())).get("format", "default") == format_


def test_points_are_drawn_evenly_over_the_decimals_of_their_cell():
    column = point(decimals=1, bins=(2, 2), required=True)
    drawn = column.decode_text(np.repeat(np.arange(4), 4_000), np.random.default_rng(0))
    shares = pd.Series(drawn[:4_000]).value_counts(normalize=True)
    assert set(shares.index) == {
        f"{x}, {y}" for x in (13.0, 13.1, 13.2, 13.3) for y in (52.3, 52.4)
    }
    assert shares.between(0.1, 0.15).all()  # 0.125 each; six standard deviations are 0.031
    assert point().decimals == 3  # a cell is 0.2 degrees wide, which are 200 points
    assert point(bbox=(-180, -90, 180, 90)).decimals == 1


def test_a_missing_value_may_be_a_point_but_for_one_in_the_box():
    column = point(missing_values=("", "0, 0"))
    assert codes(column, "0,0", (0.0, -0.0), "", None, "0, 1") == [8, 8, 8, 8, 0]
    with pytest.raises(SchemaError, match=r"the missing value '13.1, 52.4' lies in synthdp.bbox"):
        point(missing_values=("13.1, 52.4",))


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        ({}, r"synthdp.bbox is not filled in; give the public box \[west, south, east, north\]"),
        ({"bbox": None}, "synthdp.bbox is not filled in"),
        ({"bbox": "Berlin"}, "give a list of"),
        ({"bbox": [13, 52, 14]}, "give four numbers"),
        ({"bbox": [13, 52, True, 53]}, "give four numbers"),
        ({"bbox": [14, 52, 13, 53]}, "no box of degrees from west to east"),
        ({"bbox": [170, -50, 190, -30]}, "no box of degrees"),
        ({"bbox": [13, 52, 14, 53], "bins": 1}, "each 2 or more"),
        ({"bbox": [13, 52, 14, 53], "bins": [2, 3, 4]}, "each 2 or more"),
        ({"bbox": [13, 52, 14, 53], "bins": [2000, 2000]}, "at most 1,"),
        ({"bbox": [13, 52, 14, 53], "bins": 50, "decimals": 1}, "'home'.*hold no value"),
        ({"bbox": [13, 52, 14, 53], "grid": 4}, "'synthdp.grid' is not known"),
    ],
)
def test_a_field_that_contradicts_itself_is_refused_in_one_line(own, problem):
    with pytest.raises(SchemaError, match=problem) as refused:
        Schema.from_dict({"fields": [FIELD | {"synthdp": own}]})
    assert "\n" not in str(refused.value)


def test_bounds_are_the_box_and_not_those_of_numbers():
    with pytest.raises(
        SchemaError, match=r"constraints.minimum is not for points; give synthdp.bbox"
    ):
        Schema.from_dict({"fields": [FIELD | {"constraints": {"minimum": 1}}]})


def test_an_open_box_is_one_clear_error_of_schema_check(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for field in (
        FIELD | {"synthdp": {"derive": True}},
        FIELD | {"synthdp": {"derive": ["bounds"]}},
    ):
        (tmp_path / "schema.json").write_text(json.dumps({"fields": [field]}), encoding="utf-8")
        checked = invoke("schema", "check", "schema.json")
        assert checked.code == 1
        assert len(checked.lines) == 1
        assert "'home'" in checked.err
    with pytest.raises(SchemaError, match="a box is not learnt"):
        OpenSchema.from_kinds({"home": "geopoint"})


def homes(n_rows):
    rng = np.random.default_rng(0)
    around = np.column_stack([rng.normal(13.2, 0.05, n_rows), rng.normal(52.6, 0.03, n_rows)])
    return pd.DataFrame({"home": [(round(x, 4), round(y, 4)) for x, y in around.tolist()]})


def test_points_are_released_and_compared_by_cells_and_by_both_coordinates():
    own = {"bbox": BERLIN, "bins": [8, 8]}
    schema = {"fields": [FIELD | {"format": "array", "synthdp": own}]}
    table = homes(4_000)
    synthesis = synthdp.synthesize(table, schema, epsilon=3, delta=1e-6)
    drawn = synthesis.sample(4_000, seed=1)
    points = np.array(drawn["home"].dropna().tolist())
    assert abs(points.mean(axis=0) - [13.2, 52.6]).max() < 0.02
    row = synthdp.evaluate(table, drawn, schema).columns.iloc[0]
    assert row["tvd"] < 0.1
    assert row["ks"] < 0.15
    far = table.assign(home=[(x, y - 0.2) for x, y in table["home"]])
    assert synthdp.evaluate(table, far, schema).columns.iloc[0]["ks"] > 0.9  # by latitude alone
    met = synthesis.sample(50, seed=2, where={"home": ["[13.25, 52.58]"]})
    cell = synthesis.schema["home"].encode(pd.Series([(13.25, 52.58)], dtype=object))
    assert set(synthesis.schema["home"].encode(met["home"])) == set(cell)


def test_too_many_cells_are_bins_and_points_outside_are_told_where_the_box_is(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    own = {"bbox": BERLIN, "bins": [200, 200]}
    Schema.from_dict({"fields": [FIELD | {"synthdp": own}]}).save("schema.json")
    assert "use fewer bins" in invoke("schema", "check", "schema.json").out.decode()
    counts = pd.Series(10.0, index=point().labels, name="count")
    synthesis = synthdp.from_measurements(Schema((point(),)), [(counts, 1.0)])
    with pytest.raises(
        SchemaError, match=r"which is no point in the box \[13.0, 52.3, 13.8, 52.7\]"
    ):
        synthesis.sample(given={"home": ["0, 0"]}, seed=1)
    given = synthesis.sample(given={"home": ["13.1, 52.4"]}, seed=1)
    assert given["home"].tolist() == ["13.1, 52.4"]


@pytest.mark.parametrize("wide", [True, False])
def test_structures_and_lists_of_numbers_are_points(wide, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    kind = pa.float64() if wide else pa.float32()
    structure = pa.struct([("lon", kind), ("lat", kind)])
    pairs = [(13.75, 52.625), None, (13.0, float("nan"))]
    named = [
        None if pair is None else dict(zip(("lon", "lat"), pair, strict=True)) for pair in pairs
    ]
    column = point().with_unread_place()
    for array in (
        pa.array(named, type=structure),
        pa.array(pairs, type=pa.list_(kind)),
        pa.array(pairs, type=pa.list_(kind, 2)),
    ):
        table = pa.table({"home": array})
        pyarrow.parquet.write_table(table, tmp_path / "homes.parquet")
        arrow = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))
        assert column.encode(arrow).tolist() == [7, 8, 9]
        schema = Schema((point(),))
        data = (table, tmp_path / "homes.parquet", table.to_pandas())
        for each in data:
            found = synthdp.evaluate(each, each, schema)
            assert found.facts["rows_real"] == 3
            assert found.columns.iloc[0]["missing_real"] == pytest.approx(1 / 3)


def test_an_engine_refuses_points_before_anything_is_paid():
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.connect().sql("SELECT '13.1, 52.4' AS home")
    with pytest.raises(
        SchemaError, match=r"the schema says 'geopoint', and the engine String"
    ) as refused:
        synthdp.synthesize(rows, Schema((point(),)), epsilon=1, delta=1e-6)
    assert "\n" not in str(refused.value)
