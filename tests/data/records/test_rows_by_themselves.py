"""A row is read by itself: its codes, and whose it is, are the same in any company, in any order
and in any dtype.

Companies are drawn from values near each other, and put into whatever pandas, Arrow, Parquet and
CSV make of them.
"""

import csv
import datetime as dt
import io
import math
import tempfile
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers.odd_values import COLUMNS, LONE, NEAR_VALUES, objects
from helpers.seldom import examples
from helpers.unit_rows import kept_rows, person_of
from helpers.values import listed
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from synthdp.core import Grid
from synthdp.data import HeldTableReader, open_table
from synthdp.schema import CategoricalColumn, DateColumn, OpenSchema

pa = pytest.importorskip("pyarrow")

REFUSALS = (
    ValueError,
    TypeError,
    OverflowError,
    NotImplementedError,
    AttributeError,
    pa.ArrowException,
    Warning,
)
"""What pandas and pyarrow raise when they are asked for a column that they cannot make."""


EXACT_TYPES = (bool, str, bytes, Decimal, Fraction, complex, dt.timedelta, np.timedelta64)
"""Types that pandas may make others of; numbers and moments may change theirs and are read alike."""


def array_of(values):
    if any(
        isinstance(value, np.datetime64) and np.datetime_data(value.dtype)[0] == "generic"
        for value in values
    ):
        raise ValueError("pyarrow 26 takes the process down with it")
    return pa.array(values, from_pandas=True)


def arrow(values):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array_of(values)])))


def parquet(values):
    """The values through a file and our reader, one after the other if they cannot be of one type."""
    pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    pa.parquet.write_table(pa.table({"x": array_of(values)}), buffer)
    return from_file(buffer.getvalue(), "x.parquet")


def from_file(content, name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        with open_table(path) as table:
            return pd.concat([chunk["x"] for chunk in table.chunks()], ignore_index=True)


def half(kind, values):
    """A categorical of which some categories are unused."""
    return pd.Series(
        pd.Categorical(values, categories=pd.Index([*dict.fromkeys(values), "unused"], dtype=kind))
    )


def sparse(values):
    if any(isinstance(value, dt.date) for value in values):
        raise ValueError("pandas makes other moments of them when rows are taken")
    return pd.Series(pd.arrays.SparseArray(pd.Series(values)))


COMPANIES = {
    "objects": objects,
    "inferred": pd.Series,
    "converted": lambda values: objects(values).convert_dtypes(),
    "converted to Arrow": lambda values: objects(values).convert_dtypes(dtype_backend="pyarrow"),
    "texts": lambda values: objects(values).astype("string"),
    "texts of Python": lambda values: pd.Series(pd.array(values, dtype=pd.StringDtype("python"))),
    "texts of Arrow": lambda values: pd.Series(pd.array(values, dtype=pd.StringDtype("pyarrow"))),
    "categories": lambda values: objects(values).astype("category"),
    "more categories": lambda values: half(object, values),
    "categories of Arrow": lambda values: pd.Series(
        array_of(values).dictionary_encode().to_pandas()
    ),
    "sparse": sparse,
    "Arrow": arrow,
    "dictionary of Arrow": lambda values: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([array_of(values).dictionary_encode()]))
    ),
    "Parquet": parquet,
    "masked": lambda values: pd.Series(
        pd.array(values, dtype="boolean" if isinstance(values[0], bool) else "Int64")
        if not isinstance(values[0], float)
        else pd.array(values, dtype="Float64")
    ),
    "numpy": lambda values: pd.Series(np.array(values)),
}


def made(company, values):
    """A column of some values, or None where there is no such column of them."""
    try:
        return COMPANIES[company](values)
    except REFUSALS:
        return None


def is_nothing(value):
    return (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    )


