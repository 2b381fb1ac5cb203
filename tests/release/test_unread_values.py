"""Values that could not be read, through whole releases: said, drawn as the others are, and shown
beside the truth.
"""

import re

import numpy as np
import pandas as pd
import pytest
from helpers.families import package, random_tables

import synthdp
from synthdp.data import open_table, opened, rows_of
from synthdp.schema import OpenSchema, Schema

N_ROWS = 20_000
BUDGET = {"epsilon": 2.0, "delta": 1e-6}

STATUS = {
    "name": "status",
    "type": "string",
    "constraints": {"enum": ["dead", "alive"], "required": True},
}
HOUSE = {
    "name": "house",
    "type": "string",
    "constraints": {"enum": ["a", "b", "c"], "required": True},
}
AGE = {
    "name": "age",
    "type": "integer",
    "constraints": {"minimum": 0, "maximum": 99, "required": True},
    "synthdp": {"bins": 32},
}

pytestmark = pytest.mark.filterwarnings("ignore::synthdp.core.errors.CautionWarning")


def people(unmatched, seed=0):
    """Of 2 % of the rows somebody is dead, and "ALIVE" stands in some of the others; ages are even."""
    rng = np.random.default_rng(seed)
    dead = np.arange(N_ROWS) % 50 == 0
    status = np.where(dead, "dead", np.where(rng.random(N_ROWS) < unmatched, "ALIVE", "alive"))
    age = rng.integers(20, 80, N_ROWS).astype(str)
    return pd.DataFrame(
        {"status": status, "house": rng.choice(["a", "b", "c"], N_ROWS), "age": age}
    )


def release(frame, *fields, mechanism="mst", **more):
    return synthdp.synthesize(
        frame, {"fields": list(fields)}, mechanism=mechanism, **BUDGET, **more
    )


@pytest.mark.parametrize("mechanism", ["mst", "auto", "independent", "aim"])
@pytest.mark.parametrize("unmatched", [0.4, 0.04])
def test_unmatched_values_become_no_level_and_are_said(unmatched, mechanism):
    real = people(unmatched)
    found = release(real, STATUS, HOUSE, AGE, mechanism=mechanism)
    drawn = found.sample(N_ROWS, seed=0)
    read = real["status"] != "ALIVE"
    assert (drawn["status"] == "dead").mean() == pytest.approx(
        (real["status"] == "dead").sum() / read.sum(), abs=0.006
    )
    assert set(drawn["status"]) == {"dead", "alive"}
    (caution,) = found.cautions
    share = float(
        re.match(
            r"column 'status': about ([\d.]+) % of the records have no value, or one that", caution
        )[1]
    )
    assert share == pytest.approx(100 - 100 * read.mean(), abs=1)
    assert "constraints.enum" in caution
    assert found.certificate["unread"]["status"]["share"] == pytest.approx(
        1 - read.mean(), abs=0.005
    )
    assert found.schema.domain == Schema.from_dict({"fields": [STATUS, HOUSE, AGE]}).domain


def test_ages_that_read_unknown_make_nobody_young():
    real = people(0.0)
    real["age"] = real["age"].mask(np.arange(N_ROWS) % 10 < 3, "unknown")
    found = release(real, STATUS, HOUSE, AGE)
    drawn = found.sample(seed=0)
    assert (drawn["age"] < 15).mean() < 0.01
    assert drawn["age"].mean() == pytest.approx(49.5, abs=2)
    (caution,) = found.cautions
    assert caution.startswith(
        "column 'age': about 30 % of the records have no value, or one that is no number"
    )


def test_evaluation_shows_what_was_not_read_and_says_so_first():
    real = people(0.4)
    schema = {"fields": [STATUS, HOUSE, AGE]}
    found = synthdp.evaluate(
        real, release(real, STATUS, HOUSE, AGE).sample(seed=0), schema, targets=[]
    )
    share = (real["status"] == "ALIVE").mean()
    assert found.facts["unread"] == {"status": share}
    assert found.to_dict()["unread"] == {"status": share}
    said = f"NOT READ: of the real rows {100 * share:.0f} % in 'status' have a value"
    assert said in found.summary_text.split("\n\n")[1]
    assert "NOT READ: of the real rows" in found._repr_html_()
    worst = found.marginals[found.marginals["k"] == 1].iloc[0]
    assert worst["columns"] == ("status",)
    assert worst["tvd"] == pytest.approx(share, abs=0.01)
    levels = found.distributions[found.distributions["column"] == "status"]
    assert levels["level"].tolist() == ["dead", "alive", "(not read)"]
    clean = synthdp.evaluate(people(0.0), people(0.0, seed=1), schema, targets=[])
    assert clean.facts["unread"] == {}
    assert "NOT READ" not in clean.summary_text
    assert clean.tables[""].domain == Schema.from_dict(schema).domain


