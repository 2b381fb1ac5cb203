"""Relative columns through the whole flow: from every source, declared and learnt, given, saved,
evaluated, analysed, in linked tables and in histories.
"""

import json

import numpy as np
import pandas as pd
import pytest
from helpers.cli_runs import invoke
from helpers.every_type import SOURCES, is_one_line

import synthdp
from synthdp.core import ParameterError, SchemaError
from synthdp.schema import OpenSchema, Schema

N_ROWS = 3000
SETTINGS = {"epsilon": 20.0, "delta": 1e-6, "mechanism": "independent"}
START = {
    "name": "start",
    "type": "date",
    "constraints": {"minimum": "2020-01-01", "maximum": "2021-12-31"},
}
END = {
    "name": "end",
    "type": "date",
    "synthdp": {"relative_to": "start", "minimum": 0, "maximum": 29},
}
FIELDS = {"fields": [END, START]}
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:fetch_arrow_table"),
    pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning"),
]


def stays(n_rows=N_ROWS):
    """Stays of some days, about 4, of which a tenth is not over, as texts."""
    rng = np.random.default_rng(0)
    start = np.datetime64("2020-01-01") + rng.integers(0, 730, n_rows).astype("timedelta64[D]")
    days = np.minimum(rng.geometric(0.2, n_rows) - 1, 29)
    end = pd.Series((start + days.astype("timedelta64[D]")).astype(str), dtype=object)
    end[rng.random(n_rows) < 0.1] = ""
    return pd.DataFrame({"end": end, "start": pd.Series(start.astype(str), dtype=object)})


def days_of(table):
    table = pd.DataFrame({name: pd.to_datetime(table[name]) for name in ("start", "end")})
    return (table["end"] - table["start"]).dt.days


@pytest.fixture(scope="module")
def released():
    return synthdp.synthesize(stays(), Schema.from_dict(FIELDS), **SETTINGS)


@pytest.mark.parametrize("source", SOURCES)
def test_stays_are_as_long_as_they_were_from_every_source_that_can_tell(source, tmp_path):
    if source == "CSV":
        stays().to_csv(tmp_path / "stays.csv", index=False)
        data = tmp_path / "stays.csv"
    else:
        data = SOURCES[source](stays(), tmp_path)
    true = days_of(stays())
    for schema in (
        Schema.from_dict(FIELDS),
        OpenSchema.from_kinds(
            {"start": "date", "end": {"type": "date", "synthdp": {"relative_to": "start"}}}
        ),
    ):
        if source == "DuckDB":
            with pytest.raises(
                SchemaError, match="cannot tell how far it is from another"
            ) as refused:
                synthdp.synthesize(data, schema, **SETTINGS)
            assert is_one_line(refused.value)
            continue
        drawn = synthdp.synthesize(data, schema, **SETTINGS).sample(N_ROWS, seed=1)
        frame = drawn if isinstance(drawn, pd.DataFrame) else drawn.to_pandas()
        assert list(frame.columns) == ["end", "start"]
        days = days_of(frame)
        # At epsilon 20 noise moves the mean by less than a hundredth; chance of rows by .09 (one in 1e9: .5).
        assert days.mean() == pytest.approx(true.mean(), abs=0.6)
        assert (days.dropna() >= 0).all()
        assert frame["end"].isna().mean() + (
            frame["end"].astype(str) == ""
        ).mean() == pytest.approx(0.1, abs=0.05)


def test_what_is_learnt_is_written_as_a_schema_that_reads_the_same(tmp_path):
    kinds = {"start": "date", "end": {"type": "date", "synthdp": {"relative_to": "start"}}}
    synthesis = synthdp.synthesize(stays(), kinds=kinds, **SETTINGS)
    schema = synthesis.schema.to_dict()
    assert schema["fields"][0]["synthdp"]["relative_to"] == "start"
    assert schema["fields"][0]["synthdp"]["minimum"] == 0
    assert Schema.from_dict(schema) == synthesis.schema
    synthesis.save(tmp_path / "a.synthdp")
    loaded = synthdp.load(tmp_path / "a.synthdp")
    assert loaded.sample(50, seed=3).equals(synthesis.sample(50, seed=3))


