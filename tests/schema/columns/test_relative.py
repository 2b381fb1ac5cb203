"""Relative columns: distances of values, row by row, and values at distances."""

import copy
import math
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import SchemaError
from synthdp.data import decode, encode, plain_column
from synthdp.schema import OpenSchema, Schema


def field(name, kind, **more):
    """A field between bounds that its type has."""
    bounds = {
        "date": ("2020-01-01", "2020-12-31"),
        "datetime": ("2020-01-01", "2020-01-31T23:59:59"),
        "time": ("08:00:00", "11:59:59"),
        "integer": (10, 500),
        "number": (1.5, 90.0),
    }[kind]
    own = {"decimals": 1} if kind == "number" else {}
    own |= {"resolution": "minute"} if kind in ("datetime", "time") else {}
    constraints = dict(zip(("minimum", "maximum"), bounds, strict=True))
    return {"name": name, "type": kind, "constraints": constraints, "synthdp": own} | more


def relative(name, kind, other="start", *, required=False, low=0, high=30, **own):
    constraints = {"constraints": {"required": True}} if required else {}
    own = {"relative_to": other, "minimum": low, "maximum": high} | own
    return {"name": name, "type": kind, **constraints, "synthdp": own}


def schema_of(*fields, **more):
    return Schema.from_dict({"fields": list(fields), **more})


# own type, other type, further keys under synthdp
PAIRS = {
    "dates": ("date", "date", {}),
    "dates by month": ("date", "date", {"resolution": "month", "high": 12}),
    "moments": ("datetime", "datetime", {"resolution": "minute", "high": 5000}),
    "a date after a moment": ("date", "datetime", {}),
    "times": ("time", "time", {"resolution": "minute", "high": 700}),
    "integers": ("integer", "integer", {"low": -20}),
    "numbers": ("number", "number", {"decimals": 1, "low": -5.0}),
    "ratios": ("number", "number", {"as": "ratio", "decimals": 6, "low": 0.5, "high": 2.0}),
    "whole ratios": ("integer", "integer", {"as": "ratio", "low": 1, "high": 40, "bins": 8}),
}
every_pair = pytest.mark.parametrize("pair", PAIRS)


def pair_schema(pair, *, required=False):
    own, other, more = PAIRS[pair]
    start = field("start", other)
    if required:
        start["constraints"]["required"] = True
    return schema_of(start, relative("end", own, required=required, **more))


@every_pair
@pytest.mark.parametrize("text", [False, True])
def test_what_is_drawn_reads_back_as_the_codes_that_it_came_from(pair, text):
    for required in (False, True):
        schema = pair_schema(pair, required=required)
        rng = np.random.default_rng(1)
        codes = [rng.integers(0, size, 300) for size in schema.domain.shape]
        table = decode(codes, schema, np.random.default_rng(2), text=text)
        assert list(table.columns) == ["start", "end"]
        read = encode(table, schema).columns
        is_missing = (codes[0] == schema["start"].n_levels) & (not required)
        expected = np.where(is_missing, schema["end"].missing_code, codes[1])
        assert read[0].tolist() == codes[0].tolist()
        if pair == "whole ratios":  # rounded, values may leave the bin of their ratio
            assert np.mean(read[1] == expected) > 0.85
        else:
            assert read[1].tolist() == expected.tolist()
        assert table["end"].isna().equals(table["start"].isna() | table["end"].isna())


@every_pair
def test_columns_keep_the_form_of_their_type(pair):
    schema = pair_schema(pair, required=True)
    own, _, _ = PAIRS[pair]
    table = decode([np.zeros(3, int), np.ones(3, int)], schema, np.random.default_rng(0))
    plain = Schema.from_dict(
        {
            "fields": [
                field("x", own)
                | {"constraints": {**field("x", own)["constraints"], "required": True}}
            ]
        }
    )
    expected = decode([np.zeros(3, int)], plain, np.random.default_rng(0))
    assert table["end"].dtype == expected["x"].dtype
    assert schema.to_dict()["fields"][1]["type"] == own


@every_pair
def test_a_schema_is_written_and_read_again(pair):
    schema = pair_schema(pair)
    written = schema.to_dict()
    again = Schema.from_dict(written)
    assert again == schema
    assert again.to_dict() == written
    assert again.fingerprint == schema.fingerprint
    assert OpenSchema.from_dict(written).to_dict() == written


MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001 (no time zone is meant)
VALUES = {
    "date": MOMENTS.map(lambda each: each.date().isoformat()),
    "datetime": MOMENTS.map(lambda each: each.isoformat(timespec="seconds")),
    "time": st.times().map(lambda each: each.isoformat(timespec="seconds")),
    "integer": st.integers(-(10**9), 10**9).map(str),
    "number": st.floats(-1e9, 1e9).map(repr),
}
ODD = st.sampled_from([None, "", "?", "NA", "inf", "nan", [], object(), True, pd.NaT, "1e400", 7])