def is_kept(series, row, value):
    """Whether a column still holds the value that it was made of, in whatever type."""
    try:
        held = series.iloc[row]
        if "uuid" in str(series.dtype):
            return False  # Arrow's UUIDs are bytes
        if is_nothing(value) or is_nothing(held):
            return is_nothing(value) and is_nothing(held)
        if isinstance(held, np.generic):
            held = held.item() if not isinstance(held, np.datetime64 | np.timedelta64) else held
        if any(isinstance(each, EXACT_TYPES) for each in (value, held)):
            return type(value) is type(held) and str(value) == str(held)
        if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            return pd.Timestamp(value) == pd.Timestamp(held)
        if isinstance(value, int | float) and abs(value) > 2**53 and type(value) is not type(held):
            return False  # a large integer and the float next to it are two numbers, and pandas made one of them
        return bool(held == value)
    except (*REFUSALS, OverflowError):
        return False


@st.composite
def companies(draw, groups=tuple(NEAR_VALUES)):
    group = draw(st.sampled_from(groups))
    values = draw(st.lists(st.sampled_from(NEAR_VALUES[group]), min_size=1, max_size=3))
    if draw(st.booleans()):
        values.insert(
            draw(st.integers(0, len(values))),
            draw(st.sampled_from([None, math.nan, pd.NA, pd.NaT])),
        )
    company = draw(st.sampled_from(sorted(COMPANIES)))
    series = made(company, values)
    assume(series is not None and len(series) == len(values))
    return values, series


@settings(deadline=None, max_examples=examples(100))
@given(companies())
def test_a_code_in_company_is_the_code_alone(company):
    values, series = company
    for column in COLUMNS:
        together = column.encode(series).tolist()
        assert together == [int(column.encode(series.iloc[[row]])[0]) for row in range(len(series))]
        assert together == column.encode(series.iloc[::-1]).tolist()[::-1]
        for row, value in enumerate(values):
            if is_kept(series, row, value):
                assert together[row] == column.encode(objects([value]))[0], (
                    column,
                    value,
                    series.dtype,
                )


@pytest.mark.parametrize("group", NEAR_VALUES)
def test_codes_and_persons_of_all_pairs_are_those_of_each_alone(group):
    values = NEAR_VALUES[group]
    alone = [[int(column.encode(objects([value]))[0]) for value in values] for column in COLUMNS]
    persons = [person_of(objects([value])) for value in values]
    for i, j in permutations(range(len(values)), 2):
        pair = objects([values[i], values[j]])
        for column, codes in zip(COLUMNS, alone, strict=True):
            assert column.encode(pair).tolist() == [codes[i], codes[j]], (
                column,
                values[i],
                values[j],
            )
        expected = {persons[i], persons[j]} - {None}
        assert kept_rows([pair], max_rows=1).sum() == len(expected), (values[i], values[j])


@settings(deadline=None, max_examples=examples(100))
@given(companies())
def test_whose_a_row_is_depends_on_its_id_alone(company):
    values, series = company
    alone = [person_of(series.iloc[[row]]) for row in range(len(series))]
    for row, value in enumerate(values):
        if is_kept(series, row, value):
            assert alone[row] == person_of(objects([value])), (value, series.dtype)
    persons = {person for person in alone if person is not None}
    assert kept_rows([series], max_rows=1).sum() == len(persons)
    assert (
        kept_rows([series], max_rows=9) == np.array([person is not None for person in alone])
    ).all()


KINDS = ("categorical", "integer", "number", "year", "date", "datetime")


@cache
def opened(kind):
    return OpenSchema.from_kinds({"x": kind})


def counts(kind, series):
    """What the kernel can count of an open column: its values, and missing ones."""
    reader = HeldTableReader(opened(kind))
    reader.add(pd.DataFrame({"x": series}))
    source = reader.finish().source
    grid = Grid(column="x")
    values, numbers = listed(source.frequencies(grid))
    missing, rest = source.histogram(grid, np.empty(0, dtype=np.int64)).tolist()
    return Counter(dict(zip(list(values), numbers.tolist(), strict=True))), missing, rest