def test_dates_that_are_given_are_what_distances_are_from(released):
    given = pd.DataFrame({"start": ["2021-03-04", "2020-02-05"] * 20})
    drawn = released.sample(given=given, seed=1)
    assert drawn["start"].astype(str).str[:10].tolist() == given["start"].tolist()
    days = days_of(drawn).dropna()
    assert ((days >= 0) & (days <= 29)).all()
    with pytest.raises(ParameterError, match="'end' is drawn by its distance from another"):
        released.sample(given=pd.DataFrame({"end": ["2021-03-04"]}), seed=1)


def test_evaluation_compares_distances(released):
    drawn = released.sample(N_ROWS, seed=1)
    shuffled = drawn.assign(end=drawn["end"].sample(frac=1, random_state=0).to_numpy())
    errors = [
        synthdp.evaluate(stays(), table, released.schema).columns.set_index("column")["tvd"]
        for table in (drawn, shuffled)
    ]
    assert errors[0]["end"] < 0.1
    assert errors[1]["end"] > 0.5


def test_an_analysis_of_the_column_alone_has_the_other_one_to_tell_its_values_by():
    synthesis = synthdp.synthesize(
        stays(),
        Schema.from_dict(FIELDS),
        epsilon=20.0,
        delta=1e-6,
        mechanism="gaussian",
        workload="2-way",
    )
    replicates = synthesis.replicates(3, seed=1)

    def analysis(table):
        return (table["end"] < pd.Timestamp("2021-01-01")).mean(), 0.01

    found = replicates.combine(analysis, columns=["end"])
    true = (pd.to_datetime(stays()["end"]) < pd.Timestamp("2021-01-01")).mean()
    assert found["estimate"].iloc[0] == pytest.approx(true, abs=0.1)


def test_columns_of_linked_tables_are_relative_within_their_row():
    """Roots, rows below them, and rows that rules settle with the row above."""
    rng = np.random.default_rng(0)
    n_people = 800
    born = np.datetime64("1950-01-01") + rng.integers(0, 3650, n_people).astype("timedelta64[D]")
    people = pd.DataFrame({"id": np.arange(n_people).astype(str), "start": born.astype(str)})
    people["end"] = (born + 20).astype(str)
    counts = rng.integers(0, 3, n_people)
    visits = pd.DataFrame({"person": np.repeat(people["id"].to_numpy(), counts)})
    visits["start"] = (
        np.datetime64("2020-01-01") + rng.integers(0, 700, len(visits)).astype("timedelta64[D]")
    ).astype(str)
    visits["end"] = (pd.to_datetime(visits["start"]) + pd.Timedelta(days=3)).astype(str)
    required = {"constraints": {"required": True}}
    of_people = [
        START
        | {"constraints": {"minimum": "1950-01-01", "maximum": "1959-12-31", "required": True}},
        END | required,
    ]
    of_visits = [
        START | {"constraints": {**START["constraints"], "required": True}},
        END | required,
    ]
    for rules in ([], [{"check": "`visits.start` >= `people.start`"}]):
        package = {
            "synthdp": {"root": "people", "constraints": rules},
            "resources": [
                {
                    "name": "people",
                    "schema": {"fields": [{"name": "id"}, *of_people], "primaryKey": "id"},
                },
                {
                    "name": "visits",
                    "schema": {
                        "fields": [{"name": "person"}, *of_visits],
                        "foreignKeys": [
                            {
                                "fields": "person",
                                "reference": {"resource": "people", "fields": "id"},
                            }
                        ],
                    },
                    "synthdp": {"max_children": 3, "order": "start"},
                },
            ],
        }
        tables = {"people": people, "visits": visits}
        synthesis = synthdp.synthesize(tables, package, epsilon=50.0, delta=1e-6)
        drawn = synthesis.sample(seed=1)
        assert days_of(drawn["people"]).mean() == pytest.approx(20, abs=1)
        assert days_of(drawn["visits"]).mean() == pytest.approx(3, abs=1)
        assert "people.end" in str(synthdp.evaluate(tables, drawn, package).to_dict())
    wrong = package | {
        "synthdp": {"root": "people", "constraints": [{"check": "`visits.end` >= `people.start`"}]}
    }
    with pytest.raises(SchemaError, match="which is modelled by its distance from 'start'"):
        synthdp.synthesize(tables, wrong, epsilon=50.0, delta=1e-6)
    package["resources"][1]["synthdp"]["order"] = "end"
    with pytest.raises(SchemaError, match="modelled by its distance from another column; order by"):
        synthdp.synthesize(tables, package, epsilon=50.0, delta=1e-6)


