"""An auditor's questions about learning a domain: is a value read by itself, whatever stands in the
other rows?

Each count of the kernel has its sensitivity only if adding a row changes the cell of no other row.
What could change it is the type that pandas, Parquet or the end of a block of CSV give a whole
column.
"""

import gc
import math
import struct
import warnings
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.homes import home
from helpers.seldom import examples, often
from helpers.unit_rows import kept_rows
from helpers.values import GRID, Counts, Rows, book, counted, listed, private
from hypothesis import example, given, settings
from hypothesis import strategies as st

from synthdp.core import READ, Grid
from synthdp.data import (
    CodedTable,
    HeldColumn,
    HeldSource,
    HeldTable,
    TableFile,
    UnitRows,
    Vocabulary,
    checked_block,
    held_rows,
    open_table,
    opened,
)
from synthdp.privacy import (
    Accounting,
    Adjacency,
    HistogramEvent,
    PartitionEvent,
    PrivateValues,
    SystemRandomness,
    split_tree,
)
from synthdp.release import Release, RunSettings
from synthdp.schema import OpenSchema

NOWHERE = np.empty(0, dtype=np.int64)
BIG = 2**53 + 1  # the first integer that is no float
KINDS = (
    "string",
    "integer",
    "number",
    "boolean",
    "year",
    "date",
    "datetime",
    "enum",
    "numbers as dates",
)
OWN_FIELDS = {
    "enum": {
        "type": "string",
        "constraints": {"enum": ["3", "4.0", "True", "a"]},
        "synthdp": {"derive": True},
    },
    "numbers as dates": {
        "type": "date",
        "format": "%Y",
        "synthdp": {"derive": True, "resolution": "year"},
    },
}


def schema_of(kind, name="x"):
    """One open column, of whose missing values one is written as pandas writes floats."""
    known = {"missingValues": ["", "3.0", "n/a"], "constraints": {"minimum": 4, "maximum": 99}}
    if kind in ("integer", "number", "year"):
        kind_fields = {"type": kind, "synthdp": {"derive": ["bins", "missing"]}} | known
    else:
        text = {"type": kind, "synthdp": {"derive": True}} if kind != "boolean" else {"type": kind}
        kind_fields = {"missingValues": ["", "3.0", "n/a"]} | OWN_FIELDS.get(kind, text)
        if kind == "boolean":
            kind_fields = kind_fields | {"synthdp": {"derive": ["missing"]}}
    return OpenSchema.from_dict({"fields": [{"name": name} | kind_fields]})


SCHEMAS = {kind: schema_of(kind) for kind in KINDS}
GRIDS = {
    "number": [
        Grid(column="x"),
        Grid(column="x", decimals=2),
        Grid(column="x", of="decimals"),
        Grid(column="x", of="exponents"),
        Grid(column="x", of="steps", decimals=1),
    ],
    "integer": [Grid(column="x"), Grid(column="x", of="steps")],
}


def cells_of(table, kind):
    """For each grid of a column: how many records each value has, and how many are missing and how
    many are not.
    """
    found = []
    for grid in GRIDS.get(kind, [Grid(column="x")]):
        missing, rest = table.source.histogram(grid, NOWHERE).tolist()
        values, counts = listed(table.source.frequencies(grid))
        assert len(set(values)) == len(values)
        assert sum(counts) <= rest
        found.append(Counter(dict(zip(map(str, values), counts.tolist(), strict=True))))
        found.append(Counter({"missing": missing, "rest": rest}))
        if kind not in ("string", "enum", "boolean"):
            assert sum(counts) == rest
            starts = np.array([-5, 0, 3, 4, 18_000])
            cells = table.source.histogram(grid, starts).tolist()
            assert (cells[0], sum(cells[1:])) == (missing, rest)
            found.append(Counter(dict(enumerate(cells))))
    return found


def moved(one, other):
    """Records that changed cells, in the worst of all histograms."""
    return max(sum(((a - b) + (b - a)).values()) for a, b in zip(one, other, strict=True))


