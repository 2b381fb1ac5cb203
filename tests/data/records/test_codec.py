"""The codec: round trips, equal codes for equal meaning, totality, and dtypes by the schema alone."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from helpers.drawn_columns import resolutions, rounded_edges
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Domain, ParameterError, SchemaError
from synthdp.data import CodedTable, decode, encode
from synthdp.schema import (
    BooleanColumn,
    CategoricalColumn,
    DateColumn,
    IntegerColumn,
    NumberColumn,
    Schema,
)

FLAGS = st.booleans()
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)


@st.composite
def categoricals(draw):
    kind = draw(st.sampled_from(["string", "integer", "number"]))
    values = {
        "string": TEXTS.filter(bool),
        "integer": st.integers(-99, 99),
        "number": st.floats(-9e9, 9e9),
    }[kind]
    levels = draw(st.lists(values, min_size=1, max_size=6, unique_by=lambda level: level))
    other = draw(st.none() | st.sampled_from(levels) | values)
    return CategoricalColumn(
        name="x", required=draw(FLAGS), levels=tuple(levels), type=kind, other=other
    )


@st.composite
def integers(draw):
    low = draw(st.integers(-(2**53), 2**53))
    high = min(low + draw(st.sampled_from([0, 1, 2, 63, 64, 1000, 2**40])), 2**53)
    bins = draw(st.none() | st.integers(min(2, high - low + 1), min(high - low + 1, 300)))
    return IntegerColumn(name="x", required=draw(FLAGS), minimum=low, maximum=high, bins=bins)


@st.composite
def numbers(draw):
    required = draw(FLAGS)
    scale = 10.0 ** draw(st.integers(-12, 12))
    edges = sorted(
        set(draw(st.lists(st.integers(-(10**4), 10**4), min_size=3, max_size=8, unique=True)))
    )
    if draw(FLAGS):
        return NumberColumn(
            name="x", required=required, edges=tuple(edge * scale for edge in edges)
        )
    low = draw(st.floats(-1e6, 1e6)) * scale
    high = low + draw(st.floats(1e-3, 1e6)) * scale
    if low == high:
        return NumberColumn(name="x", required=required, minimum=low, maximum=high)
    bins = draw(st.none() | st.integers(2, 70))
    return NumberColumn(name="x", required=required, minimum=low, maximum=high, bins=bins)


@st.composite
def rounded_numbers(draw):
    decimals, edges = draw(rounded_edges())
    return NumberColumn(name="x", required=draw(FLAGS), edges=edges, decimals=decimals)


@st.composite
def dates(draw):
    kind, resolution = draw(resolutions())
    low, high = sorted(draw(st.tuples(st.datetimes(), st.datetimes())))
    pattern = draw(st.none() | st.just("%d.%m.%Y" if kind == "date" else "%d.%m.%Y %H:%M:%S"))
    if pattern and low.year < 1000:
        pattern = None
    bounds = {"minimum": low, "maximum": high, "resolution": resolution}
    return DateColumn(name="x", required=draw(FLAGS), type=kind, format=pattern, **bounds)


COLUMNS = st.one_of(
    categoricals(),
    integers(),
    numbers(),
    rounded_numbers(),
    dates(),
    st.builds(BooleanColumn, name=st.just("x")),
)


def every_code(column, repeats=7):
    return np.repeat(np.arange(column.size), repeats)


@settings(deadline=None, max_examples=examples(120))
@given(COLUMNS, st.integers(0, 2**32))
def test_what_is_decoded_encodes_to_the_same_codes(column, seed):
    schema = Schema((column,))
    codes = every_code(column)
    typed = decode([codes], schema, np.random.default_rng(seed))
    text = decode([codes], schema, np.random.default_rng(seed), text=True)
    assert encode(typed, schema).columns[0].tolist() == codes.tolist()
    assert encode(text, schema).columns[0].tolist() == codes.tolist()
    assert encode(typed.astype(object), schema).columns[0].tolist() == codes.tolist()
    assert encode(text.astype("category"), schema).columns[0].tolist() == codes.tolist()
    assert all(type(value) is str for value in text["x"])
    assert Schema.from_dict(schema.to_dict()) == schema


@settings(deadline=None, max_examples=examples(100))
@given(st.one_of(integers(), numbers(), rounded_numbers()))
def test_decoded_numbers_stay_within_the_bounds(column):
    values = decode([every_code(column)], Schema((column,)), np.random.default_rng(0))["x"].dropna()
    assert values.between(column.minimum, column.maximum).all()


@settings(deadline=None, max_examples=examples(100))
@given(COLUMNS, st.lists(st.integers(0, 10**9), max_size=3))
def test_dtypes_depend_on_the_schema_only(column, numbers):
    schema = Schema((column,))
    some = decode(
        [np.array([n % column.size for n in numbers], dtype=np.int64)],
        schema,
        np.random.default_rng(0),
    )
    none = decode([np.array([], dtype=np.uint8)], schema, np.random.default_rng(0))
    every = decode([every_code(column)], schema, np.random.default_rng(0))
    assert some.dtypes.tolist() == none.dtypes.tolist() == every.dtypes.tolist()
    assert (
        encode(some, schema).columns[0].dtype
        == encode(every, schema).columns[0].dtype
        == column.dtype
    )


SAME_MEANING = [
    (
        IntegerColumn(name="x", minimum=0, maximum=50, missing_values=("", "-9")),
        [39, 7, None, -9],
        [
            pd.Series(["39", "7", "", "-9"]),
            pd.Series(["39.0", " 7 ", "?", "-9.0"]),
            pd.Series([39.0, 7.0, np.nan, -9.0]),
            pd.Series([39, 7, None, -9], dtype="Int64"),
            pd.Series([39, 7, None, -9], dtype=object),
            pd.Series(["39", "7", None, "-9"], dtype="category"),
            pd.Series([39, "7", "", -9.0], dtype=object),
        ],
    ),
    (
        CategoricalColumn(name="x", levels=("0", "1")),
        ["1", "0", None, "z"],
        [
            pd.Series([1, 0, None, 5]),
            pd.Series([1, 0, None, 5], dtype="Int64"),
            pd.Series([" 1", "0 ", " ", "?"]),
        ],
    ),
    (
        BooleanColumn(name="x"),
        [True, False, None, None],
        [
            pd.Series(["true", "FALSE", "", "maybe"]),
            pd.Series([1, 0, None, 7]),
            pd.Series([True, False, None, None], dtype="boolean"),
            pd.Series([np.True_, "0", None, []], dtype=object),
        ],
    ),
    (
        DateColumn(name="x", minimum=dt.date(2020, 1, 1), maximum=dt.date(2020, 2, 1)),
        ["2020-01-05", "2019-05-05", "9999-12-31", None],
        [
            pd.Series(
                [dt.date(2020, 1, 5), dt.date(2019, 5, 5), dt.date(9999, 12, 31), None],
                dtype=object,
            ),
            pd.Series(
                np.array(["2020-01-05", "2019-05-05", "9999-12-31", "NaT"], dtype="datetime64[s]")
            ),
            pd.Series(
                ["2020-01-05T00:00:00Z", "0001-01-01 00:00:00", "2020-02-01", "2020-02-01 12:00"]
            ),
            pd.Series(
                map(pd.Timestamp, ["2020-01-05", "1677-09-22", "2262-04-11", "2020-01-06 23:59"]),
                dtype=object,
            ),
            pd.Series(pd.to_datetime(["2020-01-05", "2019-05-05", "2030-01-01", None], utc=True)),
        ],
    ),
    (
        DateColumn(
            name="x", minimum=dt.date(2020, 1, 1), maximum=dt.date(2020, 2, 1), format="%Y%m%d"
        ),
        ["20200105", "20210101"],
        [
            pd.Series([20200105, 20210101]),
            pd.Series([20200105.0, 20210101.0]),
            pd.Series([dt.date(2020, 1, 5)] * 2)[:1],
        ],
    ),
]


@pytest.mark.parametrize(
    ("column", "values", "forms"), SAME_MEANING, ids=lambda value: getattr(value, "type", None)
)
def test_the_same_meaning_gets_the_same_codes(column, values, forms):
    expected = column.encode(pd.Series(values, dtype=object)).tolist()
    for form in forms:
        assert column.encode(form).tolist() == expected[: len(form)]


def test_the_documented_fallbacks():
    def codes(column, *values):
        return column.encode(pd.Series(values, dtype=object)).tolist()

    levels = ("a", "b")
    assert codes(CategoricalColumn(name="x", levels=levels), "z", None, "") == [2, 2, 2]
    assert codes(CategoricalColumn(name="x", levels=levels, required=True), "z", None, "") == [
        0,
        0,
        0,
    ]
    assert codes(CategoricalColumn(name="x", levels=levels, other="b"), "z", None, "") == [1, 2, 2]
    assert codes(
        CategoricalColumn(name="x", levels=levels, other="c", required=True), "z", None, ""
    ) == [2, 2, 2]
    assert codes(BooleanColumn(name="x", required=True), "z", None) == [0, 0]
    assert codes(IntegerColumn(name="x", minimum=1, maximum=3), "z", math.inf, -5, 2.9, 2.0) == [
        3,
        3,
        0,
        3,
        1,
    ]
    assert codes(
        IntegerColumn(name="x", minimum=1, maximum=3, required=True), "z", "1e999", None
    ) == [0, 0, 0]


def test_levels_are_texts_not_numbers():
    column = CategoricalColumn(name="x", levels=("1", "01", " 1"), required=True)
    assert column.encode(pd.Series(["01", "1", " 1", "  1"])).tolist() == [1, 0, 2, 0]


def test_edges_are_half_open_and_the_last_bin_is_closed():
    column = NumberColumn(name="x", edges=(0, 0.1, 0.3, 1), required=True)
    assert column.encode(pd.Series([0, 0.1, 0.3, 1, "0.1", "0.3"], dtype=object)).tolist() == [
        0,
        1,
        2,
        2,
        1,
        2,
    ]
    gain = IntegerColumn(name="x", edges=(0, 1, 5, 9), required=True)
    assert gain.encode(pd.Series([0, 1, 4, 5, 9, 10])).tolist() == [0, 1, 1, 2, 2, 2]


def test_numbers_are_uniform_over_the_grid_of_their_bin():
    column = NumberColumn(name="x", edges=(0, 1, 2), decimals=1, required=True)
    values = decode([np.zeros(20_000, np.uint8)], Schema((column,)), np.random.default_rng(0))["x"]
    counts = values.value_counts()
    assert sorted(counts.index) == [k / 10 for k in range(10)]
    assert counts.min() > 1700  # of 2000 expected: 7 standard deviations


def test_dates_are_truncated_within_bounds():
    column = DateColumn(
        name="x", minimum=dt.date(2020, 1, 15), maximum=dt.date(2020, 3, 20), resolution="month"
    )
    text = decode([np.arange(4)], Schema((column,)), np.random.default_rng(0), text=True)[
        "x"
    ].tolist()
    assert text == ["2020-01-15", "2020-02-01", "2020-03-01", ""]
    weeks = DateColumn(
        name="x", minimum=dt.date(2020, 1, 6), maximum=dt.date(2020, 1, 31), resolution="week"
    )
    assert (
        decode([np.arange(4)], Schema((weeks,)), np.random.default_rng(0))[
            "x"
        ].dt.day_of_week.tolist()
        == [0] * 4
    )


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (CategoricalColumn(name="x", levels=("a",)), str(pd.Series(["a"]).dtype)),
        (CategoricalColumn(name="x", levels=(1,), type="integer"), "Int64"),
        (CategoricalColumn(name="x", levels=(1,), type="integer", required=True), "int64"),
        (CategoricalColumn(name="x", levels=(1.5,), type="number", required=True), "float64"),
        (BooleanColumn(name="x"), "boolean"),
        (BooleanColumn(name="x", required=True), "bool"),
        (IntegerColumn(name="x", minimum=0, maximum=9), "Int64"),
        (IntegerColumn(name="x", minimum=0, maximum=9, required=True), "int64"),
        (NumberColumn(name="x", minimum=0, maximum=9), "float64"),
        (
            DateColumn(name="x", minimum=dt.date(2020, 1, 1), maximum=dt.date(2021, 1, 1)),
            "datetime64[s]",
        ),
    ],
)
def test_decoded_dtypes(column, dtype):
    frame = decode([every_code(column)], Schema((column,)), np.random.default_rng(0))
    assert str(frame["x"].dtype) == dtype
    assert int(frame["x"].isna().sum()) == (0 if column.required else 7)


@settings(deadline=None, max_examples=examples(100))
@given(COLUMNS)
def test_labels_hold_what_is_decoded(column):
    codes = every_code(column)
    values = decode([codes], Schema((column,)), np.random.default_rng(0))["x"]
    labels = column.labels
    assert len(labels) == column.size
    assert labels.name == "x"
    for value, label in zip(values, labels[codes], strict=True):
        if isinstance(label, pd.Interval):
            assert value in label
        else:
            assert pd.isna(value) if pd.isna(label) else value == label


def test_labels_of_bins():
    column = IntegerColumn(name="x", minimum=0, maximum=9, bins=3)
    assert [str(label) for label in column.labels] == ["[0, 3)", "[3, 6)", "[6, 9]", "None"]
    assert IntegerColumn(name="x", minimum=1, maximum=3).labels.dtype == "Int64"


def test_two_dimensional_codes():
    schema = Schema.from_dict({"a": 2, "b": 300})
    codes = np.array([[0, 299], [1, 5]])
    frame = decode(codes, schema, np.random.default_rng(0))
    assert frame.to_numpy().tolist() == codes.tolist()
    assert [column.dtype for column in encode(frame, schema).columns] == [np.uint8, np.uint16]


@pytest.mark.parametrize(
    "codes", [[np.array([2])], [np.array([-1])], [np.array([0.5])], [], [np.array([[1]])]]
)
def test_codes_that_do_not_fit_are_refused(codes):
    with pytest.raises(ParameterError):
        decode(codes, Schema.from_dict({"a": 2}), np.random.default_rng(0))


def test_columns_of_different_length_are_refused():
    with pytest.raises(ParameterError, match="length"):
        CodedTable(Domain.from_sizes({"a": 2, "b": 2}), (np.array([0]), np.array([0, 1])))


def test_columns_that_do_not_fit_are_refused():
    schema = Schema.from_dict({"a": 2, "b": 2})
    with pytest.raises(SchemaError, match="'b'"):
        encode(pd.DataFrame({"a": [1]}), schema)
    with pytest.raises(SchemaError, match="same name"):
        encode(pd.DataFrame([[1, 1, 1]], columns=["a", "b", "b"]), schema)
    frame = pd.DataFrame({"b": [0], "a": [1]})
    assert [column.tolist() for column in encode(frame, schema).columns] == [[1], [0]]
