"""The same table gives the same counts, to the last unit, wherever it lies."""

import itertools

import numpy as np
import polars as pl
import pytest
from helpers.engines import ENGINES, IN_PARTITIONS, LEARNING, ODD, SCHEMA, grouped, in_other
from helpers.values import counted

from synthdp.core import Grid, ParameterError, SchemaError
from synthdp.data import (
    WHITE_SPACE,
    EngineFrame,
    EngineTable,
    bounded,
    held_rows,
    open_table,
    opened,
    partitioned,
)
from synthdp.schema import OpenSchema

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:ibis", "ignore:fetch_arrow_table"
)

SCHEMA_OF_ALL = OpenSchema.from_dict(SCHEMA)


def engine_table(engine, frame, schema=SCHEMA_OF_ALL, **bounds):
    return EngineTable.from_frame(EngineFrame.from_native(ENGINES[engine](frame)), schema, **bounds)


def counts_by_clique(rows, schema=SCHEMA_OF_ALL, most=2):
    """Counts with missing and unread values apart: those of columns as they were declared are sums
    of these.
    """
    closed = schema.resolved({}).with_all_places()
    cliques = [
        clique for k in range(most + 1) for clique in itertools.combinations(closed.names, k)
    ]
    found = rows.counted(closed).counts_of(cliques)
    return {clique: counts.tolist() for clique, counts in zip(cliques, found, strict=True)}


@pytest.fixture(scope="module")
def expected():
    return counts_by_clique(held_rows(opened(ODD).frame, SCHEMA_OF_ALL))


