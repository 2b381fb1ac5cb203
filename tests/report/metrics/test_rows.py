"""What is found of columns, groups, rules, matches and queries, against pandas."""

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import SCHEMA, people, read
from scipy.stats import ks_2samp, wasserstein_distance

from synthdp import Schema
from synthdp.core import ParameterError, SchemaError
from synthdp.report import (
    answered,
    broken_rules,
    compared_columns,
    distributions,
    exact_matches,
    group_errors,
    parse_queries,
)

REAL, OTHER = people(300), people(200, seed=1)


def test_distances_of_numbers_are_scipys_on_the_values_themselves():
    found = compared_columns(read(REAL), read(OTHER), read(REAL), {}).set_index("column")
    left, right = REAL["pay"].dropna(), OTHER["pay"].dropna()
    assert found.loc["pay", "ks"] == pytest.approx(ks_2samp(left, right).statistic)
    assert found.loc["pay", "wasserstein"] == pytest.approx(
        wasserstein_distance(left, right) / left.std(ddof=0)
    )
    assert found.loc["born", "ks"] > 0
    assert found.loc["pay", "ks_sampling"] == 0
    assert np.isnan(found.loc["town", "ks"])


def test_missing_values_unknown_and_uncovered_levels():
    other = OTHER.assign(town=np.where(np.arange(200) < 50, "Z", "A"))
    found = compared_columns(read(REAL), read(other), read(REAL), {}).set_index("column")
    assert found.loc["pay", "missing_real"] == pytest.approx(REAL["pay"].isna().mean())
    assert found.loc["town", "missing_real"] == pytest.approx(REAL["town"].isna().mean())
    assert found.loc["town", ["unknown_real", "unknown_synthetic"]].tolist() == [0, 50]
    assert found.loc["town", ["levels_real", "levels_synthetic", "levels_covered"]].tolist() == [
        4,
        2,
        0.25,
    ]  # A, and what was not read


def test_shares_of_levels():
    found = distributions(*(read(table).with_places(()) for table in (REAL, OTHER)))
    town = found[found["column"] == "town"].set_index("level")
    assert town.index.tolist() == ["A", "B", "C", "missing"]
    assert town.loc["B", "real"] == pytest.approx((REAL["town"] == "B").mean())
    assert town["synthetic"].sum() == pytest.approx(1)


def test_groups_are_compared_within_and_the_worst_comes_first():
    real, other = read(people(2000)), people(2000)
    hurt = other["town"] == "B"
    other.loc[hurt, "job"] = "x"
    found = group_errors(real, read(other), "town", np.random.default_rng(0))
    assert found["level"].iloc[0] == "B"
    assert found["tvd_1"].iloc[1:].max() == 0
    assert found["worst_column"].iloc[0] == "job"
    share = (people(2000)["job"][hurt] == "y").mean()
    assert found["worst_tvd"].iloc[0] == pytest.approx(share)
    assert found["rows_real"].iloc[0] == hurt.sum()


def test_rules_are_broken_by_values_and_levels():
    table = read(REAL)
    found = broken_rules(table, table).set_index("rule")
    assert found.loc["age <= pay", "broken_real"] == (REAL["age"] > REAL["pay"]).sum()
    forbidden = ((REAL["town"] == "C") & (REAL["job"] == "x")).sum()
    assert forbidden > 0
    assert found.iloc[0][["broken_real", "broken_synthetic"]].tolist() == [forbidden, forbidden]


def test_equations_hold_to_the_last_digits():
    fields = [
        {"name": name, "type": "number", "constraints": {"minimum": 0, "maximum": 9}}
        for name in "abc"
    ]
    schema = {"fields": fields, "synthdp": {"constraints": [{"check": "c = a + b"}]}}
    frame = pd.DataFrame({"a": [0.1, 0.1], "b": [0.2, 0.2], "c": [0.3, 0.31]})
    assert broken_rules(read(frame, schema), read(frame, schema))["broken_real"].tolist() == [1]


