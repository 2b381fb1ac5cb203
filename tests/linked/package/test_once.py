"""Columns that are unique, or increase, within the parent: years of a panel."""

import numpy as np
import pandas as pd
import pytest
from helpers.seldom import often

import synthdp
from synthdp.core import SchemaError
from synthdp.linked import Package

N = 1500


def package(own, *, most=6, year=None):
    year = year or {
        "name": "year",
        "type": "year",
        "constraints": {"minimum": 2000, "maximum": 2009, "required": True},
    }
    kind = {"name": "kind", "type": "string", "constraints": {"enum": [*"abcd"], "required": True}}
    link = {"fields": "man", "reference": {"resource": "men", "fields": "id"}}
    years = {"fields": [{"name": "man"}, year, kind], "foreignKeys": [link]}
    return {
        "resources": [
            {"name": "men", "schema": {"fields": [{"name": "id"}], "primaryKey": "id"}},
            {"name": "years", "schema": years, "synthdp": {"max_children": most, **own}},
        ]
    }


def frames(*, gap=1):
    rng = np.random.default_rng(0)
    numbers = rng.integers(1, 5, N)
    man = np.repeat(np.arange(N), numbers)
    place = np.arange(len(man)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    year = 2000 + rng.integers(0, 6, N)[man] + gap * place
    kind = np.array([*"abcd"])[(man + place) % 4]
    return {
        "men": pd.DataFrame({"id": np.arange(N)}),
        "years": pd.DataFrame({"man": man, "year": year, "kind": kind}),
    }


def drawn(own, *, gap=1, **settings):
    release = synthdp.synthesize(
        frames(gap=gap), package(own, **settings), epsilon=1, delta=1e-6, mechanism="independent"
    )
    return release.sample(seed=0)["years"]


def steps(years):
    return years.groupby("man")["year"].diff().dropna()


@pytest.mark.parametrize(
    ("key", "gap"),
    often(("increasing", 1), ("unique", 0), seldom=[("increasing", 0), ("unique", 1)]),
)
def test_years_of_a_panel_increase_whatever_the_records_do(key, gap):
    years = drawn({"order": "year", key: ["year"]}, gap=gap)
    assert steps(years).min() >= 1
    assert years.groupby("man").size().max() > 1


def test_without_it_they_tie():
    assert steps(drawn({"order": "year"})).min() == 0


def test_a_column_may_be_unique_where_rows_have_no_order():
    years = drawn({"unique": ["kind"]}, most=9)
    assert not years.duplicated(["man", "kind"]).any()
    assert years.groupby("man").size().max() <= 4, "there are four kinds"


def test_both_may_be_so_together():
    years = drawn({"order": "year", "increasing": ["year"], "unique": ["kind"]})
    assert steps(years).min() >= 1
    assert not years.duplicated(["man", "kind"]).any()


WIDE = {"minimum": 2000, "maximum": 2009, "required": True}


@pytest.mark.parametrize(
    ("own", "year", "problem"),
    [
        ({"increasing": ["year"]}, {}, "by which rows are not ordered; name it in synthdp.order"),
        ({"unique": ["age"]}, {}, "synthdp.unique names 'age', which is no column besides keys"),
        ({"unique": "year"}, {}, "a list of columns"),
        ({"unique": ["year"]}, {"synthdp": {"bins": 5}}, "give each its own bin"),
        ({"unique": ["year"]}, {"constraints": {**WIDE, "maximum": 2090}, "synthdp": {"bins": 91}}, "64"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_a_line(own, year, problem):
    field = {"name": "year", "type": "integer", "constraints": WIDE, **year}
    with pytest.raises(SchemaError, match=problem) as refused:
        Package.from_dict(package(own, year=field))
    assert "\n" not in str(refused.value)