@pytest.mark.parametrize("engine", ENGINES)
def test_all_marginals_of_one_and_two_columns_are_those_of_memory(engine, expected):
    assert counts_by_clique(engine_table(engine, ODD)) == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_required_columns_have_one_place_for_what_is_missing_or_unread(engine):
    fields = [
        field | {"constraints": field.get("constraints", {}) | {"required": True}}
        for field in SCHEMA["fields"]
    ]
    schema = OpenSchema.from_dict(SCHEMA | {"fields": fields})
    here = counts_by_clique(held_rows(opened(ODD).frame, schema), schema, most=1)
    assert counts_by_clique(engine_table(engine, ODD, schema), schema, most=1) == here
    placed = schema.resolved({}).with_unread_places()
    assert (
        sum(here[column.name,][-1] > 0 for column in placed.columns if column.has_unread_place) > 5
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_counts_of_columns_as_they_were_declared_are_sums_of_those_with_places(engine):
    declared = SCHEMA_OF_ALL.resolved({})
    rows = engine_table(engine, ODD)
    found = rows.counted(declared).counts_of([(name,) for name in declared.names])
    apart = rows.counted(declared.with_unread_places()).counts_of(
        [(name,) for name in declared.names]
    )
    for column, counts, placed in zip(declared.columns, found, apart, strict=True):
        expected = placed[: column.size].copy()
        if len(placed) > column.size:
            expected[column.unread_code] += placed[-1]
        assert counts.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", IN_PARTITIONS)
def test_partitions_give_the_same_counts_as_memory(kind, expected):
    assert (
        counts_by_clique(held_rows(partitioned(IN_PARTITIONS[kind](ODD)), SCHEMA_OF_ALL))
        == expected
    )


def test_files_give_the_same_counts_as_memory(tmp_path, expected):
    ODD.write_parquet(tmp_path / "odd.parquet")
    with open_table(tmp_path / "odd.parquet", SCHEMA_OF_ALL.dialect) as table:
        assert counts_by_clique(held_rows(table, SCHEMA_OF_ALL)) == expected
    utc = ODD.with_columns(pl.col("zoned").dt.convert_time_zone("UTC").dt.to_string("iso"))
    utc.with_columns(pl.col("word", "said").fill_null("")).write_csv(tmp_path / "odd.csv")
    with open_table(tmp_path / "odd.csv", SCHEMA_OF_ALL.dialect) as table:
        of_csv = counts_by_clique(held_rows(table, SCHEMA_OF_ALL), most=1)
    differing = {clique for clique in of_csv if of_csv[clique] != expected[clique]}
    assert differing <= {
        ("number",),
        ("narrow",),
    }  # columns in which "" is no missing value but unreadable


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("place", [1, 5])
def test_a_row_more_changes_the_count_of_its_own_cell_only(engine, place):
    rest = ODD.filter(pl.int_range(ODD.height) != place)
    names = SCHEMA_OF_ALL.resolved({}).names
    with_it, without, alone = (
        next(
            iter(
                engine_table(engine, frame)
                .counted(SCHEMA_OF_ALL.resolved({}))
                .counts_of([names[:4]])
            )
        )
        for frame in (ODD, rest, ODD[place])
    )
    assert (with_it == without + alone).all()
    assert alone.sum() == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_many_levels_and_unknown_values_are_found(engine):
    levels = [f"town {i}" for i in range(300)]
    schema = OpenSchema.from_dict(
        {"fields": [{"name": "town", "type": "string", "constraints": {"enum": levels}}]}
    )
    frame = pl.DataFrame(
        {"town": [*levels[::7], "nowhere", None, "town", "town 7 ", "TOWN 7", "zzz", ""]}
    )
    expected = counts_by_clique(held_rows(opened(frame).frame, schema), schema)
    assert counts_by_clique(engine_table(engine, frame, schema), schema) == expected


@pytest.mark.parametrize("engine", LEARNING)
def test_more_levels_than_an_expression_could_hold(engine):
    levels = [f"rue n° {i}'s" for i in range(9000)]
    schema = OpenSchema.from_dict(
        {
            "fields": [
                {"name": "street", "type": "string", "constraints": {"enum": levels}},
                {
                    "name": "number",
                    "type": "string",
                    "constraints": {"enum": [str(i) for i in range(7000)]},
                },
            ]
        }
    )
    streets = [*levels[::400], "rue n° 1's ", "rue n° 1", None, 'x"; DROP']
    frame = pl.DataFrame(
        {"street": streets, "number": [*range(6990, 6990 + len(streets) - 1), None]}
    )
    assert counts_by_clique(
        engine_table(engine, frame, schema), schema, most=1
    ) == counts_by_clique(held_rows(opened(frame).frame, schema), schema, most=1)


def both_counts(engine, frame, field):
    """What an engine counts of a table of one column, and what is counted of it in memory."""
    schema = OpenSchema.from_dict({"fields": [{"name": "x", **field}]})
    in_memory = held_rows(opened(frame).frame, schema)
    return (
        counts_by_clique(rows, schema) for rows in (engine_table(engine, frame, schema), in_memory)
    )


WORDS = ["-1", "1", "2.0", "300", "9007199254740993", str(2**63), str(2**64 - 1), "1e22", "x"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt8, pl.Int64, pl.UInt64])
def test_levels_that_the_type_of_a_column_cannot_hold(engine, dtype):
    words = WORDS if dtype != pl.UInt64 else WORDS[:5]
    held = (
        range(-(2**7), 2**7)
        if dtype == pl.Int8
        else range(2**8)
        if dtype == pl.UInt8
        else range(2**53 + 2)
    )
    frame = pl.DataFrame(
        {
            "x": pl.Series(
                [*(n for n in (-1, 0, 1, 2, 300, 2**53 + 1) if n in held), None], dtype=dtype
            )
        }
    )
    remote, here = both_counts(engine, frame, {"type": "string", "constraints": {"enum": words}})
    assert remote == here
    flags, expected = both_counts(
        engine, frame, {"type": "boolean", "missingValues": ["", "70000", "-1"]}
    )
    assert flags == expected