@settings(deadline=None, max_examples=examples(75))
@given(companies(), st.sampled_from(KINDS))
def test_counts_of_an_open_column_are_sums_over_its_rows(company, kind):
    values, series = company
    alone = [counts(kind, series.iloc[[row]]) for row in range(len(series))]
    together = counts(kind, series)
    assert together[0] == sum((frequencies for frequencies, _, _ in alone), Counter())
    assert together[1:] == tuple(sum(column) for column in list(zip(*alone, strict=True))[1:])
    for row, value in enumerate(values):
        if is_kept(series, row, value):
            assert alone[row] == counts(kind, objects([value]))


def text_file(values):
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([["x"], *([value] for value in values)])
    return from_file(stream.getvalue().encode(), "x.csv")


WRITABLE = [text for text in NEAR_VALUES["texts"] if text.isprintable() or "\r" in text] + [
    "NULL",
    "0x1",
    "\u2028",
]
FILED = st.lists(st.sampled_from(WRITABLE), min_size=1, max_size=3)


@settings(deadline=None, max_examples=examples(75))
@given(
    FILED
    | st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=3),
        min_size=1,
    )
)
def test_a_field_of_a_csv_file_is_read_by_itself(values):
    series = text_file(values)
    assert series.tolist() == values
    assert [person_of(text_file([value])) for value in values] == [
        person_of(objects([value])) for value in values
    ]


# --- found by attack ------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [repr(LONE), "a\0b"])
@pytest.mark.parametrize("n", [1, 1000])
def test_a_text_that_no_file_can_hold_moves_nobody_else(other, n):
    """pandas tells neither lone surrogates from their repr nor, up to 2.2, texts that differ after
    a NUL.
    """
    column = CategoricalColumn(name="x", levels=(repr(LONE), "a"), other="else")
    odd = LONE if other != "a\0b" else "a\0c"
    without = column.encode(objects([other] * n)).tolist()
    assert column.encode(objects([odd, *[other] * n])).tolist()[1:] == without
    assert kept_rows([objects([odd, *[other] * n])], max_rows=1).tolist()[0]
    assert kept_rows([objects([odd, *[other] * n])], max_rows=1)[1:].sum() == 1


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.date32(), [2**31 - 1, -(2**31), 0]),
        (pa.date64(), [86_400_000 * 10**9, -86_400_000 * 10**9, 0]),
        (pa.time64("ns"), [1, 2, 3]),
        (pa.duration("s"), [2**62, -(2**62), 0]),
        (pa.timestamp("s", tz="Europe/Amsterdam"), [253402300799, -62135596800, 2**60]),
        (pa.timestamp("ms", tz="America/New_York"), [253402300799999, -62135596800000, 2**60]),
        (pa.timestamp("us", tz="Asia/Tokyo"), [253402300799999999, -62135596800000000, 2**62]),
        (pa.timestamp("ns"), [2**63 - 1, -(2**63) + 1, 0]),
    ],
    ids=str,
)
def test_a_moment_at_either_end_of_an_arrow_type_stops_no_run(kind, values):
    storage = pa.array(values, pa.int32() if kind == pa.date32() else pa.int64())
    series = pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([storage.cast(kind), pa.nulls(1, kind)]))
    )
    for column in COLUMNS:
        together = column.encode(series).tolist()
        assert together == [int(column.encode(series.iloc[[row]])[0]) for row in range(4)]
        assert together[3] == column.missing_code
    persons = [person_of(series.iloc[[row]]) for row in range(4)]
    readable = pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    moments = DateColumn(
        name="x", type="datetime", minimum=dt.date(1900, 1, 1), maximum=dt.date(2030, 1, 1), bins=2
    )
    assert moments.encode(series).tolist()[:2] == ([1, 0] if readable else [2, 2])
    assert len(set(persons)) == (4 if readable else 1)
    assert persons[3] is None


def test_texts_that_look_like_numbers_are_as_many_persons_as_texts():
    assert len({person_of(objects([text])) for text in ("12", "12.0", "012", "1.2e1")}) == 4
    assert kept_rows([text_file(["12", "12.0"])], max_rows=1).sum() == 2
    assert (
        len(
            {
                person_of(objects([value]))
                for value in ("12", " 12 ", 12, 12.0, np.uint8(12), np.str_("12"))
            }
        )
        == 1
    )


