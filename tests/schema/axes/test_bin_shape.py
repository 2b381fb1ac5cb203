"""Shapes, edges of dates, and the door of numbers: what is drawn inside a bin never leaves it."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from helpers.drawn_columns import resolutions, rounded_edges
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import SchemaError
from synthdp.data import decode, encode
from synthdp.schema import (
    CategoricalColumn,
    DateColumn,
    GridIntervals,
    IntegerColumn,
    NumberColumn,
    Schema,
    Shape,
    are_unread,
    cut_at,
    masses,
)

FLAGS = st.booleans()
WEIGHTS = st.sampled_from([0, 0.0, 1, 2.5, 1e-300, 1e300]) | st.floats(0, 1e6)
FIRST = dt.datetime.fromisoformat("0001-01-01")
LAST = dt.datetime.fromisoformat("9999-12-31T23:59:59")


@st.composite
def shapes(draw, inside, low, high):
    """A shape that begins at ``low``."""
    starts = sorted(
        {low, *(value for value in draw(st.lists(inside, max_size=8)) if low < value <= high)}
    )
    weights = draw(st.lists(WEIGHTS, min_size=len(starts), max_size=len(starts)))
    return Shape(starts=tuple(starts), weights=tuple(weights))


@st.composite
def shaped_integers(draw):
    low = draw(st.integers(-(2**53), 2**53))
    high = min(low + draw(st.sampled_from([0, 1, 2, 63, 64, 1000, 2**40])), 2**53)
    bins = draw(st.none() | st.integers(min(2, high - low + 1), min(high - low + 1, 99)))
    shape = draw(shapes(st.integers(low, high) | st.integers(low, min(low + 9, high)), low, high))
    return IntegerColumn(
        name="x", required=draw(FLAGS), minimum=low, maximum=high, bins=bins, shape=shape
    )


@st.composite
def shaped_numbers(draw):
    scale = 10.0 ** draw(st.integers(-12, 12))
    low = draw(st.floats(-1e6, 1e6)) * scale
    high = low + draw(st.floats(1e-3, 1e6)) * scale
    shape = draw(shapes(st.floats(low, high), low, high))
    bins = None if low == high else draw(st.none() | st.integers(2, 70))
    return NumberColumn(
        name="x", required=draw(FLAGS), minimum=low, maximum=high, bins=bins, shape=shape
    )


@st.composite
def shaped_decimals(draw):
    decimals, edges = draw(rounded_edges())
    shape = draw(
        shapes(st.sampled_from(edges) | st.floats(edges[0], edges[-1]), edges[0], edges[-1])
    )
    return NumberColumn(name="x", required=draw(FLAGS), edges=edges, decimals=decimals, shape=shape)


@st.composite
def shaped_dates(draw):
    kind, resolution = draw(resolutions())
    time = {"microsecond": 0} | ({"hour": 0, "minute": 0, "second": 0} if kind == "date" else {})
    moments = st.datetimes(FIRST, LAST).map(lambda moment: moment.replace(**time))
    low, high = sorted(draw(st.tuples(moments, moments)))
    shape = draw(
        shapes(st.datetimes(low, high).map(lambda moment: moment.replace(**time)), low, high)
    )
    return DateColumn(
        name="x",
        required=draw(FLAGS),
        minimum=low,
        maximum=high,
        type=kind,
        resolution=resolution,
        shape=shape,
    )


@st.composite
def dates_with_edges(draw):
    days = sorted(draw(st.lists(st.integers(-(10**5), 10**5), min_size=3, max_size=9, unique=True)))
    edges = tuple(dt.datetime.fromisoformat("1970-01-01") + dt.timedelta(days=day) for day in days)
    kind, resolution = draw(
        st.sampled_from([("date", "day"), ("datetime", "hour"), ("datetime", "second")])
    )
    return DateColumn(name="x", required=draw(FLAGS), edges=edges, type=kind, resolution=resolution)


SHAPED = st.one_of(
    shaped_integers(), shaped_numbers(), shaped_decimals(), shaped_dates(), dates_with_edges()
)


@settings(deadline=None, max_examples=examples(150))
@given(SHAPED, st.integers(0, 2**32))
def test_what_is_decoded_encodes_to_the_same_codes(column, seed):
    schema = Schema((column,))
    codes = np.repeat(np.arange(column.size), 7)
    typed = decode([codes], schema, np.random.default_rng(seed))
    text = decode([codes], schema, np.random.default_rng(seed), text=True)
    assert encode(typed, schema).columns[0].tolist() == codes.tolist()
    assert encode(text, schema).columns[0].tolist() == codes.tolist()
    read_back = column.read_numbers(text["x"])
    np.testing.assert_array_equal(
        read_back, column.read_numbers(typed["x"])
    )  # the same values, not only the same bins
    again = Schema.from_dict(schema.to_dict())
    assert again == schema
    assert again.fingerprint == schema.fingerprint


@settings(deadline=None, max_examples=examples(75))
@given(
    SHAPED,
    st.lists(
        st.none() | st.text(max_size=3) | st.integers() | st.floats() | st.dates(), max_size=9
    ),
)
def test_encoding_is_reading_and_then_coding(column, values):
    for series in (
        pd.Series(values, dtype=object),
        pd.Series(list(map(str, values)), dtype=object),
    ):
        numbers = column.read_numbers(series)
        assert numbers.dtype == np.float64
        codes = column.codes_of_numbers(numbers)
        assert codes.dtype == column.dtype
        assert codes.tolist() == column.encode(series).tolist()


def test_numbers_that_mean_missing_are_read_as_missing():
    column = IntegerColumn(name="x", minimum=0, maximum=9, missing_values=("", "-9"))
    values = pd.Series(["3", "-9", -9.0, "", None, "?", math.inf, 12], dtype=object)
    numbers = column.read_numbers(values)
    assert numbers[[0, 7]].tolist() == [3, 12]
    assert np.isnan(numbers[1:7]).all()
    assert are_unread(numbers).tolist() == [value == "?" for value in values]
    assert column.codes_of_numbers(np.array([3, np.nan, -5, np.inf])).tolist() == [3, 10, 0, 9]
    required = IntegerColumn(name="x", minimum=0, maximum=9, required=True)
    assert required.codes_of_numbers(np.array([np.nan, 4.0])).tolist() == [0, 4]


def test_without_a_shape_draws_are_what_they_were():
    column = IntegerColumn(name="x", edges=(0, 3, 10, 100), required=True)
    codes = np.random.default_rng(0).integers(3, size=1000)
    lows, lengths = np.array([0, 3, 10]), np.array([3, 7, 91])
    expected = lows[codes] + (np.random.default_rng(1).random(1000) * lengths[codes]).astype(int)
    assert column.decode(codes, np.random.default_rng(1)).tolist() == expected.tolist()


def expected_shares(starts, weights, points, first, last):
    """Brute force: the probability of each grid point ``first .. last``, a whole bin of ``points``,
    by definition.
    """
    ends = [*starts[1:], None]
    share = {}
    for begin, end, weight in zip(starts, ends, weights, strict=True):
        held = [point for point in points if begin <= point and (end is None or point < end)]
        share |= {point: weight / len(held) for point in held}
    inside = {point: share[point] for point in points if first <= point <= last}
    total = sum(inside.values())
    return {point: (each / total if total else 1 / len(inside)) for point, each in inside.items()}


@pytest.mark.parametrize(
    ("column", "points", "bins"),
    [
        (IntegerColumn(name="x", edges=(0, 5, 13, 20, 30),
                       shape=Shape(starts=(0, 3, 4, 13, 14, 20), weights=(1, 5, 9, 0, 0, 3))),
         list(range(31)), [(0, 4), (5, 12), (13, 19), (20, 30)]),
        (NumberColumn(name="x", edges=(0, 0.5, 1), decimals=1,
                      shape=Shape(starts=(0, 0.25, 0.3, 0.95), weights=(2, 7, 1, 8))),
         [k / 10 for k in range(11)], [(0, 4), (5, 10)]),
        (DateColumn(name="x", edges=(dt.date(2020, 1, 1), dt.date(2020, 1, 6), dt.date(2020, 1, 12)),
                    shape=Shape(starts=(dt.date(2020, 1, 1), dt.date(2020, 1, 4)), weights=(1, 1))),
         [dt.datetime.fromisoformat(f"2020-01-{day:02}") for day in range(1, 13)], [(0, 4), (5, 11)]),
    ],
    ids=["integer", "number", "date"],
)  # fmt: skip
def test_values_are_drawn_as_the_definition_says(column, points, bins):
    n = 40_000
    for code, (first, last) in enumerate(bins):
        shape = column.shape
        wanted = expected_shares(shape.starts, shape.weights, points, points[first], points[last])
        values = column.decode(np.full(n, code), np.random.default_rng(code)).value_counts()
        assert set(values.index) <= {point for point, share in wanted.items() if share}
        for point, share in wanted.items():
            # 7 standard deviations: below 1e-11 a point
            assert (
                abs(values.get(point, 0) - n * share)
                <= 7 * math.sqrt(n * share * (1 - share)) + 1e-6
            )


def test_a_piece_begins_with_the_first_date_that_can_be_written():
    shape = Shape(
        starts=(dt.date(2020, 1, 5), dt.date(2020, 2, 1), dt.date(2020, 3, 2)), weights=(0, 1, 0)
    )
    column = DateColumn(
        name="x",
        minimum=dt.date(2020, 1, 5),
        maximum=dt.date(2021, 12, 31),
        resolution="month",
        bins=2,
        shape=shape,
    )
    drawn = set(column.decode_text(np.zeros(500, np.uint8), np.random.default_rng(0)))
    assert drawn == {"2020-02-01", "2020-03-01"}


def test_spikes_survive():
    starts, weights = (0, 40, 41), (1.0, 8.0, 1.0)
    column = IntegerColumn(
        name="x", minimum=0, maximum=99, bins=2, shape=Shape(starts=starts, weights=weights)
    )
    values = column.decode(np.zeros(10_000, np.uint8), np.random.default_rng(0))
    # in the bin 0 .. 49: 1 below 40, 8 at 40, and 9 of the 59 points above
    assert abs((values == 40).mean() - 8 / (1 + 8 + 9 / 59)) < 7 * math.sqrt(0.1 / 10_000)


@settings(deadline=None, max_examples=examples(100))
@given(st.data())
def test_runs_are_drawn_from_their_group_only(data):
    n = data.draw(st.integers(1, 30))
    groups = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    lengths = np.array(data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)))
    mass = np.array(data.draw(st.lists(WEIGHTS, min_size=n, max_size=n)), dtype=np.float64)
    firsts = np.cumsum(lengths) - lengths
    runs = GridIntervals.from_groups(groups, firsts, lengths, mass)
    owner = np.repeat(np.arange(n), lengths)
    for position, key in enumerate(runs.keys):
        drawn = owner[runs.draw(np.full(200, position), np.random.default_rng(position))]
        heavy = (groups == key) & (mass > 0)
        assert set(drawn) <= set(np.flatnonzero(heavy if heavy.any() else groups == key))


def test_a_draw_next_to_one_stays_in_its_group():
    class Highest:
        def random(self, n):
            return np.full(n, np.nextafter(1.0, 0))

    groups = np.repeat(np.arange(100_000), 2)
    runs = GridIntervals.from_groups(
        groups, np.arange(len(groups)), np.ones(len(groups), np.int64), np.tile([1.0, 0.0], 100_000)
    )
    assert runs.draw(np.arange(100_000), Highest()).tolist() == list(range(0, 200_000, 2))


def test_masses_are_those_of_the_pieces():
    starts = np.array([0, 4, 4, 10])
    cuts = cut_at(np.array([0, 2, 10]), starts, np.array([7]))
    assert cuts.tolist() == [0, 2, 4, 7, 10]
    assert masses(cuts, starts, (8.0, 99.0, 6.0)).tolist() == [4, 4, 3, 3]


DATES = {"minimum": "2020-01-01", "maximum": "2020-12-31"}
BAD = {
    "no object": ("integer", {"shape": [0]}, "starts and weights"),
    "no weights": ("integer", {"shape": {"starts": [0]}}, "starts and weights"),
    "starts no list": ("integer", {"shape": {"starts": 0, "weights": [1]}}, "shape.starts is 0"),
    "empty": ("integer", {"shape": {"starts": [], "weights": []}}, "starts is empty; begin at the lower bound, 0"),
    "late": ("integer", {"shape": {"starts": [1], "weights": [1]}}, "begins at 1; begin at the lower bound, 0"),
    "unsorted": ("number", {"shape": {"starts": [0, 5, 5], "weights": [1, 1, 1]}}, "not increasing"),
    "above": ("number", {"shape": {"starts": [0, 101], "weights": [1, 1]}}, "above the upper bound"),
    "length": ("number", {"shape": {"starts": [0, 1], "weights": [1]}}, "1 entries for 2 starts"),
    "negative": ("integer", {"shape": {"starts": [0], "weights": [-1]}}, "holds -1"),
    "infinite": ("integer", {"shape": {"starts": [0], "weights": [math.inf]}}, "holds inf"),
    "NaN": ("integer", {"shape": {"starts": [0], "weights": [math.nan]}}, "holds nan"),
    "text weight": ("integer", {"shape": {"starts": [0], "weights": ["1"]}}, "holds '1'"),
    "true weight": ("integer", {"shape": {"starts": [0], "weights": [True]}}, "holds True"),
    "fraction": ("integer", {"shape": {"starts": [0, 1.5], "weights": [1, 1]}}, "shape.starts is 1.5"),
    "text": ("number", {"shape": {"starts": ["0"], "weights": [1]}}, "shape.starts is '0'"),
    "number as date": ("date", {"shape": {"starts": [0], "weights": [1]}}, "shape.starts 0 is not a date"),
    "date": ("date", {"shape": {"starts": ["2020-01-02"], "weights": [1]}}, "begin at the lower bound, 2020-01-01"),
    "edges no list": ("date", {"edges": "2020-01-01"}, "list of increasing dates"),
    "edges no dates": ("date", {"edges": ["x", "y", "z"]}, "synthdp.edges 'x' is not a date"),
    "two edges": ("date", {"edges": ["2020-01-01", "2020-12-31"]}, "at least 3"),
    "edges and bins": ("date", {"edges": ["2020-01-01", "2020-06-01", "2020-12-31"], "bins": 3}, "keep one"),
    "edges and bounds": ("date", {"edges": ["2020-01-01", "2020-06-01", "2020-12-30"]}, "make them equal"),
    "edges unsorted": ("date", {"edges": ["2020-01-01", "2020-06-01", "2020-05-01", "2020-12-31"]}, "not increasing"),
    "edge in a month": (
        "date", {"edges": ["2020-01-01", "2020-06-02", "2020-12-31"], "resolution": "month"}, "cuts a month in two"
    ),
    "edge in a week": (
        "date", {"edges": ["2020-01-01", "2020-06-02", "2020-12-31"], "resolution": "week"}, "cuts a week in two"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_contradictions_are_refused_in_one_line(case):
    kind, own, expected = BAD[case]
    constraints = DATES if kind == "date" else {"minimum": 0, "maximum": 100}
    with pytest.raises(SchemaError, match=expected) as caught:
        Schema.from_dict(
            {"fields": [{"name": "pay", "type": kind, "constraints": constraints, "synthdp": own}]}
        )
    assert "'pay'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_shapes_are_for_bins_only():
    own = {"shape": {"starts": [0], "weights": [1]}}
    with pytest.raises(SchemaError, match="not known for this kind"):
        Schema.from_dict(
            {
                "fields": [
                    {"name": "x", "type": "string", "constraints": {"enum": ["a"]}, "synthdp": own}
                ]
            }
        )


def test_edges_of_dates():
    own = {"resolution": "month", "edges": ["15.01.2020", "01.03.2020", "01.12.2020", "20.12.2020"]}
    field = {"name": "x", "type": "date", "format": "%d.%m.%Y", "synthdp": own}
    schema = Schema.from_dict({"fields": [field]})
    column = schema["x"]
    values = pd.Series(
        ["14.01.2020", "29.02.2020", "01.03.2020", "30.11.2020", "01.12.2020", "31.12.2020", "?"]
    )
    assert column.encode(values).tolist() == [0, 0, 1, 1, 2, 2, 3]
    assert schema.to_dict()["fields"][0]["synthdp"] == own
    assert schema.to_dict()["fields"][0]["constraints"] == {
        "minimum": "15.01.2020",
        "maximum": "20.12.2020",
    }
    drawn = set(decode([np.zeros(200, np.uint8)], schema, np.random.default_rng(0), text=True)["x"])
    assert drawn == {"15.01.2020", "01.02.2020"}
    assert [str(label) for label in column.labels[:2]] == [
        "[2020-01-15 00:00:00, 2020-03-01 00:00:00)",
        "[2020-03-01 00:00:00, 2020-12-01 00:00:00)",
    ]


def test_equal_values_of_other_kinds_are_not_binned():
    assert not hasattr(CategoricalColumn(name="x", levels=("a",)), "shape")


def test_shares_between_two_points_of_a_bin_are_what_is_drawn_there():
    """By the shape; over a whole bin they are 1."""
    shape = {"starts": [0, 10, 12, 50], "weights": [1, 6, 0, 3]}
    bounds = {"minimum": 0, "maximum": 99, "required": True}
    field = {"name": "day", "type": "integer", "constraints": bounds}
    axis = Schema.from_dict({"fields": [{**field, "synthdp": {"bins": 2, "shape": shape}}]})[
        "day"
    ].axis
    starts = axis.drawn_starts
    assert axis.share_between(starts[:-1], starts[1:] - 1) == pytest.approx([1.0, 1.0])
    points = axis.draw(np.zeros(20_000, int), np.random.default_rng(0))
    for low, high in [(0, 9), (10, 11), (3, 10), (12, 49)]:
        (share,) = axis.share_between(np.array([low]), np.array([high]))
        assert abs(((low <= points) & (points <= high)).mean() - share) < 0.02
