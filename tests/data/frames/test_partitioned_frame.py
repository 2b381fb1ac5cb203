"""Tables in partitions are read as if all rows were in memory, and what goes wrong there tells
nothing of them.
"""

import logging
import pickle
import warnings
import weakref

import numpy as np
import pandas as pd
import pytest
from helpers.reach import told_by
from helpers.values import counted

from synthdp.core import Grid, PrivacyError, SchemaError, SourceError
from synthdp.data import PartitionedFrame, UnitRows, held_rows, partitioned
from synthdp.schema import OpenSchema

dd = pytest.importorskip("dask.dataframe")

SECRET = "Zacharias-4711"
BOUNDS = {"minimum": 0, "maximum": 9}
SCHEMA = OpenSchema.from_dict(
    {
        "fields": [
            {"name": "whole", "type": "integer", "constraints": BOUNDS},
            {
                "name": "number",
                "type": "number",
                "constraints": BOUNDS,
                "synthdp": {"edges": [0, 0.3, 3, 9]},
            },
            {"name": "text", "type": "string", "constraints": {"enum": ["0.3", "3", "True"]}},
            {"name": "flag", "type": "boolean"},
        ]
    }
)
NAMES = SCHEMA.resolved({}).names


def same(part):
    return part


def dask_of(*parts, meta=None, make=same):
    """A data frame of Dask whose partitions are as they are, whatever the first, or ``meta``, says."""
    return dd.from_map(make, list(parts), meta=(parts[0] if meta is None else meta)[:0])


def column(values, dtype=object):
    """A table that has the same values in all columns."""
    series = pd.Series(values, dtype=dtype)
    return pd.DataFrame(dict.fromkeys(NAMES, series))


def codes_of(given):
    """Of each column of the schema the codes of all rows."""
    table = given if isinstance(given, pd.DataFrame) else partitioned(given)
    return np.array(held_rows(table, SCHEMA).encode(SCHEMA.resolved({})).columns)


KINDS = [
    column([3, 1], "int64"),
    column([3, None], "float64"),
    column([3, 0.3], "float32"),
    column([3, None], "Int8"),
    column([3, 0.3], "Float32"),
    column([3, None, "3", 0.3]),  # Dask makes texts of objects, before anybody sees them
    column(["3", "0.3", None], "str"),
    column(pd.Categorical([3, 0])),
    column(pd.Categorical(["3", None, "0.3"])),
    column([True, False], "bool"),
    column([True, None], "boolean"),
]


@pytest.mark.parametrize("shift", [0, 4, 8])
def test_the_type_of_a_partition_changes_no_code(shift):
    """3 is 3 in a partition of integers, of floats, of texts or of both, whatever the others are
    and Dask says.
    """
    parts = [*KINDS[shift:], *KINDS[:shift]]
    alone = [held_rows(part.iloc[[row]], SCHEMA) for part in parts for row in range(len(part))]
    expected = np.concatenate(
        [np.array(each.encode(SCHEMA.resolved({})).columns) for each in alone], axis=1
    )
    assert (codes_of(dask_of(*parts)) == expected).all()
    threes = [part.iloc[[0]] for part in parts if str(part["whole"].iloc[0]) in ("3", "3.0")]
    assert len(np.unique(codes_of(dask_of(*threes))[:3], axis=1).T) == 1


def test_ids_of_other_types_are_one_person_and_rows_are_bounded_over_all_partitions():
    schema = OpenSchema.from_dict(
        {"fields": [{"name": "age", "type": "integer", "constraints": BOUNDS}]}
    )
    ids = [
        pd.Series([12, 12, 7], dtype="int64"),
        pd.Series([12, None, 7], dtype="float64"),
        pd.Series(["12", " 12", "8"], dtype="str"),
        pd.Series(pd.Categorical([12, 12, 12])),
    ]
    parts = [pd.DataFrame({"age": [1, 2, 3], "who": each}) for each in ids]
    for max_rows, expected in ((1, 3), (3, 6), (99, 11)):
        held = held_rows(partitioned(dask_of(*parts)), schema, unit="who", max_rows=max_rows)
        (ages,) = held.counted(schema.resolved({})).counts_of([("age",)])
        assert ages.sum() == expected
    together = UnitRows(max_rows=2)
    for each in ids:
        together.add(each)
    assert together.kept().sum() == 5


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_values_to_learn_from_are_those_of_memory(parts):
    frame = pd.DataFrame(
        {"n": [0.25, None, 7, 7, -1], "word": ["b", "a", None, "b ", "c"], "note": [[1]] * 5}
    )
    schema = OpenSchema.from_kinds({"n": "number", "word": "categorical", "note": "ignore"})
    found = held_rows(
        partitioned(dd.from_pandas(frame, npartitions=parts, sort=False)), schema
    ).source
    held = held_rows(frame, schema).source
    for grid, starts in ((Grid(column="n", decimals=1), [0, 2, 70]), (Grid(column="word"), [])):
        assert found.histogram(grid, starts).tolist() == held.histogram(grid, starts).tolist()
        assert counted(found.frequencies(grid)) == counted(held.frequencies(grid))


