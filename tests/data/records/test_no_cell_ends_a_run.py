"""No cell ends a run, in any format: every type that a table can hold, with its ends and with what
breaks.
"""

import sqlite3
from contextlib import closing, contextmanager, suppress
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from helpers.seldom import often

import synthdp
from synthdp.core import SchemaError, SourceError, SynthdpError
from synthdp.data import encode, engine_frame, held_rows, opened, opened_here, read_coded, rows_of
from synthdp.privacy import PrivacyLedger
from synthdp.schema import OpenSchema, Schema

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)

DAYS = {"minimum": "2000-01-01", "maximum": "2020-01-01"}
DECLARED = {
    "integer": {"type": "integer", "constraints": {"minimum": 0, "maximum": 5}},
    "number": {"type": "number", "constraints": {"minimum": 0, "maximum": 5}},
    "string": {"type": "string", "constraints": {"enum": ["a", "1"]}, "synthdp": {"other": "b"}},
    "boolean": {"type": "boolean"},
    "date": {"type": "date", "constraints": DAYS},
    "datetime": {
        "type": "datetime",
        "constraints": DAYS,
        "synthdp": {"parts": ["weekday", "month", "hour"]},
    },
    "levels": {"type": "integer", "constraints": {"enum": [1, 2]}},
    "year": {"type": "year", "constraints": {"minimum": 1990, "maximum": 2000}},
}
LEARNT = ("integer", "number", "categorical", "boolean", "date", "datetime", "year")
OPEN = {
    name: OpenSchema.from_dict({"fields": [{"name": "x"} | field]}, learns_bins=False)
    for name, field in DECLARED.items()
}
OPEN |= {f"learnt {kind}": OpenSchema.from_kinds({"x": kind}) for kind in LEARNT}

EVERY = OpenSchema.from_dict(
    {"fields": [schema.to_dict()["fields"][0] | {"name": name} for name, schema in OPEN.items()]}
)
"""All of these at once, each under its own name."""

ODD_BYTES = [b"SeCrEt\xff", b"a", b"", b"\xed\xa0\x80", b"a\0b", b"1", b"x" * 2**16, None]
OF_64_BITS = [-(2**63), 2**63 - 1, 1 - 2**63, 0, 10**9, None]
UNITS = ("s", "ms", "us", "ns")


def viewed(values, kind, *, over=None):
    return pa.array(values, over or pa.int64()).view(kind)


def floats(bits, dtype):
    numbers = np.array(bits, dtype=f"uint{np.dtype(dtype).itemsize * 8}").view(dtype)
    return pa.Array.from_buffers(
        pa.from_numpy_dtype(dtype), len(numbers), [None, pa.py_buffer(numbers)]
    )


