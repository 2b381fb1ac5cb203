"""The public sample: made again byte for byte, within its schema, and with everything planted that
README names.
"""

import datetime
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from helpers.paths import DATA

SCHEMA = json.loads((DATA / "census.schema.json").read_text(encoding="utf-8"))
FIELDS = {field["name"]: field for field in SCHEMA["fields"]}
CENSUS_DAY = datetime.date(2021, 3, 15)


@pytest.fixture(scope="module")
def text():
    """The census as it stands in the file: all text, missing is empty."""
    return pd.read_csv(DATA / "census.csv", dtype=str, keep_default_na=False)


@pytest.fixture(scope="module")
def census(text):
    """The census with numbers as numbers, missing ones NaN, and dates as dates."""
    numbers = {
        name: pd.to_numeric(text[name]) for name in ["household_size", "age", "hours", "income"]
    }
    return text.assign(**numbers, moved=pd.to_datetime(text["moved"], format="%Y-%m-%d"))


def share(condition, among=slice(None)):
    return condition[among].mean()


def works(census):
    return census["status"].isin(["employed", "self-employed"])


# --- the files


def test_made_again_byte_for_byte(tmp_path):
    subprocess.run([sys.executable, DATA / "make_sample.py", tmp_path], check=True)
    for name in ["census.csv", "census.schema.json"]:
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes(), (
            f"run {DATA / 'make_sample.py'}"
        )


def test_shape_and_size(text):
    assert text.shape == (30_000, 14)
    assert list(text.columns) == list(FIELDS)
    assert (DATA / "census.csv").stat().st_size < 3_000_000
    assert b"\r" not in (DATA / "census.csv").read_bytes()


def test_pandas_defaults_lose_only_the_leading_zeros(text):
    read = pd.read_csv(DATA / "census.csv", dtype={"district": str})
    assert read.isna().equals(text == "")


def test_readme_names_every_column_and_says_made_up():
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in readme for name in FIELDS)
    assert "does not exist" in readme
    assert "CC0" in readme


# --- the schema


@pytest.mark.parametrize("name", FIELDS)
def test_every_value_fits_the_schema(text, name):
    field, values = FIELDS[name], text[name]
    limits = field["constraints"]
    present = values[values != ""]
    assert not (limits["required"] and len(present) < len(values))
    if field["type"] == "string":
        assert set(present) <= set(limits["enum"])
    elif field["type"] == "boolean":
        assert set(present) == {*field["trueValues"], *field["falseValues"]}
    elif field["type"] == "date":
        assert present.map(datetime.date.fromisoformat).between(*dates(limits)).all()
    else:
        pattern = (
            r"\d+" if field["type"] == "integer" else rf"\d+\.\d{{{field['synthdp']['decimals']}}}"
        )
        assert present.str.fullmatch(pattern).all()
        assert present.astype(float).between(limits["minimum"], limits["maximum"]).all()


def dates(limits):
    return datetime.date.fromisoformat(limits["minimum"]), datetime.date.fromisoformat(
        limits["maximum"]
    )


@pytest.mark.parametrize("name", FIELDS)
def test_schema_agrees_with_itself(name):
    field, limits, ours = FIELDS[name], FIELDS[name]["constraints"], FIELDS[name].get("synthdp", {})
    assert field["title"]
    assert field["description"]
    if "edges" in ours:
        assert ours["edges"][0] == limits["minimum"]
        assert ours["edges"][-1] == limits["maximum"]
        assert (np.diff(ours["edges"]) > 0).all()
    if "enum" in limits:
        assert len(limits["enum"]) == len(set(limits["enum"]))
        assert ours.get("other", limits["enum"][0]) in limits["enum"]
        assert "other" in ours or not limits["required"], "an unlisted value has nowhere to go"


# --- always true


@pytest.mark.parametrize(
    ("code", "decides"), [("town", "district"), ("town", "region"), ("district", "region")]
)
def test_place_codes_decide(text, code, decides):
    assert (text.groupby(code)[decides].nunique() == 1).all()


def test_town_holds_its_district(text):
    assert (
        text["town"].str.fullmatch(r"K-\d{4}") & (text["town"].str[2:4] == text["district"])
    ).all()
    assert 150 <= text["town"].nunique() <= 400


def test_children(census):
    child = census["age"] < 15
    assert (child == (census["status"] == "child")).all()
    rows = census[child]
    assert (rows["occupation"] == "").all()
    assert (rows["hours"] == 0).all()
    assert (rows["income"] == 0).all()
    assert (rows["household_size"] > 1).all()


def test_ages_that_the_law_sets(census):
    age = census["age"]
    assert (age[census["marital"] != "never married"] >= 18).all()
    assert (age[census["status"] == "retired"] >= 55).all()
    first = {"primary": 10, "bachelor": 21, "master": 23, "doctorate": 25}
    for level, years in first.items():
        assert (age[census["education"] == level] >= years).all(), level
    assert set(census["education"][age < 10]) == {"below primary"}


def test_only_workers_have_work(census):
    rest = census[~works(census)]
    assert (rest["occupation"] == "").all()
    assert (rest["hours"] == 0).all()
    assert (rest["income"] == 0).all()
    workers = census[works(census)]
    assert (workers[["hours", "income"]].fillna(1) > 0).all(axis=None)