def assert_one_row_moves_one(frames, n_rows=1):
    for kind, schema in SCHEMAS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            one, other = (cells_of(held_rows(frame, schema), kind) for frame in frames)
        assert moved(one, other) <= n_rows, kind


# The type that pandas gives a column


class Text(str):
    """A text that is equal to everything, and stays what it is when it is made a text."""

    __slots__ = ()

    def __str__(self):
        return self

    def __eq__(self, other):
        return True

    def __hash__(self):
        return hash("a")


class Unhashable(Text):
    """A text that raises when it is looked up."""

    __slots__ = ()

    def __hash__(self):
        raise RuntimeError("SECRET")


class Liar:
    """An object that says it is another, and raises."""

    @property
    def __class__(self):
        raise RuntimeError("SECRET")


def payload(bits):
    return struct.unpack("<d", bits.to_bytes(8, "little"))[0]


FIRST = datetime.fromisoformat("0001-01-01")
ODD = [
    None, pd.NA, pd.NaT, math.nan, payload(0x7FF4_0000_0000_0001), payload(0xFFF8_0000_DEAD_BEEF), -0.0, 5e-324,
    math.inf, 1e308, 2.5, 3.0, 3, 2**63, -(2**63) - 1, 10**400, 10**5000, True, Decimal("1e999999"), Decimal("sNaN"),
    Decimal("3.0"), Fraction(10**400, 3), np.float32("nan"), np.int8(3), np.str_("a"), np.void(b"a"), 1j, b"a", "a",
    "", "3.0", "3", "many", "1e400", "9" * 5000, "\ud800", "A\0B", date(2003, 1, 1), date.max, FIRST,
    datetime(2003, 1, 1, tzinfo=UTC), pd.Timestamp("1969-12-31T23:59:59.5"), np.datetime64(2**62, "Y"),
    timedelta(1), pd.Period("2003"), [1], {}, Text("b"), Unhashable("a"), Liar(), Liar,
]  # fmt: skip
COLUMNS = {
    "integers": [3, 4, 5, 3, 0],
    "large integers": [2**40, 3, -(2**31)],
    "floats": [3.0, 4.0, 0.5, -0.0, 0.0],
    "truth values": [True, False, True],
    "texts": ["a", "3", "3.0", " a", "e\u0301"],
    "moments": list(
        pd.to_datetime(
            ["2003-01-01", "1969-12-31T23:59:59.25", "2004-02-03T04:05:06.789"], format="ISO8601"
        )
    ),
    "days": [date(2003, 1, 1), date(1969, 12, 31)],
    "moments somewhere": list(
        pd.to_datetime(["2003-01-01T12", "2003-01-02"], format="ISO8601").tz_localize("Asia/Tokyo")
    ),
    "nothing": [],
    "all sorts": ["a", 3, 3.0, True, None, date(2003, 1, 1)],
}


@pytest.mark.parametrize("name", often(*[*COLUMNS][::2], seldom=[*COLUMNS][1::2]))
def test_one_more_row_of_any_kind_moves_no_other(name):
    values = COLUMNS[name]
    table = pd.DataFrame({"x": pd.Series(values)})
    for odd in ODD:
        box = np.empty(len(values) + 1, dtype=object)
        for index, value in enumerate([odd, *values]):
            box[index] = value
        assert_one_row_moves_one([table, pd.DataFrame({"x": pd.Series(box, dtype=object)})])
        if (
            type(odd) in {bool, int, float, str, date, datetime, pd.Timestamp, type(None)}
            and odd != "\ud800"
        ):
            assert_one_row_moves_one([table, pd.DataFrame({"x": pd.Series([*values, odd])})])


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(st.integers(-(2**53), 2**53) | st.integers(-9, 9), min_size=1, max_size=6),
    st.sampled_from([None, math.nan, 2.5, "many", True, 2**53, 2**70]),
)
@example([3, 3, 4], 2.5)
@example([4, 3, 3], None)
def test_integers_are_read_alike_in_a_column_of_floats_or_objects(values, odd):
    frames = [pd.DataFrame({"x": pd.Series(rows)}) for rows in (values, [*values, odd])]
    assert_one_row_moves_one(frames)


