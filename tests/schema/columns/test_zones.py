"""Moments come out in the time zone that the schema, or a file's public type, says."""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke

import synthdp
from synthdp.core import SchemaError
from synthdp.schema import OpenSchema, Schema

ZONES = ["UTC", "Europe/Berlin", "America/St_Johns", "+02:00", "-11:30"]
HOURS = pd.date_range("2022-03-26", "2022-03-28", freq="h", tz="UTC").to_series()
"""In Berlin summer time begins; its autumn is `BACK`, when an hour comes twice."""
BACK = pd.date_range("2022-10-29", "2022-10-31", freq="h", tz="UTC").to_series()


def column_of(**more):
    field = {"name": "x", "type": "datetime"} | more
    field["constraints"] = {"minimum": "2022-01-01", "maximum": "2022-12-31"}
    return Schema.from_dict({"fields": [field]}).columns[0]


def seconds(moments):
    return moments.to_numpy(dtype="datetime64[s]").astype(np.int64)


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("pattern", [None, "%d.%m.%Y %H:%M:%S%z"])
@pytest.mark.parametrize("moments", [HOURS, BACK], ids=["spring", "autumn"])
def test_what_is_read_is_written_as_the_same_moment_with_its_offset(zone, pattern, moments):
    more = {} if pattern is None else {"format": pattern}
    column = column_of(synthdp={"timezone": zone, "resolution": "hour"}, **more)
    local = moments.dt.tz_convert(f"UTC{zone}" if zone[0] in "+-" else zone)
    texts = local.map(lambda each: each.isoformat() if pattern is None else each.strftime(pattern))
    if zone == "UTC" and pattern is None:
        texts = texts.str.replace("+00:00", "Z")
    for values in (local, texts, local.astype(object)):
        assert (column.read_numbers(values) == seconds(moments)).all()
    points = seconds(moments) // 3600
    known = np.zeros(len(points), dtype=bool)
    assert column.texts_at(points, known).tolist() == texts.tolist()
    drawn = column.values_at(points, known)
    assert drawn.dtype == pd.DatetimeTZDtype("s", local.dt.tz)
    assert (seconds(drawn) == seconds(moments)).all()
    again = Schema.from_dict({"fields": [column.field()]}).columns[0]
    assert again == column


def test_texts_without_an_offset_are_not_read_where_it_could_be_either():
    column = column_of(synthdp={"timezone": "Europe/Berlin"})
    texts = pd.Series(["2022-05-01T12:00:00", "2022-05-01 12:00:00+02:00", "2022-05-01T10:00Z"])
    assert np.isnan(column.read_numbers(texts)).tolist() == [True, False, False]
    assert np.isnan(column.read_numbers(pd.Series(["2022-05-01T12:00:00+02:00"] * 2))).sum() == 0
    plain = column_of()
    assert np.isnan(plain.read_numbers(texts)).tolist() == [False, True, False]


@pytest.mark.parametrize("zone", ["Mars", "", "../UTC", "Europe", "+25:00", "+2", 2, "Z\0", "é"])
def test_what_is_no_zone_is_refused_and_so_is_one_that_cannot_be_said(zone):
    with pytest.raises(SchemaError, match=r"synthdp\.timezone"):
        column_of(synthdp={"timezone": zone})


@pytest.mark.parametrize(
    ("more", "said"),
    [({"type": "date"}, "type 'datetime'"), ({"format": "%Y-%m-%d %H:%M"}, "add %z")],
)
def test_a_zone_that_nothing_could_say_is_refused(more, said):
    with pytest.raises(SchemaError, match=said):
        column_of(synthdp={"timezone": "UTC"}, **more)


def test_what_is_lost_is_said_before_the_run_from_the_declaration_alone():
    kinds = {"x": "datetime", "y": {"type": "datetime", "synthdp": {"timezone": "UTC"}}}
    notes = [column.reading.note for column in OpenSchema.from_kinds(kinds).columns]
    assert all("fractions of seconds are cut off" in note for note in notes)
    assert all("declare synthdp.resolution" in note for note in notes)
    assert ["declare synthdp.timezone" in note for note in notes] == [True, False]
    kept = {"x": {"type": "datetime", "synthdp": {"resolution": "minute"}}}
    assert "kept by minute" in OpenSchema.from_kinds(kept).columns[0].reading.note


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moments = HOURS.sample(400, replace=True, random_state=1).reset_index(drop=True)
    frame = pd.DataFrame({name: moments.dt.tz_convert(name) for name in ("UTC", "Europe/Berlin")})
    frame["none"] = moments.dt.tz_localize(None)
    frame["declared"] = moments.dt.tz_convert("Asia/Tokyo")
    frame.to_parquet("in.parquet")
    kinds = dict.fromkeys(frame.columns, "datetime")
    kinds["declared"] = {"type": "datetime", "synthdp": {"timezone": "+02:00"}}
    (tmp_path / "kinds.json").write_text(json.dumps(kinds))
    return frame


@pytest.mark.usefixtures("table")
def test_a_file_of_moments_in_a_zone_gives_moments_in_that_zone():
    options = ("--kinds", "kinds.json", "--epsilon=5", "--delta=1e-6", "--mechanism=independent")
    run = invoke("run", "in.parquet", "-o", "out.parquet", "--save", "m.synthdp", *options)
    assert run.code == 0, run.err
    drawn = pd.read_parquet("out.parquet")
    zones = {name: str(getattr(dtype, "tz", None)) for name, dtype in drawn.dtypes.items()}
    assert zones == {
        "UTC": "UTC",
        "Europe/Berlin": "Europe/Berlin",
        "none": "None",
        "declared": "UTC+02:00",
    }
    assert invoke("sample", "m.synthdp", "-o", "out.csv").code == 0
    texts = pd.read_csv("out.csv", dtype=str)
    assert texts["UTC"].str.endswith("Z").all()
    assert texts["Europe/Berlin"].str.contains(r"\+0[12]:00$").all()
    assert texts["declared"].str.endswith("+02:00").all()
    assert not texts["none"].str.contains(r"Z|\+").any()
    quality = synthdp.evaluate("in.parquet", "out.csv", schema="m.synthdp")
    assert quality.to_dict() is not None


def test_frames_with_dtypes_that_are_public_and_empty_cells_keep_zones(table):
    released = synthdp.synthesize(
        table, kinds="dtypes", epsilon=5, delta=1e-6, mechanism="independent"
    )
    drawn = released.sample(50, seed=1)
    assert {n: str(d) for n, d in drawn.dtypes.items()} == {
        n: str(d) for n, d in table.dtypes.items()
    }
    assert released.sample(5, seed=1, text=True)["declared"].str.endswith("+09:00").all()
    for given in (["2022-03-26T12:00:00+01:00", None], [pd.Timestamp("2022-03-26 11:00"), None]):
        frame = pd.DataFrame({"Europe/Berlin": given})
        filled = released.sample(given=frame, seed=1)["Europe/Berlin"]
        assert filled.iloc[0] == pd.Timestamp("2022-03-26 12:00", tz="Europe/Berlin")