def test_missing_values_alone_are_no_surprise():
    """A caution for each column with 30 % of missing values would be a false alarm."""
    real = people(0.0).assign(age=lambda frame: frame["age"].mask(np.arange(N_ROWS) % 10 < 3, ""))
    nullable = AGE | {"constraints": {"minimum": 0, "maximum": 99}}
    found = release(real, STATUS, HOUSE, nullable)
    assert found.cautions == ()
    assert found.sample(seed=0)["age"].isna().mean() == pytest.approx(0.3, abs=0.02)


def test_missing_and_unread_values_are_told_apart():
    real = people(0.0)
    real["age"] = (
        real["age"].mask(np.arange(N_ROWS) % 10 < 2, "").mask(np.arange(N_ROWS) % 10 == 3, "n.k.")
    )
    found = release(real, STATUS, HOUSE, AGE | {"constraints": {"minimum": 0, "maximum": 99}})
    (caution,) = found.cautions
    assert caution.startswith(
        "column 'age': about 10 % of the records have a value that is no number"
    )
    assert "required" not in caution
    assert found.sample(seed=0)["age"].isna().mean() == pytest.approx(2 / 9, abs=0.02)


def test_a_column_of_which_nothing_was_read_is_spread_evenly():
    real = people(0.0).assign(status="?")[["status", "house"]]
    found = release(real, STATUS, HOUSE, anyway=True)
    assert found.cautions[0].startswith("column 'status': about 100 % of the records")
    assert (found.sample(seed=0)["status"] == "dead").mean() == pytest.approx(0.5, abs=0.1)


def test_rules_hold_in_rows_whose_values_were_not_read():
    real = people(0.4)
    real["age"] = real["age"].mask(np.arange(N_ROWS) % 10 < 3, "unknown")
    schema = {
        "fields": [STATUS, HOUSE, AGE],
        "synthdp": {"constraints": [{"forbid": {"status": ["dead"], "age": {"maximum": 49}}}]},
    }
    real = real[(real["status"] != "dead") | (pd.to_numeric(real["age"], errors="coerce") > 49)]
    found = synthdp.synthesize(real, schema, mechanism="mst", **BUDGET)
    drawn = found.sample(seed=0)
    assert ((drawn["status"] == "dead") & (drawn["age"] <= 49)).sum() == 0
    assert (drawn["status"] == "dead").any()


def test_dates_follow_with_their_parts():
    days = pd.date_range("2020-01-01", "2020-12-31").strftime("%Y-%m-%d")
    mondays = [day for day in days if pd.Timestamp(day).weekday() == 0]
    rows = np.array(mondays * 200)
    rows[::4] = "13/2020"
    born = {
        "name": "born",
        "type": "date",
        "constraints": {"minimum": "2020-01-01", "maximum": "2020-12-31", "required": True},
        "synthdp": {"bins": 12, "parts": ["weekday"]},
    }
    found = release(pd.DataFrame({"born": rows}), born)
    (caution,) = found.cautions
    assert caution.startswith(
        "column 'born': about 25 % of the records have no value, or one that is no date"
    )
    drawn = found.sample(seed=0)["born"]
    assert drawn.map(lambda day: day.weekday() == 0).mean() > 0.95
    assert drawn.map(lambda day: day.month == 1).mean() == pytest.approx(1 / 12, abs=0.03)


def test_learnt_columns_have_a_place_as_well():
    """Whether values may be missing is learnt: here none is, so that what is not read stays apart."""
    real = people(0.0)
    real["age"] = real["age"].mask(np.arange(N_ROWS) % 20 == 0, "unknown")
    kinds = OpenSchema.from_kinds({"house": "categorical", "age": "integer"})
    found = synthdp.synthesize(real[["house", "age"]], kinds, mechanism="mst", **BUDGET)
    assert any(
        caution.startswith("column 'age': about ") and "no number" in caution
        for caution in found.cautions
    )
    assert found.certificate["unread"]["age"]["share"] == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("kind", ["CSV", "Parquet", "polars", "arrow", "lazy polars", "pandas"])