@pytest.mark.parametrize("dtype", ["Int64", "UInt64", "int64[pyarrow]"])
def test_large_integers_are_told_apart_beside_a_gap(dtype):
    values = [BIG, BIG - 1, BIG + 1, 3]
    frames = [
        pd.DataFrame({"x": pd.Series(rows, dtype=dtype)}) for rows in (values, [*values, None])
    ]
    assert_one_row_moves_one([frames[0], pd.DataFrame({"x": values})], 0)
    assert_one_row_moves_one(frames)
    found = held_rows(frames[1], OpenSchema.from_kinds({"x": "string"})).source.frequencies(
        Grid(column="x")
    )
    assert counted(found) == dict.fromkeys(map(str, values), 1)


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.longdouble, "Float32", "Float64"]
)
def test_floats_of_any_width_are_read_without_a_word(dtype):
    quiet = pd.Series([3.0, 4.5, math.nan]).astype(dtype)
    assert_one_row_moves_one(
        [pd.DataFrame({"x": quiet}), pd.DataFrame({"x": quiet.astype(object)})], 0
    )


@pytest.mark.parametrize("trap", ["warn", "raise"])
def test_numbers_with_every_bit_pattern_of_nan_and_underflow_are_read_without_a_word(trap):
    singles = np.array(
        [0x7FA0_0000, 0xFFC1_2345, 0x0000_0001, 0x7F80_0000, 0x3F80_0000], np.uint32
    ).view(np.float32)
    doubles = np.array(
        [0x7FF4_0000_0000_0001, 0xFFFF_0000_0000_0000, 1, 0x7FEF_FFFF_FFFF_FFFF], np.uint64
    )
    for numbers in (singles, doubles.view(np.float64)):
        with np.errstate(all=trap):
            frame = pd.DataFrame({"x": numbers})
            assert_one_row_moves_one([frame, pd.DataFrame({"x": list(numbers)}).astype(object)], 0)


NANS = [
    0x7FF8 << 48,
    0xFFF8 << 48,
    0xFFF8_0000_DEAD_BEEF,
    0x7FF4_0000_0000_0001,
    0xFFF4_0000_0000_0001,
    2**64 - 1,
]
NARROW_NANS = [0x7FC0_0000, 0xFFC0_0000, 0xFFC1_2345, 0x7FA0_0000, 0xFFA0_0001, 2**32 - 1]


def nans_of(dtype):
    """Bit patterns of NaN, quiet and signalling, of either sign, and three numbers behind them."""
    bits, unsigned = (NANS, np.uint64) if dtype == np.float64 else (NARROW_NANS, np.uint32)
    return np.concatenate([np.array(bits, unsigned).view(dtype), np.array([1, 2, 3], dtype)])