@pytest.mark.parametrize("engine", ENGINES)
def test_levels_of_more_than_63_bits_are_refused_where_a_column_could_hold_them(engine):
    frame = pl.DataFrame({"x": pl.Series([2**64 - 1], dtype=pl.UInt64)})
    with pytest.raises(SchemaError, match="63 bits"):
        next(
            both_counts(
                engine, frame, {"type": "string", "constraints": {"enum": [str(2**64 - 1), "x"]}}
            )
        )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("first", "last"),
    [("1600-01-01", "9999-12-31"), ("1960-01-01", "9999-12-31"), ("1600-01-01", "1999-12-31")],
)
def test_bounds_beyond_what_a_column_of_nanoseconds_can_say(engine, first, last):
    moments = [
        "1677-09-22",
        "1969-12-31T23:59:59.999999",
        "1970-01-01",
        "2100-06-05",
        "2262-04-11",
        "NaT",
    ]
    frame = pl.DataFrame({"x": np.array(moments, dtype="datetime64[ns]")})
    field = {
        "type": "date",
        "constraints": {"minimum": first, "maximum": last},
        "missingValues": ["", "1500-01-01"],
    }
    remote, here = both_counts(
        engine, frame, field | {"synthdp": {"bins": 20, "parts": ["weekday"]}}
    )
    assert remote == here


@pytest.mark.parametrize("engine", ENGINES)
def test_levels_are_known_as_they_are_declared_however_their_accents_are_encoded(engine):
    levels = ["\u212b", "\u2126m", "\u00e9a\u0301", "e\u0301\u00e0", "b"]
    frame = pl.DataFrame(
        {"x": [*levels, " \u212b", "\u00c5", "A\u030a", "\u03a9m", "\u00e9\u00e1", "a", None]}
    )
    remote, here = both_counts(engine, frame, {"type": "string", "constraints": {"enum": levels}})
    assert remote == here