def arrow_arrays():
    """An array of every type, with values that no check would pass."""
    found = {}
    for n_bits in (8, 16, 32, 64):
        found[f"int{n_bits}"] = pa.array(
            [-(2 ** (n_bits - 1)), 2 ** (n_bits - 1) - 1, 0, 1, None], f"int{n_bits}"
        )
        found[f"uint{n_bits}"] = pa.array([2**n_bits - 1, 0, 1, None], f"uint{n_bits}")
    found["float16"] = pa.array(np.array([np.nan, np.inf, 65504, 6e-8], dtype=np.float16))
    found["float32"] = floats([0x7F800001, 0xFFC00001, 0x7F7FFFFF, 1], np.float32)
    found["float64"] = floats(
        [0x7FF0000000000001, 0xFFF8000000000001, 0x7FEFFFFFFFFFFFFF, 1, 1 << 63], np.float64
    )
    texts = viewed(ODD_BYTES, pa.string(), over=pa.binary())
    found |= {
        "texts": texts,
        "large texts": viewed(ODD_BYTES, pa.large_string(), over=pa.large_binary()),
    }
    found["coded texts"] = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 5, None]), texts[:7])
    found |= {
        "bytes": pa.array(ODD_BYTES),
        "fixed bytes": pa.array([b"ab", b"\xff\xff", None], pa.binary(2)),
    }
    found |= {"truth": pa.array([True, None]), "null": pa.nulls(2)}
    found["date32"] = viewed([-(2**31), 2**31 - 1, 0, 11_000, None], pa.date32(), over=pa.int32())
    found["date64"] = viewed([*OF_64_BITS, 86_400_000 * 11_000], pa.date64())
    for unit in UNITS:
        found[f"moments in {unit}"] = viewed(OF_64_BITS, pa.timestamp(unit))
        found[f"zoned moments in {unit}"] = viewed(OF_64_BITS, pa.timestamp(unit, "Europe/Berlin"))
        found[f"moments nowhere in {unit}"] = viewed(OF_64_BITS, pa.timestamp(unit, "Mars/Olympus"))
        found[f"durations in {unit}"] = viewed(OF_64_BITS, pa.duration(unit))
    found |= {
        f"times in {unit}": viewed([-(2**31), 2**31 - 1], pa.time32(unit), over=pa.int32())
        for unit in UNITS[:2]
    }
    found |= {f"times in {unit}": viewed(OF_64_BITS, pa.time64(unit)) for unit in UNITS[2:]}
    found["decimals"] = pa.array(
        [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(1), None], pa.decimal128(38, 0)
    )
    found["wide decimals"] = pa.array([Decimal("9" * 76), None], pa.decimal256(76, 0))
    words = np.array([2**63 - 1, 2**63 - 1, 1, 0], dtype=np.int64)
    found["too large decimals"] = pa.Array.from_buffers(
        pa.decimal128(5, 2), 2, [None, pa.py_buffer(words)]
    )
    found |= {"lists": pa.array([[1], None, []]), "structs": pa.array([{"a": 1}, None])}
    found["lists of texts"] = pa.ListArray.from_arrays([0, 1, 3], texts[:3])
    found["maps"] = pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))
    coded = ("date32", "moments in ns", "times in us", "durations in s", "decimals", "bytes")
    found |= {f"coded {name}": found[name].dictionary_encode() for name in coded}
    found["intervals of months"] = pa.array(
        [pa.MonthDayNano([2**31 - 1, -(2**31), 2**63 - 1]), None]
    )
    found["coded lists"] = pa.DictionaryArray.from_arrays(pa.array([0, None]), found["lists"])
    return found


ARRAYS = arrow_arrays()


def columns_of(array):
    return pa.table(dict.fromkeys(OPEN, array))


def in_parquet(array, place):
    pq.write_table(columns_of(array), place / "t.parquet")
    return str(place / "t.parquet")


def in_plain_parquet(array, place):
    """As a writer leaves it that knows nothing of Arrow."""
    pq.write_table(columns_of(array), place / "t.parquet", store_schema=False, use_dictionary=False)
    return str(place / "t.parquet")


def in_ipc(array, place):
    from pyarrow.dataset import dataset

    table = columns_of(array)
    with pa.ipc.new_file(str(place / "t.arrow"), table.schema) as stream:
        stream.write_table(table)
    return dataset(str(place / "t.arrow"), format="ipc")


def in_pandas(array, _place):
    return pd.DataFrame({name: pd.Series(pd.arrays.ArrowExtensionArray(array)) for name in OPEN})


READERS = {
    "Parquet": in_parquet, "plain Parquet": in_plain_parquet, "Arrow": lambda array, _: columns_of(array),
    "dataset": in_ipc, "pandas": in_pandas,
}  # fmt: skip
BY_TYPE = "of a type that Arrow or pandas does not know"


@pytest.mark.parametrize("reader", READERS)
def test_no_value_of_any_type_ends_the_reading(reader, tmp_path):
    """Or all values of a type are refused, by its name."""
    unlike = []
    for name, array in ARRAYS.items():
        try:
            data = READERS[reader](array, tmp_path)
        except (pa.ArrowException, OSError):  # no such file can be
            continue
        try:
            with opened_here(data) as table:
                held_rows(table, EVERY)
        except SynthdpError as error:
            unlike += [] if BY_TYPE in str(error) else [(name, str(error))]
        except Exception as error:
            unlike.append((name, repr(error)))
    assert unlike == []


def test_a_type_that_is_refused_is_refused_for_any_values():
    for values in (ARRAYS["intervals of months"], ARRAYS["intervals of months"][1:]):
        with pytest.raises(SynthdpError, match=BY_TYPE), opened_here(pa.table({"x": values})):
            pass