def held_nans(numbers, folder):
    """Tables of them, from whatever can hold them."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    array = arrow.array(numbers, from_pandas=False)
    of_arrow = pd.arrays.ArrowExtensionArray(array)
    dictionary = pd.arrays.ArrowExtensionArray(array.dictionary_encode())
    columns = [numbers, list(numbers), of_arrow, dictionary, pd.arrays.SparseArray(numbers)]
    columns.append(pd.arrays.FloatingArray(numbers.copy(), np.zeros(len(numbers), np.bool_)))
    yield from (pd.DataFrame({"x": pd.Series(column)}) for column in columns)
    yield pd.DataFrame({"x": pd.Series(list(numbers), dtype=object)})
    yield opened(arrow.table({"x": array})).frame
    yield opened(arrow.table({"x": array.dictionary_encode()})).frame
    yield opened(pytest.importorskip("polars").DataFrame({"x": numbers})).frame
    for held in (array, array.dictionary_encode()):
        parquet.write_table(arrow.table({"x": held}), folder / "t.parquet")
        with open_table(folder / "t.parquet") as file:
            yield file


def readings(table, kind):
    """How many values are missing, unread and read."""
    source = held_rows(table, OpenSchema.from_kinds({"x": kind})).source
    return source.histogram(Grid(column="x", of="reading"), np.array([READ])).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["number", "integer", "year"])
def test_nan_of_any_bits_is_missing_and_never_unread(kind, dtype, tmp_path):
    """Its sign says so of values that were read: it must not come from a table."""
    for table in held_nans(nans_of(dtype), tmp_path):
        with np.errstate(all="raise", under="ignore"):
            assert readings(table, kind) == [6, 0, 3]
    with np.errstate(over="ignore", invalid="ignore"):
        assert readings(pd.DataFrame({"x": nans_of(dtype).astype(np.float16)}), kind) == [6, 0, 3]


@pytest.mark.parametrize("kind", ["number", "integer", "date"])
def test_nan_of_decimals_and_as_c_prints_it_is_missing(kind):
    decimals = [*map(Decimal, ("NaN", "-NaN", "sNaN", "-sNaN", "NaN12")), "nan", "-nan", " NaN"]
    table = pd.DataFrame({"x": pd.Series([*decimals, "many", -1j], dtype=object)})
    assert readings(table, kind) == [8, 2, 0]


def test_integers_too_large_for_a_float_are_not_read_as_infinity_is_not():
    numbers = [10**400, -(10**400), 10**5000, Fraction(-(10**400), 3)]
    table = held_rows(
        pd.DataFrame({"x": pd.Series(numbers, dtype=object)}),
        OpenSchema.from_kinds({"x": "number"}),
    )
    assert table.source.histogram(Grid(column="x"), np.array([0])).tolist() == [4, 0, 0]


# Files: one row more in a block or a batch, and where they end


def answers_of(path, kind):
    with open_table(path) as file:
        return cells_of(held_rows(file, SCHEMAS[kind]), kind)


@pytest.mark.parametrize(
    "values", [[BIG, BIG - 1, 3, BIG], [2**63 - 1, 2**63 - 2], [-BIG, -BIG + 1]]
)
def test_a_gap_in_parquet_moves_no_other_row(values, tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name, rows in (("one", values), ("other", [*values, None])):
        parquet.write_table(
            arrow.table({"x": arrow.array(rows, arrow.int64())}), tmp_path / f"{name}.parquet"
        )
    for kind in KINDS:
        found = []
        for batch in (home(TableFile).BATCH_ROWS, 2, 1):
            monkeypatch.setattr(home(TableFile), "BATCH_ROWS", batch)
            one, other = (
                answers_of(tmp_path / f"{name}.parquet", kind) for name in ("one", "other")
            )
            assert moved(one, other) == 1
            found.append(other)
        assert found[0] == found[1] == found[2]


CSV_TEXTS = st.sampled_from(
    ["", "3", "3.0", "a", "True", "1e400", '"a\nb"', '"3,0"', " 3 ", "2003-01-01", "nan", "-0"]
)


@settings(deadline=None, max_examples=40)
@given(st.lists(CSV_TEXTS, min_size=1, max_size=8), CSV_TEXTS, st.integers(1, 9), st.data())
def test_where_a_block_of_csv_ends_moves_no_row(tmp_path_factory, values, odd, size, data):
    folder = tmp_path_factory.mktemp("csv")
    place = data.draw(st.integers(0, len(values)))
    for name, rows in (("one", values), ("other", [*values[:place], odd, *values[place:]])):
        (folder / f"{name}.csv").write_text("x,y\n" + "".join(f"{row},0\n" for row in rows))
    for kind in ("string", "number", "date", "enum"):
        schema = OpenSchema.from_dict({"fields": [*SCHEMAS[kind].to_dict()["fields"], {"name": "y", "type": "integer"}
                                                  | {"constraints": {"minimum": 0, "maximum": 1}}]})  # fmt: skip
        found = []
        for block in (home(checked_block).BLOCK_BYTES, size):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(home(checked_block), "BLOCK_BYTES", block)
                for name in ("one", "other"):
                    with open_table(folder / f"{name}.csv") as file:
                        found.append(cells_of(held_rows(file, schema), kind))
        assert found[:2] == found[2:]
        assert moved(*found[:2]) == 1


# Persons

KEY = "0123456789abcdef"


def kept_of(*chunks):
    return kept_rows(chunks, max_rows=1, key=KEY).tolist()


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", object])
def test_two_persons_stay_two_beside_a_row_without_an_id(dtype):
    ids = [BIG, BIG - 1, BIG, 2**63 - 1, 2**63 - 2, 7]
    exact = kept_of(pd.Series(ids))
    assert sum(exact) == 5
    assert kept_of(pd.Series([*ids, None], dtype=dtype)) == [*exact, False]
    assert kept_of(pd.Series(ids[:3]), pd.Series([*ids[3:], None], dtype=dtype)) == [*exact, False]
    assert kept_of(pd.Series([*ids[:2], None], dtype=dtype), pd.Series(ids[2:])) == [
        *exact[:2],
        False,
        *exact[2:],
    ]


def test_persons_of_a_parquet_file_stay_apart_beside_a_row_without_an_id(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    seen = []
    for ids in ([BIG, BIG - 1, BIG + 1], [BIG, BIG - 1, BIG + 1, None]):
        table = arrow.table(
            {
                "person": arrow.array(ids, arrow.int64()),
                "x": arrow.array(["a", "b", "c", "d"][: len(ids)]),
            }
        )
        parquet.write_table(table, tmp_path / "t.parquet")
        with open_table(tmp_path / "t.parquet") as file:
            held = held_rows(
                file, OpenSchema.from_kinds({"x": "string"}), unit="person", max_rows=1
            )
        seen.append(listed(held.source.frequencies(Grid(column="x")))[0])
    assert seen == [["a", "b", "c"]] * 2


@settings(deadline=None, max_examples=examples(60))
@given(
    st.lists(st.integers(0, 4), max_size=12),
    st.lists(st.integers(0, 12), min_size=1, max_size=5),
    st.data(),
)
def test_a_person_more_changes_the_rows_of_nobody_else(ids, places, data):
    """Also if ids become floats by a gap, or texts, and in whatever chunks."""
    odd = data.draw(st.sampled_from([9, "9", 9.0, 9.5, "new", None]))
    rows = [(str(i), i) for i in ids]
    more = list(rows)
    for place in places:
        more.insert(min(place, len(more)), (None, odd))
    cut = data.draw(st.integers(0, len(more)))
    kept = kept_of(pd.Series([i for _, i in rows], dtype="int64"))
    kept_more = kept_of(
        pd.Series([i for _, i in more[:cut]]), pd.Series([i for _, i in more[cut:]])
    )
    assert [k for k, (own, _) in zip(kept_more, more, strict=True) if own is not None] == kept
    assert sum(k for k, (own, _) in zip(kept_more, more, strict=True) if own is None) == (
        odd is not None
    )


# What is left when a release is made


HOLDERS = (HeldTable, HeldSource, HeldColumn, Vocabulary, UnitRows, CodedTable)
RELEASE = {"epsilon": 1.0, "delta": 1e-6, "mechanism": "independent", "adjacency": "add-remove"}


def holders():
    gc.collect()
    return {id(thing) for thing in gc.get_objects() if issubclass(type(thing), HOLDERS)}


def mentions(text):
    gc.collect()
    containers = [thing for thing in gc.get_objects() if type(thing) in {list, dict, tuple, set}]
    return sum(any(type(part) is str and part == text for part in _parts(c)) for c in containers)


def _parts(container):
    return (
        [*container.keys(), *container.values()] if isinstance(container, dict) else list(container)
    )


@pytest.mark.parametrize("unit", often("who", seldom=[None]))
def test_nothing_keeps_rows_when_a_release_is_made(unit):
    before = holders()
    schema = OpenSchema.from_kinds(
        {"town": "string", "day": "date", "price": "number", "who": "string"}
    )
    schema = schema.without("who") if unit else schema
    run = Release(
        schema=schema, settings=RunSettings(unit=unit, max_rows_per_unit=unit and 1, **RELEASE)
    )
    secret = "-".join(["the", "only", "one"])
    frame = pd.DataFrame(
        {"town": ["A"] * 99 + [secret], "day": "2020-01-01", "price": "1.5", "who": range(100)}
    )
    found = run.of(held_rows(frame, schema, unit=unit))
    del frame
    assert holders() - before == set()
    assert mentions(secret) == 0
    held_on_to = [secret]
    assert mentions(secret) == len(held_on_to)  # such a list would have been found
    assert secret not in str(found.schema.to_dict())


def test_a_failed_run_keeps_none_either_once_its_error_is_gone():
    before, paid_for = holders(), []
    schema = OpenSchema.from_kinds({"town": "string"})
    run = Release(schema=schema, settings=RunSettings(**RELEASE))

    def fail(stage, _done, _most):
        if stage != "learning the domain":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.of(
            held_rows(pd.DataFrame({"town": ["A"] * 99}), schema),
            report=fail,
            rescue=paid_for.append,
        )
    assert len(paid_for) == 1
    assert holders() - before == set()


# Noise: a tree's is what its event says, and no two counts share theirs


@pytest.mark.parametrize("adjacency", Adjacency)
def test_a_tree_is_drawn_with_the_noise_of_its_event(adjacency, monkeypatch):
    drawn = []

    def watched(*where, **noise):
        drawn.append({"where": where[1:]} | noise)
        return split_tree(*where, **noise)

    monkeypatch.setattr(home(PrivateValues), "split_tree", watched)
    ledger = book(adjacency=adjacency)
    private(Rows([1, 2, 2, None]), ledger).split_tree(GRID, -4, 4, rho=0.01)
    (event,) = ledger.events
    (used,) = drawn
    assert (used.pop("where"), used.pop("scale"), used.pop("decay")) == (
        (-4, 4),
        event.scale,
        event.decay,
    )
    assert [*used] == ["randomness"]  # no other threshold, no other depth
    assert type(used["randomness"]) is SystemRandomness


@pytest.mark.parametrize("accounting", Accounting)
def test_the_missing_and_the_values_have_noise_of_their_own(accounting):
    source = Counts([1, 2, 3], np.array([10**6] * 3))
    seen = set()
    for _ in range(30):
        found = private(source, book(accounting)).frequent(GRID, rho=0.001, delta=0.01)
        noise = [found.missing, *(count - 10**6 for count in found.counts.values())]
        seen |= {(i, j) for i, j in combinations(range(4), 2) if noise[i] != noise[j]}
    assert seen == set(
        combinations(range(4), 2)
    )  # sigma is 22: thirty ties of two by chance are out of the question


# The books


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
@pytest.mark.parametrize("share", [0.01, 0.25, 0.9])
def test_domain_and_model_share_one_ledger(accounting, share):
    schema = OpenSchema.from_kinds(
        {"town": "string", "price": "number", "age": "integer", "ok": "boolean"}
    )
    run = Release(
        schema=schema,
        settings=RunSettings(
            **RELEASE | {"epsilon": 2.0}, accounting=accounting, domain_share=share
        ),
    )
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"town": rng.choice(["A", "B"], 3000), "price": rng.lognormal(3, 1, 3000).round(2)}
    )
    frame = frame.assign(age=rng.integers(0, 90, 3000), ok=rng.choice(["true", "false"], 3000))
    run.of(held_rows(frame, schema))
    ledger = run.ledger
    of_domain = [
        event for event in ledger.events if isinstance(event, HistogramEvent | PartitionEvent)
    ]
    assert of_domain == list(ledger.events[: len(of_domain)])
    assert len(of_domain) < len(ledger.events)
    assert sum(event.rho for event in of_domain) <= ledger.budget * Fraction(share)
    assert sum(event.rho for event in ledger.events) == ledger.spent <= ledger.budget
    assert (
        sum(event.delta for event in ledger.events)
        == ledger.failure_delta_spent
        <= ledger.failure_delta
    )
    assert ledger.failure_delta == Fraction(1e-6 * share)
    with pytest.raises(Exception, match="privacy budget"):
        run.of(held_rows(frame, schema))