def test_every_way_of_reading_rows_finds_the_same_places(kind, tmp_path):
    frame = people(0.3)[:400].assign(
        age=lambda each: each["age"].mask(np.arange(400) % 5 == 0, "x")
    )
    frame = frame.astype(object)
    schema = OpenSchema.from_dict({"fields": [STATUS, HOUSE, AGE]})
    given = frame
    if kind == "CSV":
        frame.to_csv(tmp_path / "people.csv", index=False)
        given = open_table(tmp_path / "people.csv", schema.dialect)
    elif kind == "Parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(tmp_path / "people.parquet")
        given = open_table(tmp_path / "people.parquet", schema.dialect)
    elif kind == "polars":
        given = opened(pytest.importorskip("polars").from_pandas(frame.astype(str))).frame
    elif kind == "arrow":
        given = opened(
            pytest.importorskip("pyarrow").Table.from_pandas(frame, preserve_index=False)
        ).frame
    elif kind == "lazy polars":
        schema = OpenSchema.from_dict(
            {"fields": [STATUS, HOUSE]}
        )  # texts are no numbers in an engine
        given = opened(
            pytest.importorskip("polars").from_pandas(frame[["status", "house"]].astype(str))
        ).frame
    placed = schema.resolved({}).with_unread_places()
    if hasattr(given, "__enter__"):
        with given as table:
            rows = rows_of(table, schema)()
    else:
        rows = rows_of(given, schema)()
    for name, unread in (("status", (frame["status"] == "ALIVE").sum()), ("age", 80), ("house", 0)):
        if name in placed.names:
            (counts,) = rows.counted(placed).counts_of([(name,)])
            assert counts[-1] == unread


def test_a_run_that_was_rescued_says_the_same_as_the_run(tmp_path):
    journal = tmp_path / "run.journal"
    found = release(people(0.4), STATUS, HOUSE, AGE, journal=journal)
    rescued = synthdp.from_journal(journal)
    assert rescued.certificate["unread"] == found.certificate["unread"]
    assert rescued.cautions == found.cautions
    for one, other in zip(found.measurements, rescued.measurements, strict=True):
        assert one.clique == other.clique
        assert one.values.tolist() == other.values.tolist()
        assert one.stddev == other.stddev


def test_linked_tables_have_places_in_all_their_columns():
    tables = random_tables(2000)
    people = tables["people"]
    tables["people"] = people.assign(sex=people["sex"].mask(np.arange(len(people)) % 3 == 0, "f"))
    found = synthdp.synthesize(tables, package(), epsilon=50.0, delta=1e-6, mechanism="mst")
    assert any(
        "column 'people.sex': about 3" in caution for caution in found.certificate["cautions"]
    )
    drawn = found.sample(seed=0)
    assert set(drawn["people"]["sex"]) <= {"F", "M"}
    read = tables["people"]["sex"] != "f"
    share = (tables["people"]["sex"] == "F").sum() / read.sum()
    assert (drawn["people"]["sex"] == "F").mean() == pytest.approx(share, abs=0.05)
    told = synthdp.evaluate(tables, drawn, package())
    assert told.facts["unread"] == {"people.sex": pytest.approx(1 / 3, abs=0.01)}
    assert "NOT READ: of the real rows 3" in told.summary_text
    assert "% in 'people.sex' have a value" in told.summary_text


@pytest.mark.parametrize("mechanism", ["mst", "auto"])
def test_values_that_are_lost_where_another_column_says_so_are_not_lost_for_counts(mechanism):
    """Of u most are unread, and most of them are x: the read ones alone say 27 % for 50 %."""
    rng = np.random.default_rng(0)
    is_u = rng.random(8_000) < 0.5
    a = np.where(rng.random(8_000) < np.where(is_u, 0.9, 0.1), "x", "y").astype(object)
    a[rng.random(8_000) < np.where(is_u, 0.75, 0.05)] = "unread"
    table = pd.DataFrame({"a": a, "b": np.where(is_u, "u", "v")})
    levels = {"a": ["x", "y"], "b": ["u", "v"]}
    schema = {
        "fields": [
            {"name": name, "type": "string", "constraints": {"enum": enum, "required": True}}
            for name, enum in levels.items()
        ]
    }
    released = synthdp.synthesize(table, schema, epsilon=2.0, delta=1e-6, mechanism=mechanism)
    drawn = released.sample(8_000, seed=0)
    assert (drawn["a"] == "x").mean() == pytest.approx(0.5, abs=0.05)
    assert ((drawn["a"] == "x") & (drawn["b"] == "u")).mean() == pytest.approx(0.45, abs=0.05)