@pytest.mark.parametrize("reader", ["Parquet", "plain Parquet"])
@pytest.mark.parametrize("name", ["texts", "large texts", "coded texts"])
def test_the_codes_of_other_rows_are_those_that_they_have_alone(reader, name, tmp_path):
    """Of a column in which one text is none, and of the columns beside it."""
    field = DECLARED["string"] | {"name": "x"}
    schema = Schema.from_dict({"fields": [field, DECLARED["number"] | {"name": "beside"}]})
    array = ARRAYS[name]
    table = pa.table({"x": array, "beside": viewed([5 * 10**9] * len(array), pa.duration("ns"))})
    pq.write_table(
        table, tmp_path / "t.parquet", store_schema=reader == "Parquet", row_group_size=3
    )
    together = read_coded(tmp_path / "t.parquet", schema).columns
    for number in range(len(array)):
        pq.write_table(
            table.slice(number, 1), tmp_path / "u.parquet", store_schema=reader == "Parquet"
        )
        alone = read_coded(tmp_path / "u.parquet", schema).columns
        assert [codes[number] for codes in together] == [codes[0] for codes in alone]
    assert [value.as_buffer().to_pybytes() for value in array.cast(pa.binary())[1:2]] == [
        b"a"
    ] or name == "coded texts"
    assert together[0][1] == 0


def test_indices_beyond_a_dictionary_are_no_values_but_damage(tmp_path):
    broken = pa.DictionaryArray.from_arrays(
        pa.array([0, 5], pa.int32()), pa.array(["a"]), safe=False
    )
    with pytest.raises((SynthdpError, pa.ArrowException, IndexError)):  # noqa: PT012 (who writes it may refuse, too)
        in_parquet(broken, tmp_path)
        read_coded(
            tmp_path / "t.parquet",
            Schema.from_dict({"fields": [DECLARED["string"] | {"name": "x"}]}),
        )


EXTREMES = [
    pd.Series(pd.arrays.PeriodArray(np.array([2**62, -(2**62), 0]), dtype=pd.PeriodDtype(freq)))
    for freq in "YMDhs"
]
EXTREMES += [
    pd.Series(pd.arrays.IntervalArray.from_breaks(breaks))
    for breaks in (np.array([-np.inf, 0, np.inf]), np.array([-(2**63), 0, 2**63 - 1]))
]
EXTREMES += [
    pd.Series(np.array(OF_64_BITS[:4]).view(f"{kind}[{unit}]"))
    for kind in ("datetime64", "timedelta64")
    for unit in UNITS
]
EXTREMES += [
    pd.Series([2**64 - 1, None], dtype="UInt64"), pd.Series([np.nan, 1e308], dtype="Float64"),
    pd.Series(["\ud800", None], dtype=pd.StringDtype("python")), pd.Series(["x" * 2**20, "a\0b"], dtype="category"),
    pd.Series(pd.arrays.SparseArray([np.inf, np.nan])), pd.Series(np.array([1 + 1j, np.nan])),
]  # fmt: skip


@pytest.mark.parametrize("values", EXTREMES, ids=lambda values: str(values.dtype))
def test_no_value_of_any_dtype_of_pandas_ends_the_reading(values):
    held_rows(pd.DataFrame(dict.fromkeys(OPEN, values)), EVERY)


@pytest.fixture
def charged(monkeypatch):
    events = []
    charge = PrivacyLedger.charge

    def watched(ledger, event):
        events.append(event)
        charge(ledger, event)

    monkeypatch.setattr(PrivacyLedger, "charge", watched)
    return events


def count(data, schema):
    """What an engine is asked before anything is paid, and of declared columns then."""
    rows = rows_of(engine_frame(data), schema)()
    if not schema.is_open:
        closed = schema.resolved({})
        next(rows.counted(closed).counts_of([closed.names]))


STORED = [
    b"\xff",
    b"a",
    "abc",
    "1",
    1,
    2**63 - 1,
    -(2**63),
    1.5,
    float("inf"),
    None,
    "",
    "9999-99-99",
    "a\0b",
]


@contextmanager
def in_sqlite(place, kind):
    """A table of which each cell is of another type; Python 3.13 minds connections left open."""
    ibis = pytest.importorskip("ibis")
    with closing(sqlite3.connect(place / "t.db")) as database, database as connection:
        connection.execute(f"CREATE TABLE t (x {kind})")
        connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in STORED])
        connection.execute("INSERT INTO t VALUES (CAST(x'ff61' AS TEXT))")
    backend = ibis.sqlite.connect(str(place / "t.db"))
    try:
        yield backend.table("t")
    finally:
        backend.disconnect()