def test_histories_keep_distances_within_their_rows():
    table = stays(6000).assign(person=[str(row // 2) for row in range(6000)])
    schema = {
        "fields": [
            {"name": "person", "type": "string"},
            {**START, "constraints": {**START["constraints"], "required": True}},
            END,
        ]
    }
    schema["fields"][0]["synthdp"] = {"derive": True}
    drawn = synthdp.synthesize(
        table, schema, epsilon=50.0, delta=1e-6, unit="person", max_rows_per_unit=2, order="start"
    ).sample(seed=1)
    assert days_of(drawn).mean() == pytest.approx(days_of(table).mean(), abs=0.8)


def test_schema_check_suggests_distances_and_says_how_columns_are_read(tmp_path):
    plain = {"fields": [{**START, "name": "end"}, START]}
    for content, said in (
        (plain, "two columns of dates"),
        (plain | {"synthdp": {"constraints": [{"check": "start <= end"}]}}, "a rule orders them"),
    ):
        (tmp_path / "schema.json").write_text(json.dumps(content))
        shown = " ".join(invoke("schema", "check", tmp_path / "schema.json").out.decode().split())
        assert said in shown
        assert '"relative_to": "' in shown
    (tmp_path / "schema.json").write_text(json.dumps(FIELDS))
    shown = " ".join(invoke("schema", "check", tmp_path / "schema.json").out.decode().split())
    assert "two columns of dates" not in shown
    assert "modelled as days after 'start'; missing where 'start' is" in shown


@pytest.mark.parametrize("words", ["of the table", "of the other column", "learnt"])
def test_a_distance_may_be_missing_where_the_other_value_may_be(words):
    """Words for missing say so of one column, and noise the contrary of the other: such a run failed
    after it had paid.
    """
    table = stays()
    table["start"] = table["start"].where(np.arange(N_ROWS) % 10 > 0, "")
    table["end"] = table["end"].where(table["end"] != "", table["start"])
    kinds = {"end": {"type": "date", "synthdp": {"relative_to": "start"}}, "start": "date"}
    if words == "of the table":
        kinds = {"synthdp": {"missingValues": ["", "-"]}} | kinds
    elif words == "of the other column":
        kinds["start"] = {"type": "date", "missingValues": ["", "-"]}
    schema = OpenSchema.from_kinds(kinds)
    learnt = {}
    for each in schema.open_columns:
        is_end = each.name == "end"
        bounds = (0, 29) if is_end else ("2020-01-01", "2021-12-31")
        found = {"minimum": bounds[0], "maximum": bounds[1], "bins": 3}
        if "missing" in each.open_parts:
            found["required"] = is_end
        learnt[each.name] = each.resolved(**found)
    assert learnt["end"].required
    assert not schema.resolved(learnt)["end"].required
    assert not schema.partly_closed({"end": learnt["end"]}).closed_columns[0].required
    release = synthdp.synthesize(table, schema, **SETTINGS)
    drawn = release.sample(seed=0)
    assert drawn.loc[drawn["start"].isna(), "end"].isna().all()