@every_pair
@settings(max_examples=60)
@given(data=st.data())
def test_the_code_of_a_row_is_a_function_of_that_row_only(pair, data):
    schema = pair_schema(pair).with_unread_places()
    own, other, _ = PAIRS[pair]
    rows = data.draw(
        st.lists(st.tuples(VALUES[other] | ODD, VALUES[own] | ODD), min_size=1, max_size=6)
    )
    frame = pd.DataFrame(rows, columns=["start", "end"], dtype=object)
    whole = encode(frame, schema).columns
    alone = [encode(frame.iloc[[row]], schema).columns for row in range(len(rows))]
    assert [codes.tolist() for codes in whole] == [
        [int(each[axis][0]) for each in alone] for axis in range(2)
    ]
    backwards = encode(frame.iloc[::-1], schema).columns
    assert backwards[1].tolist()[::-1] == whole[1].tolist()


def test_distances_are_differences_in_units_of_the_column_and_ratios():
    frame = pd.DataFrame(
        {"start": ["2020-01-30", "2020-03-01"], "end": ["2020-02-02", "2019-03-01"]}
    )
    for resolution, expected in (("day", [3, -366]), ("month", [1, -12]), ("year", [0, -1])):
        own = relative("end", "date", low=-400, high=400, resolution=resolution)
        schema = schema_of(field("start", "date"), own)
        assert schema.relatives.measured(frame, plain_column)["end"].tolist() == expected
    frame = pd.DataFrame({"start": [0.1, 2.0, 0.0], "end": [0.3, 1.0, 5.0]})
    difference = schema_of(field("start", "number"), relative("end", "number", decimals=1))
    assert difference.relatives.measured(frame, plain_column)["end"].tolist() == [0.2, -1.0, 5.0]
    ratio = relative("end", "number", decimals=1, **{"as": "ratio"})
    found = schema_of(field("start", "number"), ratio).relatives.measured(frame, plain_column)[
        "end"
    ]
    assert found.tolist()[:2] == pytest.approx([3.0, 0.5])
    assert found.tolist()[2] == "unread"


def test_a_distance_is_missing_or_unread_where_one_of_the_two_is():
    start = field("start", "date", missingValues=["", "1111-11-11"])
    schema = schema_of(start, relative("end", "date")).with_unread_places()
    missing, unread = schema["end"].missing_code, schema["end"].unread_code
    rows = {
        ("2020-01-01", "2020-01-05"): 4,
        ("", "2020-01-05"): missing,
        ("1111-11-11", "2020-01-05"): missing,
        ("2020-01-01", None): missing,
        ("?", "2020-01-05"): unread,
        ("2020-01-01", "?"): unread,
        ("", "?"): unread,
        ("2019-01-01", "2019-01-03"): 2,  # whatever the bounds of the other column
        ("2020-01-01", "2019-01-01"): 0,
        ("2020-01-01", "2029-01-01"): schema["end"].n_levels - 1,
    }
    frame = pd.DataFrame(list(rows), columns=["start", "end"], dtype=object)
    assert encode(frame, schema).columns[1].tolist() == list(rows.values())


def test_columns_may_be_relative_in_a_chain_and_in_any_order():
    schema = schema_of(
        relative("third", "date", "second", low=1, high=9),
        relative("second", "date", "first", low=1, high=9),
        field("first", "date"),
    )
    codes = [np.array([3, 9, 0]), np.array([4, 1, 9]), np.array([0, 5, 2])]
    table = decode(codes, schema, np.random.default_rng(0))
    assert list(table.columns) == ["third", "second", "first"]
    steps = (table["third"] - table["second"]).dt.days, (table["second"] - table["first"]).dt.days
    assert steps[0].tolist()[0] == 4
    assert steps[1].tolist()[0] == 5
    # Where the other value is missing, so is the value.
    assert table.isna().to_numpy().tolist() == [
        [False] * 3,
        [True, False, False],
        [True, True, False],
    ]
    assert [each.tolist()[0] for each in encode(table, schema).columns] == [3, 4, 0]


def test_values_that_the_type_cannot_hold_are_the_nearest_ones():
    start = field("start", "date") | {
        "constraints": {"minimum": "9999-12-01", "maximum": "9999-12-31"}
    }
    schema = schema_of(start, relative("end", "date", low=50, high=60))
    table = decode([np.array([20]), np.array([5])], schema, np.random.default_rng(0), text=True)
    assert table["end"].tolist() == ["9999-12-31"]
    schema = schema_of(
        field("start", "time"), relative("end", "time", resolution="minute", high=1400)
    )
    table = decode([np.array([3]), np.array([31])], schema, np.random.default_rng(0), text=True)
    assert table["end"].tolist() == ["23:59:00"]