def test_ids_of_bytes_are_persons_of_their_own():
    ids = [b"12", "12", 12, b"12 ", b"\xff\xfe", b"\xff", bytes(16), np.bytes_(b"12"), b""]
    assert [person_of(objects([value])) for value in ids] == [
        b"12", "12", "12", b"12 ", b"\xff\xfe", b"\xff", bytes(16), b"12", None
    ]  # fmt: skip
    assert kept_rows([objects([b"12", b"12", b"13", "12"])], max_rows=1).sum() == 3


def test_a_moment_is_one_person_in_any_type():
    moments = [
        dt.date(2020, 1, 1), dt.datetime.fromisoformat("2020-01-01"),
        pd.Timestamp("2020-01-01 01:00", tz="Europe/Berlin"),
        np.datetime64("2020-01-01T00:00", "ns"), "2020-01-01",
    ]  # fmt: skip
    assert {person_of(objects([moment])) for moment in moments} == {"2020-01-01"}
    assert (
        person_of(objects([pd.Timestamp("2020-01-01 00:00:00.000000001")]))
        == "2020-01-01T00:00:00.000000001"
    )


def test_integers_and_floats_that_are_equal_are_not_read_for_each_other():
    """10**22 == 1e22, and both hash alike, but only the float is written as 1e+22."""
    column = CategoricalColumn(name="x", levels=("1e+22",), other="else")
    for values in ([10**22, 1e22], [1e22, 10**22], [10**22, 1e22, "a"], ["a", None, 1e22, 10**22]):
        alone = [int(column.encode(objects([value]))[0]) for value in values]
        assert column.encode(objects(values)).tolist() == alone
        assert (
            len({code for code, value in zip(alone, values, strict=True) if value == 10**22}) == 2
        )


def test_truth_values_are_the_same_whatever_pandas_made_of_them():
    column = CategoricalColumn(name="x", levels=("True", "1"))
    for dtype in (object, bool, "boolean", "bool[pyarrow]", "category", "Sparse[bool]"):
        assert column.encode(pd.Series([True, True], dtype=dtype)).tolist() == [0, 0]
        assert person_of(pd.Series([True], dtype=dtype)) == "True"


@pytest.mark.parametrize("kind", ["string", "large_string", "str", "dictionary"])
def test_text_that_is_no_utf_8_is_one_odd_value_among_others(kind):
    """Arrow lets anybody call bytes text: a row of them is foreign, and the rows beside it stay
    what they are.
    """
    content = [b"a", b"secret-\xff", b"\xed\xa0\x80", b"a"]
    offsets = np.cumsum([0, *map(len, content)]).astype(
        np.int64 if kind == "large_string" else np.int32
    )
    dtype = pa.large_string() if kind == "large_string" else pa.string()
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(content))]
    array = pa.Array.from_buffers(dtype, len(content), buffers)
    if kind == "dictionary":
        array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), array)
    kept = pd.arrays.ArrowStringArray if kind == "str" else pd.arrays.ArrowExtensionArray
    series = pd.Series(kept(pa.chunked_array([array])))
    column = CategoricalColumn(name="x", levels=("a", "secret"), other="else")
    assert column.encode(series).tolist() == [0, 2, 2, 0]
    assert [int(column.encode(series.iloc[[row]])[0]) for row in range(4)] == [0, 2, 2, 0]


@pytest.mark.parametrize("level", ["0.0", "-0.0", "0"])
def test_zeros_of_either_sign_are_one_value(level):
    column = CategoricalColumn(name="x", levels=(level, "a"), other="else")
    alone = [int(column.encode(objects([value]))[0]) for value in (0.0, -0.0)]
    assert alone[0] == alone[1]
    for values in ([0.0, -0.0], [-0.0, 0.0]):
        assert column.encode(objects(values)).tolist() == alone