@pytest.mark.parametrize(
    ("check", "broken"), [("a < b", 2), ("a <= b", 1), ("a > b", 2), ("a = b", 2)]
)
def test_signs_mean_what_they_say_and_gaps_break_nothing(check, broken):
    fields = [
        {"name": name, "type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
        for name in "ab"
    ]
    table = read(
        pd.DataFrame({"a": [1, 2, 3, None], "b": [2, 2, 1, 5]}),
        {"fields": fields, "synthdp": {"constraints": [{"check": check}]}},
    )
    assert broken_rules(table, table)["broken_real"].tolist() == [broken]


def test_matches_are_rows_of_the_same_codes():
    sizes = dict.fromkeys("abcdefghijkl", 50)  # 50^12 cells do not fit into 64 bits
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 50, (40, 12))
    real = pd.DataFrame(np.concatenate([rows, rows[:5]]), columns=list(sizes))
    synthetic = pd.DataFrame(
        np.concatenate([rows[3:8], rng.integers(0, 50, (5, 12))]), columns=list(sizes)
    )
    found = exact_matches(read(real, sizes), read(synthetic, sizes)).set_index("real_row")
    assert found["rows"].to_dict() == {"any": 5, "unique": 3}
    assert found["expected_share"].to_dict() == pytest.approx(
        {"any": 1 - 35 / 45, "unique": 2 * 5 / 45}
    )


def test_expected_matches_are_those_of_a_new_sample():
    found = exact_matches(
        *(read(people(3000, seed).drop(columns=["born", "pay"]), SHORT) for seed in (0, 1))
    )
    for row in found.to_dict("records"):
        assert row["rows"] == pytest.approx(row["expected"], abs=6 * np.sqrt(row["expected"]))


SHORT = {
    "fields": [field for field in SCHEMA["fields"] if field["name"] not in ("born", "pay")],
    "missingValues": [""],
}


def test_queries_are_answered_by_values():
    queries = [
        {"where": {"town": ["A", None], "age": {"minimum": 33, "maximum": 47}}},
        {"columns": ["town"], "where": {"job": ["x"]}, "name": "towns of x"},
        {"where": {"born": {"maximum": "2001-06-15"}}},
        {"where": {"age": [40, 41]}},
    ]
    real, other = read(REAL), read(OTHER)
    found = answered(parse_queries(queries, real.schema), real, other).set_index("query")
    for frame, column in ((REAL, "real"), (OTHER, "synthetic")):
        town = (frame["town"] == "A") | frame["town"].isna()
        expected = [
            town & frame["age"].between(33, 47),
            frame["job"] == "x",
            frame["born"] <= "2001-06-15",
        ]
        expected.append(frame["age"].isin([40, 41]))
        texts = [query.text for query in parse_queries(queries, real.schema)]
        assert found.loc[texts, column].tolist() == pytest.approx([met.mean() for met in expected])
    shares = [
        frame[frame["job"] == "x"]["town"].value_counts(normalize=True, dropna=False)
        for frame in (REAL, OTHER)
    ]
    assert found.loc["towns of x", "error"] == pytest.approx(
        shares[0].sub(shares[1], fill_value=0).abs().sum() / 2
    )


@pytest.mark.parametrize(
    ("queries", "error", "says"),
    [
        ([], ParameterError, r"it is \[\]; give a list such as"),
        (
            [{"column": ["town"]}],
            ParameterError,
            "'\\[0\\].column' is not known; did you mean 'columns'",
        ),
        ([{"columns": "town"}], ParameterError, "columns is 'town'; give a list of columns"),
        ([{"columns": ["city"]}], SchemaError, "no column 'city'"),
        ([{"columns": ["town", "town"]}], ParameterError, "repeats"),
        ([{"where": {"town": ["Z"]}}], SchemaError, "no level 'Z'"),
        ([{"where": {"town": "A"}}], SchemaError, "neither a list"),
        ([{"where": {"age": {"minimum": "old"}}}], SchemaError, "no value"),
    ],
)
def test_queries_that_cannot_be_answered(queries, error, says):
    with pytest.raises(error, match=says):
        parse_queries(queries, Schema.from_dict(SCHEMA))
