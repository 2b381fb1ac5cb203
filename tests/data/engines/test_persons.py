"""No person counts for more rows than allowed, and each scan sees the same ones."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from helpers.engines import ENGINES, grouped

from synthdp.core import Grid, ParameterError, SchemaError
from synthdp.data import EngineFrame, EngineTable, bounded
from synthdp.privacy import Adjacency, PrivacyLedger, PrivateValues
from synthdp.schema import OpenSchema

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)

SCHEMA = OpenSchema.from_dict(
    {
        "missingValues": ["", "n/a"],
        "fields": [
            {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 59}},
            {"name": "word", "type": "string", "constraints": {"enum": ["a", "b"]}},
        ],
    }
)
PEOPLE = pl.DataFrame(
    {
        "who": [" ann", "ann", "ann ", "bob", "cy", *["dee"] * 40, "", None, "n/a"],
        "age": [1, 2, 3, 4, 5, *range(10, 50), 57, 58, 59],
        "word": ["a", "b", *["a"] * 46],
    }
)


def kept(engine, frame, key, max_rows=2):
    table = EngineFrame.from_native(ENGINES[engine](frame))
    some = bounded(
        table, "who", ["age", "word"], max_rows=max_rows, missing_values=["n/a"], key=key
    )
    found = grouped(some, "age")
    return set(found[some.columns["age"].alias].to_list())


@pytest.mark.parametrize("engine", ENGINES)
def test_of_each_person_so_many_rows_are_kept_and_none_without_an_id(engine):
    ages = kept(engine, PEOPLE, key=1)
    assert len(ages & {1, 2, 3}) == 2
    assert {4, 5} <= ages
    assert len([age for age in ages if 10 <= age < 50]) == 2
    assert not ages & {57, 58, 59}
    assert ages == kept(engine, PEOPLE.reverse(), key=1)  # whatever the order of the rows
    assert (
        len({frozenset(kept(engine, PEOPLE, key=key)) for key in range(4)}) > 1
    )  # and the key decides


@pytest.mark.parametrize("engine", ENGINES)
def test_which_rows_of_others_are_kept_does_not_depend_on_a_person(engine):
    others = PEOPLE.filter((pl.col("who") != "dee") | pl.col("who").is_null())
    assert kept(engine, others, key=3) == {age for age in kept(engine, PEOPLE, key=3) if age < 10}


@pytest.mark.parametrize("engine", ENGINES)
def test_counts_of_all_cliques_are_of_the_same_rows(engine):
    table = EngineTable.from_frame(
        EngineFrame.from_native(ENGINES[engine](PEOPLE)), SCHEMA, unit="who", max_rows=2
    )
    source = table.counted(SCHEMA.resolved({}))
    total, ages, both = source.counts_of([(), ("age",), ("age", "word")])
    assert int(total) == ages.sum() == both.sum() == 6
    assert (both.sum(axis=1) == ages).all()
    assert (table.unit, table.max_rows) == ("who", 2)


def test_ids_of_whole_numbers_and_missing_ones():
    frame = PEOPLE.with_columns(
        who=pl.Series([1, 1, 1, 2, 3, *[4] * 40, -1, None, -1], dtype=pl.Int64)
    )
    table = EngineFrame.from_native(frame.lazy())
    some = bounded(table, "who", ["age"], max_rows=1, missing_values=["-1"])
    assert grouped(some)["n_rows"].to_list() == [4]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_number_that_means_no_id_is_no_other_number(engine):
    nobody = 9_999_999_999_999_999  # the next float is 10**16
    frame = pl.DataFrame({"who": [nobody, nobody, nobody + 1, 1, 1, 0], "age": [1, 2, 3, 4, 5, 6]})
    table = EngineFrame.from_native(ENGINES[engine](frame))
    some = bounded(table, "who", ["age"], max_rows=2, missing_values=[str(nobody), "1.0", "00"])
    found = grouped(some, "age")
    assert set(found[some.columns["age"].alias].to_list()) == {3, 4, 5, 6}


@pytest.mark.parametrize(
    ("change", "problem"), [({"max_rows": 0}, ParameterError), ({"unit": "weight"}, SchemaError)]
)
def test_what_is_no_bound_or_no_id_is_refused(change, problem):
    table = EngineFrame.from_native(PEOPLE.with_columns(weight=pl.lit(0.5)).lazy())
    with pytest.raises(problem):
        bounded(
            table,
            **({"unit": "who", "columns": ["age"], "max_rows": 1, "missing_values": []} | change),
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt64])
def test_numbers_that_no_id_can_be_are_not_looked_for(engine, dtype):
    frame = pl.DataFrame({"who": [1, 1, 2], "age": [1, 2, 3]}, schema_overrides={"who": dtype})
    words = ["-300", str(2**70), str(10**50), "2"]
    some = bounded(
        EngineFrame.from_native(ENGINES[engine](frame)),
        "who",
        ["age"],
        max_rows=2,
        missing_values=words,
    )
    assert grouped(some)["n_rows"].to_list() == [2]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_open_is_learnt_from_one_row_of_each_person(engine):
    """So noise is that of one record, however many rows a person may have."""
    most = 3
    schema = OpenSchema.from_kinds({"age": "integer", "word": "ignore"})
    frame = EngineFrame.from_native(ENGINES[engine](PEOPLE))
    table = EngineTable.from_frame(frame, schema, unit="who", max_rows=most)
    source = table.prepared().source
    none = np.empty(0, dtype=np.int64)
    assert source.histogram(Grid(column="age"), none).sum() == len(
        ["ann", "bob", "cy", "dee", "n/a"]
    )
    ledger = PrivacyLedger(
        epsilon=1.0,
        delta=1e-6,
        adjacency=Adjacency.ADD_REMOVE,
        max_rows_per_unit=most,
        unit_column="who",
        failure_delta=1e-7,
    )
    values = PrivateValues(source, ledger)
    rho = Fraction(1, 1000)
    values.histogram(Grid(column="age"), none, rho=rho)
    values.frequent(Grid(column="age"), rho=rho, delta=1e-8)
    values.split_tree(Grid(column="age"), 0, 64, rho=rho)
    histogram, partition, tree = ledger.events
    assert histogram.sensitivity_squared == partition.sensitivity_squared == 1
    assert tree.sensitivity == 1
    assert {event.record for event in ledger.events} == {"unit"}


def learnt_and_counted(engine, people, monkeypatch, max_rows):
    """How many rows have each age: of those that are learnt from, and of those that are counted."""
    monkeypatch.setattr("secrets.randbits", lambda _: 5)
    bounds = {"minimum": 0, "maximum": 59}
    own = {"derive": ["bins"]}
    field = {"name": "age", "type": "integer", "constraints": bounds, "synthdp": own}
    schema = OpenSchema.from_dict({"fields": [field]})
    (column,) = schema.open_columns
    frame = EngineFrame.from_native(ENGINES[engine](people.drop("word")))
    table = EngineTable.from_frame(frame, schema, unit="who", max_rows=max_rows)
    learnt = table.source.histogram(Grid(column="age"), np.arange(60))[2:]
    closed = schema.resolved({"age": column.resolved(edges=list(range(60)))})
    (counted,) = table.counted(closed).counts_of([("age",)])
    return learnt[:59], counted[:59]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_person_more_is_one_record_more_to_learn_from(engine, monkeypatch):
    learnt, counted = learnt_and_counted(engine, PEOPLE, monkeypatch, 3)
    assert (learnt <= counted).all()  # what is learnt from is counted, too
    assert learnt.sum() < counted.sum()
    for person in ("ann", "dee"):
        others = PEOPLE.filter(~pl.col("who").str.strip_chars().eq_missing(person))
        without, fewer = learnt_and_counted(engine, others, monkeypatch, 3)
        assert sorted((learnt - without).tolist())[-2:] == [0, 1]
        assert (counted - fewer).sum() == 3
