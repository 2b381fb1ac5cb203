"""What leaves an engine while a domain is learnt: counts, and the values whose noisy counts passed."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from helpers.engines import ENGINES, LEARNING
from helpers.homes import home
from helpers.values import NO_STARTS, book, counted, private
from oracles.privacy import Seeded

from synthdp.core import Grid, SourceError
from synthdp.data import EngineFrame, EngineFrequencies, EngineTable, EngineValues
from synthdp.schema import OpenSchema

engine_frame = home(EngineFrame)
engine_frequencies = home(EngineFrequencies)
engine_values = home(EngineValues)

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)

N_RARE = 300
PEOPLE = pl.DataFrame(
    {
        "word": ["often"] * 400
        + ["also"] * 300
        + [f"secret {i}" for i in range(N_RARE)]
        + ["twice"] * 2,
        "pay": [1.5] * 400 + [2.25] * 300 + [1000 + i / 64 for i in range(N_RARE)] + [7.0, None],
        "day": [date(2020, 1, 1)] * 700
        + [date(1950, 1, 1) + timedelta(days=i) for i in range(N_RARE)]
        + [None] * 2,
    }
)
KINDS = {"word": "categorical", "pay": "number", "day": "date"}


@pytest.fixture
def seen(monkeypatch):
    """All that comes from an engine, as texts, answer by answer."""
    answers, original = [], engine_frame.collected

    def collected(query):
        found = original(query)
        answers.append([tuple(map(str, row)) for row in found.rows()])
        return found

    monkeypatch.setattr(engine_frame, "collected", collected)
    return answers


def learning(engine, kinds=KINDS, people=PEOPLE):
    frame = EngineFrame.from_native(ENGINES[engine](people.select(list(kinds))))
    return EngineTable.from_frame(frame, OpenSchema.from_kinds(kinds)).source


@pytest.mark.parametrize("engine", LEARNING)
def test_of_texts_those_alone_leave_whose_counts_passed(engine, seen):
    values = private(learning(engine), book(epsilon=4.0), randomness=Seeded(1))
    found = values.frequent(Grid(column="word"), rho=0.5, delta=1e-6)
    assert set(found.counts) == {"often", "also"}
    texts = {cell for answer in seen for row in answer for cell in row if not cell.isdecimal()}
    assert texts == {"often", "also"}
    assert all(
        len(answer) < 10 for answer in seen
    )  # of the others there is a line for each number of rows


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("column", "points"), [("pay", {150, 225}), ("day", {18262})])
def test_of_numbers_and_days_those_alone_leave_whose_counts_passed(engine, column, points, seen):
    grid = Grid(column=column, decimals=2 if column == "pay" else 0)
    values = private(
        learning(engine, {column: KINDS[column]}), book(epsilon=4.0), randomness=Seeded(1)
    )
    assert set(values.frequent(grid, rho=0.5, delta=1e-6).counts) == points
    values.histogram(grid, np.array([0, 200, 10_000, 110_000]), rho=0.5)
    assert all(len(answer) < 10 for answer in seen)


@pytest.mark.parametrize("engine", LEARNING)
def test_values_are_numbered_once_however_many_questions_fetch_them(engine, monkeypatch):
    monkeypatch.setattr(engine_frequencies, "MAX_CASES", 3)
    monkeypatch.setattr(engine_frequencies, "BLOCK", 4)
    words = [f"w{i:02}" for i in reversed(range(20)) for _ in range(1 + i % 5)]
    found = learning(engine, {"word": "categorical"}, pl.DataFrame({"word": words})).frequencies(
        Grid(column="word")
    )
    counts = np.concatenate(list(found.counts()))
    assert counts.tolist() == sorted(counts.tolist())
    for places in ([0], [19], [3, 4, 5, 6, 8, 11, 18, 19], [*range(1, 20, 2)], [*range(20)]):
        texts = found.values(np.array(places))
        assert [words.count(text) for text in texts] == counts[places].tolist()
        assert texts == sorted(
            set(texts), key=lambda text: (words.count(text), text)
        )  # in every question the same
    assert len(found.values(np.array([], dtype=np.int64))) == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_more_cells_than_one_question_has_cases_are_counted_by_several(engine, monkeypatch):
    monkeypatch.setattr(engine_values, "most_edges", lambda _engine: 3)
    source, grid = learning(engine, {"pay": "number"}), Grid(column="pay", decimals=1)
    starts = np.array([-5, 14, 15, 16, 22, 23, 10_001, 10_020], dtype=np.int64)
    points = np.floor(PEOPLE["pay"].drop_nulls().to_numpy() * 10 + 1e-9)
    expected = np.bincount(np.searchsorted(starts, points, side="right"), minlength=9)
    assert source.histogram(grid, starts).tolist() == [1, *expected.tolist()]


def test_a_table_that_changes_while_values_are_fetched_is_refused():
    ibis = pytest.importorskip("ibis")
    backend = ibis.duckdb.connect(threads=1)
    backend.name = "other"  # which keeps nothing
    backend.con.execute("CREATE TABLE people AS SELECT i % 5 AS age FROM range(30) AS t(i)")
    first, second = (
        EngineTable.from_frame(
            EngineFrame.from_native(backend.table("people")),
            OpenSchema.from_kinds({"age": "integer"}),
        ).source
        for _ in range(2)
    )
    found = first.frequencies(Grid(column="age"))
    second.histogram(Grid(column="age"), np.array([1]))
    backend.con.execute("DELETE FROM people WHERE age < 3")
    with pytest.raises(SourceError, match="the table was changed while it was counted"):
        found.values(np.arange(5))
    for source in (first, second):  # the values that are missing were counted, too
        with pytest.raises(SourceError, match="the table was changed while it was counted"):
            source.histogram(Grid(column="age"), np.array([1]))


@pytest.mark.parametrize("engine", LEARNING)
def test_texts_that_no_file_can_hold_are_no_values(engine):
    source = learning(
        engine, {"word": "categorical"}, pl.DataFrame({"word": ["a\0", "\0", "a\0b", "a", " a"]})
    )
    assert counted(source.frequencies(Grid(column="word"))) == {"a": 2}
    assert source.histogram(Grid(column="word"), NO_STARTS).tolist() == [0, 5]


@pytest.mark.parametrize("engine", LEARNING)
@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int8])
def test_whole_numbers_that_an_engine_cannot_look_up_are_no_levels(engine, dtype):
    """Else what was learnt ended the run, when it was paid for."""
    given = {
        pl.Int64: [-(2**63), 2**63 - 1],
        pl.UInt64: [2**63, 2**64 - 1, 2**63 - 1],
        pl.Int8: [-128, 127],
    }[dtype]
    people = EngineFrame.from_native(
        ENGINES[engine](pl.DataFrame({"word": pl.Series([*given, 5, 5], dtype=dtype)}))
    )
    schema = OpenSchema.from_kinds({"word": "categorical"})
    table = EngineTable.from_frame(people, schema)
    found = counted(table.source.frequencies(Grid(column="word")))
    assert found == {str(number): 1 for number in given if abs(number) < 2**63} | {"5": 2}
    closed = schema.resolved({"word": schema.open_columns[0].resolved(levels=sorted(found))})
    (counts,) = table.counted(closed).counts_of([("word",)])
    assert sum(counts.tolist()) == len(given) + 2


@pytest.mark.parametrize("dtype", ["HUGEINT", "UHUGEINT"])
def test_whole_numbers_of_128_bits_are_learnt_from_as_far_as_they_can_be_levels(dtype):
    duckdb = pytest.importorskip("duckdb")
    ends = {"HUGEINT": [-(2**127), 2**127 - 1, -(2**63)], "UHUGEINT": [2**127, 2**128 - 1]}[dtype]
    numbers = ", ".join(
        f"('{number}'::{dtype})" for number in [*ends, 2**63, 2**63 + 1, 2**63 - 1, 7]
    )
    connection = duckdb.connect(config={"threads": 1})
    people = connection.sql(f"FROM (VALUES {numbers}) AS t(word)")
    source = EngineTable.from_frame(
        EngineFrame.from_native(people), OpenSchema.from_kinds({"word": "categorical"})
    ).source
    assert counted(source.frequencies(Grid(column="word"))) == {str(2**63 - 1): 1, "7": 1}


def test_moments_at_the_ends_of_what_nanoseconds_count_are_there():
    ends = [-(2**63) + 1, 2**63 - 1]
    people = pl.DataFrame({"day": pl.Series(ends, dtype=pl.Int64).cast(pl.Datetime("ns"))})
    expected = {end // 10**9: 1 for end in ends}
    sources = [people.lazy()]
    if "duckdb" in ENGINES:
        sources.append(ENGINES["duckdb"](people))  # both are infinite there
    for source in sources:
        table = EngineTable.from_frame(
            EngineFrame.from_native(source), OpenSchema.from_kinds({"day": "datetime"})
        )
        assert counted(table.source.frequencies(Grid(column="day"))) == expected


@pytest.mark.skipif("duckdb" not in ENGINES, reason="duckdb is not installed")
def test_values_of_a_column_are_kept_once_and_dropped_when_nobody_asks_any_more():
    people = ENGINES["duckdb"](PEOPLE)
    source = EngineTable.from_frame(
        EngineFrame.from_native(people), OpenSchema.from_kinds(KINDS)
    ).source

    def tables():
        return people.query(
            "p", "SELECT table_name FROM duckdb_tables() WHERE temporary"
        ).fetchall()

    for column in ("pay", "day", "pay"):
        source.histogram(Grid(column=column), np.array([0, 5]))
        source.frequencies(Grid(column=column))
    assert len(tables()) == 2
    del source
    assert tables() == []
