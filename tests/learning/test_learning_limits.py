"""One declared bound is a limit that learnt ranges keep to; labels of the rest are unlike all
levels.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from helpers.learning import decoded, learn, random

from synthdp.learning import column_budgets
from synthdp.schema import OpenSchema


def limited(kind, limits, values, **settings):
    return learn({"type": kind, "constraints": limits}, values, **settings)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 10.0])
@pytest.mark.parametrize(
    ("kind", "limits", "values"),
    [
        ("integer", {"minimum": 18}, random().integers(0, 90, 4000)),
        ("integer", {"maximum": 50}, random().integers(0, 90, 4000)),
        ("number", {"minimum": 0}, random().normal(0, 1, 4000).round(3)),
        ("number", {"minimum": 5e6}, random().integers(3_000_000, 9_000_000, 4000) / 4),
        ("number", {"maximum": 0.125}, random().random(4000).round(2)),
        ("year", {"minimum": 1960}, random().integers(1900, 2020, 4000)),
        (
            "date",
            {"maximum": "2020-12-31"},
            pd.Timestamp("2015-01-01") + pd.to_timedelta(range(4000), unit="D"),
        ),
    ],
)
def test_values_keep_to_the_limit_whatever_was_found(kind, limits, values, epsilon):
    column, codes, _ = limited(kind, limits, values, epsilon=epsilon)
    back = decoded(column, codes)
    ((key, limit),) = limits.items()
    limit = pd.Timestamp(limit) if kind == "date" else limit
    assert (back >= limit).all() if key == "minimum" else (back <= limit).all()


@pytest.mark.parametrize(("n_levels", "n_numbers"), [(1, 3), (1, 30), (9, 6), (5, 0)])
def test_levels_and_numbers_get_equal_parts_of_the_budget(n_levels, n_numbers):
    kinds = {f"l{i}": "categorical" for i in range(n_levels)}
    kinds |= {f"n{i}": "number" for i in range(n_numbers)}
    budgets = column_budgets(OpenSchema.from_kinds(kinds), rho=Fraction(1), delta=Fraction(1, 100))
    assert {budget.total for budget in budgets} == {Fraction(1, n_levels + n_numbers)}


def test_the_other_end_is_found():
    _, _, found = limited("integer", {"minimum": 0}, random().integers(20, 61, 4000))
    assert 0 <= found["edges"][0] <= 20
    assert 60 <= found["edges"][-1] <= 64


TEXTS = ["a", "b"] * 900


@pytest.mark.parametrize(
    ("levels", "label"),
    [
        ([], "other"),
        (["Other"], "(other)"),
        (["other"], "(other)"),
        (["OTHER", "(Other)"], "(other 2)"),
        (["Another"], "other"),
    ],
)
def test_the_label_of_the_rest_is_unlike_all_levels(levels, label):
    column, codes, _ = learn("categorical", [*TEXTS, *levels * 900, "rare"])
    assert column.other == label
    texts = column.decode_text(codes, np.random.default_rng(1)).tolist()
    assert texts[-1] == label  # the rare one
    assert {*TEXTS, *levels} <= set(texts)


def test_a_label_that_is_declared_stays():
    column, *_ = learn(
        {"type": "categorical", "synthdp": {"other": "Rest"}}, [*TEXTS, *["rest"] * 900]
    )
    assert column.other == "Rest"