def test_formats_and_missing_values_are_those_of_the_column():
    own = relative("end", "date", low=0, high=9) | {
        "format": "%d.%m.%Y",
        "missingValues": ["none"],
    }
    schema = schema_of(field("start", "date"), own)
    frame = pd.DataFrame(
        {"start": ["2020-01-01"] * 3, "end": ["04.01.2020", "none", "2020-01-04"]}, dtype=object
    )
    assert encode(frame, schema.with_unread_places()).columns[1].tolist() == [3, 10, 11]
    table = decode(
        [np.array([0, 0]), np.array([3, 10])], schema, np.random.default_rng(0), text=True
    )
    day = datetime.fromisoformat(table["start"][0]) + timedelta(days=3)
    assert table["end"].tolist() == [day.strftime("%d.%m.%Y"), "none"]
    prices = [
        field("net", "number", decimalChar=","),
        relative("gross", "number", "net", decimals=2) | {"decimalChar": ","},
    ]
    table = decode(
        [np.array([0]), np.array([3])], schema_of(*prices), np.random.default_rng(0), text=True
    )
    net, gross = (float(table[name][0].replace(",", ".")) for name in ("net", "gross"))
    assert "," in table["gross"][0]
    assert 0 <= gross - net <= 30
    assert math.isclose(round(gross, 2), gross)


REFUSED = {
    "name another column": relative("end", "date", "nowhere"),
    "it is 'end'; name another column": relative("end", "date", "end"),
    "name a column of date or datetime": relative("end", "date", "n"),
    "its type is 'string'": relative("end", "string"),
    "use 'difference'": relative("end", "date", **{"as": "ratio"}),
    "synthdp.minimum is not filled in; give the bound of the distance, in days after 'start'": {
        "name": "end",
        "type": "date",
        "synthdp": {"relative_to": "start", "maximum": 3},
    },
    "constraints.minimum does not go with": relative("end", "date")
    | {"constraints": {"minimum": "2020-01-01"}},
    "synthdp.parts does not go with": relative("end", "date", parts=["weekday"]),
    "'synthdp.wide' is not known": relative("end", "date", wide=3),
    "it is required, but has no value where 'start' is missing": relative(
        "end", "date", required=True
    ),
    "synthdp.decimals is not filled in": relative("end", "number", "n", **{"as": "ratio"}),
    "did you mean 'relative_to'": {
        "name": "end",
        "type": "date",
        "synthdp": {"relativeTo": "start", "minimum": 0, "maximum": 9},
    },
}


@pytest.mark.parametrize("problem", REFUSED)
def test_what_contradicts_itself_is_refused_in_one_line(problem):
    fields = [field("start", "date"), field("n", "number"), REFUSED[problem]]
    for read in (Schema.from_dict, OpenSchema.from_dict):
        with pytest.raises(SchemaError, match="column 'end'") as refused:
            read({"fields": fields})
        assert problem.removeprefix("it is 'end'; ") in str(refused.value)
        assert "\n" not in str(refused.value)


def test_circles_rules_and_columns_that_are_left_out_are_refused():
    circle = [relative("a", "date", "b"), relative("b", "date", "a")]
    with pytest.raises(SchemaError, match="leads in a circle"):
        schema_of(*circle)
    rules = {"constraints": [{"check": "start <= end"}]}
    fields = [field("start", "date"), relative("end", "date")]
    for read in (Schema.from_dict, OpenSchema.from_dict):
        with pytest.raises(
            SchemaError, match="a rule names 'end', which is modelled by its distance"
        ):
            read({"fields": fields, "synthdp": rules})
    with pytest.raises(SchemaError, match="is 'start', which is no column of the model"):
        OpenSchema.from_dict({"fields": fields}).without("start")
    with pytest.raises(SchemaError, match="name another column"):
        OpenSchema.from_dict(
            {"fields": [*fields[1:], field("n", "integer")], "synthdp": {"ignore": ["start"]}}
        )


ODD_VALUES = [
    None,
    1,
    -1,
    1.5,
    True,
    "x",
    "",
    [],
    [1],
    {},
    {"a": 1},
    math.nan,
    10**400,
    "start",
    "end",
]


def paths_of(value, path=()):
    """Where everything stands in a JSON value."""
    yield path
    entries = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in entries:
        yield from paths_of(inner, (*path, key))


def said_by(read, schema):
    """What is said against a schema; nothing if it is read."""
    try:
        read(schema).to_dict()
    except SchemaError as error:
        return str(error)
    return ""


def test_any_value_in_place_of_any_other_is_refused_in_one_line_or_read():
    own = {"as": "difference", "resolution": "day", "bins": 3}
    whole = {
        "fields": [
            field("start", "date"),
            relative("end", "date", **own)
            | {"missingValues": [""], "format": "default", "title": "t"},
            field("n", "number"),
            relative("r", "number", "n", decimals=2, **{"as": "ratio"}),
        ],
        "missingValues": [""],
        "synthdp": {"constraints": []},
    }
    for path in list(paths_of(whole))[1:]:
        for value in ODD_VALUES:
            changed = copy.deepcopy(whole)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            for read in (Schema.from_dict, OpenSchema.from_dict):
                assert "\n" not in said_by(read, changed)