def test_professions_need_their_degree(census):
    learned = census["occupation"].isin(["physician", "university teacher"])
    assert learned.sum() > 100
    assert set(census["education"][learned]) <= {"master", "doctorate", ""}


def test_nobody_moved_before_birth(census):
    moved = census["moved"].dropna()
    years_ago = CENSUS_DAY.year - moved.dt.year
    assert (years_ago <= census["age"][moved.index]).all()


# --- true on the whole


def test_age_pyramid(census):
    ages = census["age"].value_counts()
    assert ages.loc[range(55, 60)].sum() > 1.4 * ages.loc[range(5)].sum()
    assert share(census["sex"] == "F", census["age"] >= 85) > 0.6
    assert abs(share(census["sex"] == "F", census["age"] < 15) - 0.49) < 0.03


def test_regions_differ(census):
    old, abroad = census["age"] >= 65, census["born_abroad"] == "yes"
    degree = census["education"].isin(["bachelor", "master", "doctorate"])
    capital, country = census["region"] == "Ambermoor", census["region"] == "Dunhollow"
    assert share(old, country) > 1.5 * share(old, capital)
    assert share(abroad, capital) > 3 * share(abroad, country)
    assert share(degree, capital) > 2 * share(degree, country)


@pytest.mark.parametrize(
    ("occupation", "region"),
    [
        ("miner", "Cinderfell"),
        ("fisher", "Brackwater"),
        ("farmer", "Fenwold"),
        ("programmer", "Ambermoor"),
    ],
)
def test_work_has_its_place(census, occupation, region):
    does, here = census["occupation"] == occupation, census["region"] == region
    assert share(does, here) > 2 * share(does, ~here)


@pytest.mark.parametrize(
    ("occupation", "sex"),
    [("nurse", "F"), ("nursery teacher", "F"), ("bricklayer", "M"), ("electrician", "M")],
)
def test_work_has_its_sex(census, occupation, sex):
    assert share(census["sex"] == sex, census["occupation"] == occupation) > 0.8


def test_marital_state_follows_age_and_sex(census):
    widowed = census["marital"] == "widowed"
    assert census["age"][widowed].median() > 70
    assert (widowed & (census["sex"] == "F")).sum() > 3 * (widowed & (census["sex"] == "M")).sum()
    assert share(census["marital"] == "married", census["age"].between(40, 60)) > 0.6


def test_who_lives_alone(census):
    alone, married = census["household_size"] == 1, census["marital"] == "married"
    assert share(alone, married) < 0.03
    assert share(alone, (census["age"] >= 65) & ~married) > 0.6


def test_hours_heap(census):
    hours = census["hours"].value_counts()
    for heap in [0, 20, 35, 40]:
        assert hours[heap] > 4 * max(hours[max(heap - 1, 1)], hours[heap + 1]), heap
    part_time = census["hours"].between(1, 34)
    employed, own = census["status"] == "employed", census["status"] == "self-employed"
    assert share(part_time, employed & (census["sex"] == "F")) > 2 * share(
        part_time, employed & (census["sex"] == "M")
    )
    assert census["hours"][own].median() > census["hours"][employed].median()


def test_income_follows_what_it_should(census):
    rows = census[census["income"] > 0]
    by_education = rows.groupby("education")["income"].median()
    assert by_education[
        ["lower secondary", "upper secondary", "bachelor", "master"]
    ].is_monotonic_increasing
    by_occupation = rows.groupby("occupation")["income"].median()
    assert by_occupation["physician"] > 5 * by_occupation["cleaner"]
    by_sex = rows[rows["hours"] == 40].groupby("sex")["income"].median()
    assert by_sex["M"] > 1.05 * by_sex["F"]
    assert (
        rows["income"][rows["age"] > 40].median() > 1.3 * rows["income"][rows["age"] < 25].median()
    )
    assert rows["income"].corr(rows["hours"], method="pearson") > 0.25


def test_income_has_a_tail_and_heaps(census):
    income = census["income"][census["income"] > 0]
    assert income.quantile(0.999) > 10 * income.median()
    assert income.mean() > 1.25 * income.median()
    assert abs((income % 500 == 0).mean() - 0.25) < 0.02


def test_moves(census):
    moved = census["moved"]
    lately = moved >= pd.Timestamp("2019-01-01")
    assert share(lately, census["age"].between(18, 29)) > 5 * share(lately, census["age"] >= 65)
    assert 0.3 < (moved.dropna().dt.day == 1).mean() < 0.4
    assert (moved.dt.month == 8).sum() > 2 * (moved.dt.month == 1).sum()


def test_missing_values_hang_together(census):
    adult, none = census["age"] >= 15, census["education"] == ""
    assert share(none, adult & (census["born_abroad"] == "yes")) > 3 * share(
        none, adult & (census["born_abroad"] == "no")
    )
    no_hours, no_income = census["hours"].isna(), census["income"].isna()
    own, employed = census["status"] == "self-employed", census["status"] == "employed"
    assert share(no_hours, own) > 3 * share(no_hours, employed)
    assert share(no_income, no_hours) > 5 * share(no_income, works(census) & ~no_hours)
