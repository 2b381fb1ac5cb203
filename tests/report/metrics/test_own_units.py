"""Errors in the units of people: means, quantiles and distances of numbers, dates and times."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import wasserstein_distance

from synthdp import evaluate

SCHEMA = {
    "fields": [
        {"name": "pay", "type": "number", "constraints": {"minimum": 0, "maximum": 1000}},
        {
            "name": "came",
            "type": "date",
            "constraints": {"minimum": "2020-01-01", "maximum": "2023-12-31"},
        },
        {"name": "at", "type": "time", "constraints": {"minimum": "00:00", "maximum": "23:59"}},
        {"name": "ward", "type": "string", "constraints": {"enum": ["a", "b"]}},
        {"name": "none", "type": "integer", "constraints": {"minimum": 0, "maximum": 9}},
    ],
    "missingValues": [""],
}


def table(n_rows, seed, *, pay=0.0, days=0, minutes=0):
    rng = np.random.default_rng(seed)
    came = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows) + days, "D")
    at = pd.Timestamp("2021-01-01") + pd.to_timedelta(
        rng.integers(600, 700, n_rows) + minutes, "min"
    )
    return pd.DataFrame(
        {
            "pay": np.where(rng.random(n_rows) < 0.1, np.nan, rng.gamma(2, 50, n_rows) + pay),
            "came": came.strftime("%Y-%m-%d"),
            "at": at.strftime("%H:%M:%S"),
            "ward": rng.choice(["a", "b"], n_rows),
            "none": None,
        }
    )


def test_they_are_those_of_scipy_numpy_and_pandas_in_their_units():
    real, synthetic = table(500, 1), table(400, 2, pay=20, days=30, minutes=90)
    values = evaluate(real, synthetic, SCHEMA, targets=[]).values.set_index("column")
    assert set(values.index) == {"pay", "came", "at"}
    left, right = (each["pay"].dropna() for each in (real, synthetic))
    pay = values.loc["pay"]
    assert pay["moved"] == pytest.approx(wasserstein_distance(left, right))
    assert (pay["mean_real"], pay["mean_synthetic"]) == pytest.approx((left.mean(), right.mean()))
    quantiles = np.quantile(left, [0.05, 0.25, 0.5, 0.75, 0.95], method="inverted_cdf")
    names = ["p05_real", "p25_real", "median_real", "p75_real", "p95_real"]
    assert pay[names].tolist() == pytest.approx(quantiles)
    assert values["unit"].to_dict() == {"pay": "", "came": "days", "at": "minutes"}
    days = [pd.to_datetime(each["came"]) for each in (real, synthetic)]
    numbers = [(each - pd.Timestamp("2020-01-01")).dt.days for each in days]
    assert values.loc["came", "moved"] == pytest.approx(wasserstein_distance(*numbers))
    means = [each.mean().strftime("%Y-%m-%d") for each in days]
    assert values.loc["came", ["mean_real", "mean_synthetic"]].tolist() == means
    assert values.loc["at", "moved"] == pytest.approx(90, abs=6)
    assert values.loc["at", "median_real"].startswith("10:")
    assert (values["moved_sampling"] < values["moved"]).all()


def test_they_are_plain_json_and_on_the_page():
    pytest.importorskip("matplotlib")
    found = evaluate(table(200, 1), table(200, 2, days=30), SCHEMA, targets=[])
    (row,) = [row for row in found.to_dict()["values"] if row["column"] == "came"]
    assert isinstance(row["mean_real"], str)
    assert isinstance(row["moved"], float)
    text = found.to_html()
    assert "Dates in days, the worst column first." in text
    assert "; mean 2021-0" in text  # beside the picture of the column