def test_a_partition_without_rows_is_not_looked_at_and_columns_may_be_in_any_order():
    first, last = KINDS[0], KINDS[6][list(NAMES)[::-1]]
    found = codes_of(dask_of(first, first[:0], pd.DataFrame(), pd.DataFrame({"other": []}), last))
    assert (found == np.concatenate([codes_of(first), codes_of(last)], axis=1)).all()
    assert codes_of(dask_of(first[:0])).shape == (len(NAMES), 0)


@pytest.mark.parametrize("change", [{"whole": SECRET}, {"whole": "text"}])
def test_a_partition_of_other_columns_is_refused_without_their_names(change):
    data = dask_of(KINDS[0], KINDS[0].rename(columns=change))
    with pytest.raises(SourceError, match="dask: a partition has other columns") as caught:
        codes_of(data)
    assert SECRET not in str(caught.value)


def test_columns_that_the_schema_does_not_have_are_refused_before_a_row_is_read():
    def unread(part):
        raise AssertionError(part)

    with pytest.raises(SchemaError, match="'more'"):
        held_rows(partitioned(dask_of(KINDS[0].assign(more=1), make=unread)), SCHEMA)


def fails(part):
    logging.getLogger("distributed.worker").error("Compute Failed: %s", SECRET)
    warnings.warn(SECRET, UserWarning, stacklevel=1)
    raise ValueError(SECRET, part)


@pytest.mark.filterwarnings("default")
def test_what_a_partition_says_when_it_fails_is_not_told(caplog, recwarn):
    caplog.set_level(logging.DEBUG)
    data = dask_of(KINDS[0], make=fails)
    with pytest.raises(ValueError, match=SECRET), pytest.warns(UserWarning, match=SECRET):
        data.compute()  # so it would be told without us
    assert SECRET in caplog.text
    caplog.clear()
    with pytest.raises(SourceError, match=r"dask: reading rows failed \(ValueError\)") as caught:
        codes_of(data)
    assert SECRET not in told_by(caught.value, caplog.text)
    assert caught.value.__context__ is None
    assert not [each for each in recwarn if SECRET in str(each.message)]


def test_what_fails_while_partitions_are_planned_is_not_told(monkeypatch):
    data = dask_of(KINDS[0])
    monkeypatch.setattr(type(data), "to_delayed", lambda _: fails(0))
    with pytest.raises(
        SourceError, match=r"planning what to read failed \(UserWarning|ValueError\)"
    ) as caught:
        codes_of(data)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("n_partitions", [1, 4])
def test_how_many_partitions_there_are_is_not_told(n_partitions):
    table = partitioned(
        dd.from_pandas(pd.concat([KINDS[0]] * 4), npartitions=n_partitions, sort=False)
    )
    told = []
    held_rows(table, SCHEMA, progress=told.append)
    assert told == [1.0]
    assert repr(table) == "<PartitionedFrame of 4 columns>"
    with pytest.raises(PrivacyError):
        pickle.dumps(table)


def test_a_partition_is_let_go_before_the_next_one_is_made():
    made = []

    def fresh():
        assert not [each for each in made if each() is not None]
        frame = KINDS[0].copy()
        made.append(weakref.ref(frame))
        return frame

    table = PartitionedFrame(
        "a test", KINDS[0][:0], names=NAMES, partitions=lambda: (fresh() for _ in range(3))
    )
    held_rows(table, SCHEMA)
    assert len(made) == 3


def test_other_tables_are_not_taken_for_partitions():
    data = dask_of(KINDS[0])
    assert [partitioned(each) for each in (KINDS[0], data["whole"], None, [], "a.csv")] == [
        None
    ] * 5
    assert list(partitioned(data).empty.dtypes.astype(str)) == ["int64"] * 4


class TestDatasetsOfArrow:
    """A dataset of Arrow goes the same way."""

    pa = pytest.importorskip("pyarrow")

    def dataset(self, *tables):
        import pyarrow.dataset

        return pyarrow.dataset.dataset([pyarrow.dataset.dataset(table) for table in tables])

    def test_its_codes_are_those_of_memory(self):
        tables = [
            self.pa.Table.from_pandas(part, preserve_index=False)
            for part in (KINDS[6], KINDS[6][:1])
        ]
        expected = np.concatenate([codes_of(KINDS[6]), codes_of(KINDS[6][:1])], axis=1)
        assert (codes_of(self.dataset(*tables)) == expected).all()

    def test_what_it_says_of_a_value_is_not_told(self, tmp_path):
        import pyarrow.dataset

        (tmp_path / "t.csv").write_text(f"whole\n1\n{SECRET}\n")
        data = pyarrow.dataset.dataset(
            tmp_path / "t.csv", self.pa.schema([("whole", self.pa.int64())]), format="csv"
        )
        with pytest.raises(self.pa.ArrowInvalid, match=SECRET):
            data.to_table()
        schema = OpenSchema.from_dict(
            {"fields": [{"name": "whole", "type": "integer", "constraints": BOUNDS}]}
        )
        with pytest.raises(
            SourceError, match=r"pyarrow: reading rows failed \(ArrowInvalid\)"
        ) as caught:
            held_rows(partitioned(data), schema)
        assert SECRET not in str(caught.value)
