"""Tables of pandas, polars and Arrow go in as they are and come out again; all else is refused with
the way out.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from synthdp.core import MissingExtraError, ParameterError, SchemaError
from synthdp.data import opened

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")


def test_a_data_frame_of_pandas_is_taken_as_it_is():
    frame = pd.DataFrame({"a": [1]}, index=["SECRET"])
    table = opened(frame)
    assert table.frame is frame
    assert table.container.filled(frame) is frame
    assert "SECRET" not in repr(table)


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_a_value_of_another_row_changes_no_value_on_the_way(make):
    """A whole number stays whole beside a missing one, and all of its digits are there."""
    content = {"n": [2**53 + 1, None, 3], "text": ["a", None, "c\0d"], "truth": [True, None, False]}
    frame = opened(make(content)).frame
    assert frame["n"].tolist() == [2**53 + 1, pd.NA, 3]
    assert frame["text"].tolist() == ["a", pd.NA, "c\0d"]
    assert opened(make({"n": [2**53 + 1]})).frame["n"].dtype == frame["n"].dtype


def test_what_pandas_wrote_into_an_arrow_table_hides_no_column():
    table = pa.Table.from_pandas(pd.DataFrame({"a": [1]}, index=pd.Index([7], name="id")))
    assert list(opened(table).frame.columns) == ["a", "id"]


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_the_same_kind_of_table_comes_out(make):
    container = opened(make({"a": [1]})).container
    filled = container.filled(
        pd.DataFrame({"a": [1, None], "b": ["x", None]}).astype({"a": "Int8"})
    )
    assert type(filled) is type(make({"a": [1]}))
    assert filled.shape == (2, 2)
    assert (
        filled["a"].to_pylist() == [1, None]
        if make is pa.table
        else filled["a"].to_list() == [1, None]
    )


def test_ordered_levels_of_polars_stay_an_enumeration():
    levels = pl.Enum(["lo", "mid", "hi"])
    table = opened(pl.DataFrame({"a": pl.Series(["hi", None], dtype=levels)}))
    assert table.dtypes["a"] == pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True)
    filled = table.container.filled(
        pd.DataFrame({"a": pd.Categorical(["mid", None], dtype=table.dtypes["a"])})
    )
    assert filled["a"].dtype == levels


OTHERS = [
    (pl.LazyFrame({"a": [1]}), "polars.LazyFrame; collect it: data.collect()"),
    (np.zeros((2, 2)), "numpy.ndarray; name its columns: pandas.DataFrame(data, columns=[..])"),
    ({"a": [1]}, "dict; make a table of it: pandas.DataFrame(data)"),
    ([{"a": 1}], "list; make a table of it: pandas.DataFrame(data)"),
    (pd.Series([1]), "Series; make a table of it: data.to_frame()"),
    (pl.Series([1]), "Series; make a table of it: data.to_frame()"),
    (
        pa.RecordBatch.from_pydict({"a": [1]}),
        "RecordBatch; make a table of it: pyarrow.Table.from_batches([data])",
    ),
    ("people.csv", "str; read the file"),
    (Path("people.csv"), "PosixPath; read the file"),
    (None, "NoneType; make a pandas.DataFrame, polars.DataFrame or pyarrow.Table of it"),
    (
        type("DataFrame", (), {"__module__": "pyspark.sql"})(),
        "pyspark.DataFrame; fetch it: data.toPandas()",
    ),
]


@pytest.mark.parametrize(
    ("data", "expected"), OTHERS, ids=[expected.split(";")[0] for _, expected in OTHERS]
)
def test_anything_else_is_refused_and_the_conversion_named(data, expected):
    with pytest.raises(ParameterError) as caught:
        opened(data)
    assert expected in str(caught.value)
    assert str(caught.value).startswith("data is a ")


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(SchemaError, match="two columns have the same name"):
        opened(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))


UNKNOWN = [
    pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)}),
    pa.table({"a": pa.nulls(1, pa.month_day_nano_interval())}),
]


@pytest.mark.parametrize("data", UNKNOWN, ids=["Int128", "spans of months"])
def test_a_type_that_arrow_or_pandas_does_not_know_is_refused_in_one_line(data):
    with pytest.raises(
        ParameterError, match="a type that Arrow or pandas does not know; cast it, or drop it"
    ):
        opened(data)


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="this pyarrow has no views of texts")
def test_views_of_texts_are_texts():
    texts = pa.array(["a", None, "a text that is longer than what a view holds itself"])
    found = opened(pa.table({"a": texts.cast(pa.string_view())}))
    assert found.frame["a"].tolist() == opened(pa.table({"a": texts})).frame["a"].tolist()
    assert found.dtypes["a"].pyarrow_dtype == pa.large_string()


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'synthdp\[parquet\]'"):
        opened(pl.DataFrame({"a": [1]}))