@pytest.mark.parametrize(
    "kind",
    often(
        "TEXT", "INTEGER", "DATE", "BLOB", seldom=["REAL", "BOOLEAN", "TIMESTAMP", "DECIMAL(5,2)"]
    ),
)
def test_sqlite_lets_anything_stand_anywhere(kind, tmp_path, charged):
    """Each kind of column is read to its end, or refused before anything is paid."""
    ended = set()
    with in_sqlite(tmp_path, kind) as table:
        for name, schema in OPEN.items():
            charged.clear()
            try:
                count(table, schema)
                ended.add(name)
            except (SchemaError, SourceError):
                assert charged == []
    assert ended or kind == "BLOB"
    expected = {"TEXT": "string", "INTEGER": "integer", "REAL": "number", "BOOLEAN": "boolean"}
    assert expected.get(kind) is None or expected[kind] in ended


def test_sqlite_counts_other_rows_as_if_odd_ones_were_not_there(tmp_path):
    from synthdp.data import EngineTable

    schema = OPEN["string"]
    with in_sqlite(tmp_path, "TEXT") as table:
        prepared = EngineTable.from_frame(engine_frame(table), schema).prepared()
        (counts,) = prepared.counted(schema.resolved({})).counts_of([("x",)])
    closed = schema.resolved({})
    texts = [value for value in STORED if isinstance(value, str)] + [
        "1",
        "1.5",
        "9223372036854775807",
    ]
    expected = np.bincount(
        encode(pd.DataFrame({"x": texts}), closed).columns[0], minlength=counts.size
    )
    assert counts[0] == expected[0]
    assert counts.sum() == len(STORED) + 1


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["date", "datetime", "learnt date", "learnt datetime"])
def test_moments_that_duckdb_cannot_cast(unit, kind):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(config={"threads": 1})
    connection.register("given", pa.table({"x": ARRAYS[f"moments in {unit}"]}))
    count(connection.table("given"), OPEN[kind])


@pytest.mark.parametrize("kind", ["learnt categorical", "string"])
def test_what_an_engine_cannot_read_at_all_is_refused_before_anything_is_paid(kind, charged):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(config={"threads": 1})
    connection.register("given", pa.table({"x": ARRAYS["texts"], "y": [1.0] * len(ODD_BYTES)}))
    fields = [
        OPEN[kind].to_dict()["fields"][0],
        OpenSchema.from_kinds({"y": "number"}).to_dict()["fields"][0],
    ]
    with pytest.raises(SourceError, match="not shown"):
        synthdp.synthesize(connection.table("given"), {"fields": fields}, epsilon=1, delta=1e-6)
    assert charged == []


POLARS = {
    "integers": pl.Series("x", [-(2**63), 2**63 - 1, None]),
    "floats": pl.Series("x", [float("nan"), float("inf"), -1e308]),
    "texts": pl.Series("x", ["x" * 2**20, "a\0b", "", None]),
    "decimals": pl.Series("x", [Decimal("9" * 38), None], dtype=pl.Decimal(38, 0)),
    **{unit: pl.Series("x", OF_64_BITS, dtype=pl.Int64).cast(pl.Datetime(unit)) for unit in UNITS[1:]},
    "zoned": pl.Series("x", OF_64_BITS, dtype=pl.Int64).cast(pl.Datetime("us", "Europe/Berlin")),
    "dates": pl.Series("x", [-(2**31), 2**31 - 1], dtype=pl.Int32).cast(pl.Date),
    "durations": pl.Series("x", OF_64_BITS, dtype=pl.Int64).cast(pl.Duration("us")),
    "times": pl.Series("x", [0, None], dtype=pl.Int64).cast(pl.Time),
    "bytes": pl.Series("x", [b"\xff", None]), "lists": pl.Series("x", [[1], None]),
}  # fmt: skip


@pytest.mark.parametrize("name", POLARS)
def test_no_value_of_polars_ends_a_run(name, charged):
    held_rows(opened(pl.DataFrame(dict.fromkeys(OPEN, POLARS[name]))).frame, EVERY)
    for schema in OPEN.values():
        with suppress(SchemaError):  # by its type
            count(POLARS[name].to_frame().lazy(), schema)
    assert charged == []