@pytest.mark.parametrize("by", ["column", "default", "ibis"])
def test_a_collation_of_duckdb_takes_no_two_levels_or_persons_for_one(by):
    duckdb = pytest.importorskip("duckdb")
    words = ["a", "A", "\u00e9", "e", "E\u0301", "a ", None, "B"]
    schema = OpenSchema.from_dict(
        {"fields": [{"name": "word", "type": "string", "constraints": {"enum": words[:4]}}]}
    )
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(
        f"CREATE TABLE people (word VARCHAR {'COLLATE NOCASE.NOACCENT' if by != 'default' else ''})"
    )
    connection.executemany("INSERT INTO people VALUES (?)", [[word] for word in words])
    if by == "default":
        connection.execute("SET default_collation = 'NOCASE.NOACCENT'")
    assert connection.execute("SELECT count(*) FROM people WHERE word = 'A'").fetchall() >= [(2,)]
    in_memory = held_rows(opened(pl.DataFrame({"word": words})).frame, schema)
    people = connection.table("people")
    if by == "ibis":
        people = pytest.importorskip("ibis").duckdb.from_connection(connection).table("people")
    rows = EngineTable.from_frame(EngineFrame.from_native(people), schema)
    assert counts_by_clique(rows, schema) == counts_by_clique(in_memory, schema)
    persons = bounded(EngineFrame.from_native(people), "word", [], max_rows=1, missing_values=[])
    assert grouped(persons)["n_rows"].to_list() == [6]  # "a" and "a " are one, nobody has no id
    grid, kinds = Grid(column="word"), OpenSchema.from_kinds({"word": "categorical"})
    learnt = EngineTable.from_frame(EngineFrame.from_native(people), kinds).source.frequencies(grid)
    expected = held_rows(opened(pl.DataFrame({"word": words})).frame, kinds).source.frequencies(
        grid
    )
    assert counted(learnt) == counted(expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_values_to_learn_from_are_those_of_memory(engine):
    texts = {"word": "categorical"} if engine in LEARNING else {}
    kinds = texts | {
        "number": "number",
        "narrow": "number",
        "whole": "integer",
        "wide": "year",
        "price": "number",
    }
    kinds |= {"day": "date", "moment": "datetime", "flag": "boolean"} | (
        {"zoned": "datetime"} if texts else {}
    )
    schema = OpenSchema.from_kinds(kinds)
    frame = pl.concat([ODD.select(list(kinds)), ODD.select(list(kinds))[:3]])
    held, remote = (
        held_rows(opened(frame).frame, schema).source,
        engine_table(engine, frame, schema).source,
    )
    starts = np.array([-1, 0, 1, 18262], dtype=np.int64)
    for grid in (*(Grid(column=name) for name in kinds), Grid(column="number", of="decimals")):
        given = np.empty(0, dtype=np.int64) if grid.column == "word" else starts
        assert remote.histogram(grid, given).tolist() == held.histogram(grid, given).tolist()
        of_engine, of_memory = remote.frequencies(grid), held.frequencies(grid)
        assert counted(of_engine) == counted(of_memory)
        assert of_engine.missing() == of_memory.missing() > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_required_values_in_the_first_bin_that_could_be_are_not_taken_for_missing_ones(engine):
    field = {
        "name": "age",
        "type": "integer",
        "constraints": {"minimum": 0, "required": True},
        "synthdp": {"derive": ["bounds"]},
    }
    schema = OpenSchema.from_dict({"fields": [field]})
    people = pl.DataFrame({"age": [1, 2, 3, 40, None]})
    held, remote = (
        held_rows(opened(people).frame, schema).source,
        engine_table(engine, people, schema).source,
    )
    grid, starts = Grid(column="age"), np.array([0, 3])
    assert held.histogram(grid, starts).tolist() == [1, 0, 2, 2]
    assert remote.histogram(grid, starts).tolist() == [1, 0, 2, 2]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("required", [False, True])
def test_what_is_missing_and_what_is_unread_is_told_apart_as_in_memory(engine, required):
    """Of values that were declared missing as well, and of floats that are no whole numbers."""
    fields = {field["name"]: field for field in SCHEMA["fields"]}
    for name in ("number", "whole", "day", "moment", "price"):
        constraints = fields[name]["constraints"] | {"required": required}
        opening = {"constraints": constraints, "synthdp": {"derive": ["bins"]}}
        field = fields[name] | opening
        if name == "number":
            field["type"] = "integer"
            field["constraints"] = constraints | {"minimum": 0, "maximum": 10}
        schema = OpenSchema.from_dict({"fields": [field]})
        people = ODD.select(name)
        rows = (held_rows(opened(people).frame, schema), engine_table(engine, people, schema))
        grid, starts = Grid(column=name, of="reading"), np.array([0, 1, 2])
        here, there = (each.source.histogram(grid, starts).tolist() for each in rows)
        assert here == there
        assert here[0] > 0


@pytest.mark.parametrize("engine", ENGINES)
def test_cells_that_follow_each_other_begin_and_end_where_they_say(engine):
    people = pl.DataFrame({"age": [*range(10), None]})
    source = engine_table(engine, people, OpenSchema.from_kinds({"age": "integer"})).source
    grid = Grid(column="age")
    for first, stop in ((3, 6), (0, 10), (-5, 2), (9, 12)):
        cells = np.bincount(
            np.searchsorted(range(first, stop), range(10), side="right"), minlength=stop - first + 1
        )
        assert source.histogram(grid, np.arange(first, stop)).tolist() == [1, *cells.tolist()]
    with pytest.raises(ParameterError, match="its values have no decimals"):
        source.frequencies(Grid(column="age", of="decimals"))


@pytest.mark.parametrize("engine", LEARNING)
def test_missing_values_are_known_in_any_spelling(engine):
    field = {
        "name": "word",
        "type": "string",
        "missingValues": ["e\u0301", " n/a "],
        "synthdp": {"derive": True},
    }
    people = pl.DataFrame({"word": ["\u00e9", "e\u0301", "n/a", " n/a", "", None]})
    source = engine_table(engine, people, OpenSchema.from_dict({"fields": [field]})).source
    assert source.histogram(Grid(column="word"), np.empty(0, dtype=np.int64)).tolist() == [5, 1]
    assert counted(source.frequencies(Grid(column="word"))) == {"": 1}


@pytest.mark.skipif("other" not in ENGINES, reason="ibis is not installed")
def test_levels_of_texts_are_not_learnt_where_a_collation_may_take_two_for_one():
    people = EngineFrame.from_native(in_other(ODD[["word", "flag"]]))
    with pytest.raises(
        SchemaError, match="'word': an engine that may compare texts by a collation"
    ):
        EngineTable.from_frame(
            people, OpenSchema.from_kinds({"word": "categorical", "flag": "boolean"})
        )


@pytest.mark.skipif("other" not in ENGINES, reason="ibis is not installed")
def test_moments_of_a_time_zone_are_not_learnt_where_a_session_may_take_them_for_other_days():
    people = EngineFrame.from_native(in_other(ODD[["zoned", "day"]]))
    with pytest.raises(
        SchemaError, match="'zoned': an engine whose sessions have a time zone may take"
    ):
        EngineTable.from_frame(people, OpenSchema.from_kinds({"zoned": "datetime", "day": "date"}))


def test_no_value_of_duckdb_is_an_error():
    duckdb = pytest.importorskip("duckdb")
    bounds = {"minimum": "0001-01-01", "maximum": "9999-12-31"}
    fields = [
        {
            "name": "day",
            "type": "date",
            "constraints": bounds,
            "synthdp": {"bins": 2, "parts": ["weekday", "month"]},
        },
        {"name": "word", "type": "string", "constraints": {"enum": ["1", "2"]}},
    ]
    schema = OpenSchema.from_dict({"fields": fields})
    wide = 2**128 - 1  # more than a whole number with a sign holds
    rows = f"('infinity', '1'), ('-infinity', '{wide}'), (NULL, '{2**127}'), ('2021-01-03', '2')"
    connection = duckdb.connect()
    table = connection.sql(
        f"SELECT day::DATE AS day, word::UHUGEINT AS word FROM (VALUES {rows}) AS t(day, word)"
    )
    source = EngineTable.from_frame(EngineFrame.from_native(table), schema).counted(
        schema.resolved({})
    )
    weekdays, words = source.counts_of([("day:weekday",), ("word",)])
    assert weekdays.tolist() == [1, 0, 0, 0, 1, 0, 1, 1]  # 9999-12-31 is a Friday
    assert words.tolist() == [1, 1, 2]


@pytest.mark.skipif("ibis" not in ENGINES, reason="ibis is not installed")
def test_tables_in_memory_that_ibis_joins_with_others_in_duckdb():
    import ibis

    people = ENGINES["ibis"](pl.DataFrame({"key": [1, 2, 2]}))
    names = ibis.memtable({"key": [1, 2], "who": ["a", "b"]})
    schema = OpenSchema.from_dict(
        {"fields": [{"name": "who", "type": "string", "constraints": {"enum": ["a", "b"]}}]}
    )
    for table, expected in (
        (people.join(names, "key").select("who"), [1, 2, 0, 0]),
        (names.select("who"), [1, 1, 0, 0]),
    ):
        rows = EngineTable.from_frame(EngineFrame.from_native(table), schema)
        assert rows._frame.engine == "duckdb"
        assert counts_by_clique(rows, schema)["who",] == expected


def test_white_space_is_all_that_python_strips():
    assert set(WHITE_SPACE) == {chr(code) for code in range(0x110000) if chr(code).isspace()}


def test_texts_of_categories_are_read_as_texts():
    frame = pl.DataFrame({"word": pl.Series(["b", "a", "b "], dtype=pl.Categorical)})
    schema = OpenSchema.from_dict(
        {"fields": [{"name": "word", "type": "string", "constraints": {"enum": ["a", "b"]}}]}
    )
    table = EngineTable.from_frame(EngineFrame.from_native(frame.lazy()), schema)
    assert next(iter(table.counted(schema.resolved({})).counts_of([("word",)]))).tolist() == [
        1,
        2,
        0,
    ]
