"""Column shapes and pair trends are those of SDMetrics, written down anew from its documentation with
pandas and scipy; benchmarks/metric_oracles.py asks the package itself.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from helpers.evaluations import SCHEMA, people
from helpers.homes import home
from scipy.stats import ks_2samp, pearsonr
from scipy.stats.contingency import association

from synthdp import evaluate
from synthdp.report import marks_of

similarity = home(marks_of)

NUMBERS = ("age", "pay", "born")
OTHER = {
    "fields": [
        {
            "name": "town",
            "type": "string",
            "constraints": {"enum": ["A", "B"]},
            "synthdp": {"other": "(else)"},
        },
        *SCHEMA["fields"][1:],
    ],
    "missingValues": [""],
}


def oracle(real, synthetic):
    """The scores of columns, and of the pairs whose columns depend on each other in the real table."""
    scores = {}
    for name in real:
        here, there = real[name].dropna(), synthetic[name].dropna()
        if name in NUMBERS:
            scores[(name,)] = 1 - ks_2samp(as_numbers(here), as_numbers(there)).statistic
        else:
            one, other = (Counter(values) for values in (here, there))
            gaps = (
                abs(one[value] / len(here) - other[value] / len(there)) for value in one | other
            )
            scores[(name,)] = 1 - sum(gaps) / 2
    for pair in combinations(real, 2):
        trend = of_numbers if set(pair) <= set(NUMBERS) else of_levels
        score = trend(real[list(pair)], synthetic[list(pair)])
        if score is not None:
            scores[pair] = score
    return scores


def as_numbers(values):
    if pd.api.types.is_datetime64_any_dtype(values):
        values = values.astype("datetime64[ns]").astype("int64")
    return values.astype(float)


def of_numbers(real, synthetic):
    correlations = [
        pearsonr(*(as_numbers(table[name]) for name in table)).statistic
        for table in (real.dropna(), synthetic.dropna())
    ]
    return 1 - abs(correlations[0] - correlations[1]) / 2 if abs(correlations[0]) > 0.5 else None


def of_levels(real, synthetic):
    shares = []
    for table in (real, synthetic):
        cut = {name: binned(table[name]) if name in NUMBERS else table[name] for name in table}
        shares.append(pd.DataFrame(cut).groupby(list(table), dropna=False).size())
    if association(shares[0].unstack(fill_value=0).to_numpy(), method="cramer") <= 0.3:
        return None
    one, other = (each / each.sum() for each in shares)
    return 1 - one.sub(other, fill_value=0).abs().sum() / 2


def binned(values):
    edges = np.histogram_bin_edges(as_numbers(values.dropna()), bins=10)
    numbers = values.astype("datetime64[ns]") if values.name == "born" else values
    return np.digitize(as_numbers(numbers), edges)


@pytest.mark.parametrize("schema", [SCHEMA, OTHER], ids=["levels", "merged levels"])
def test_scores_and_marks_are_those_of_sdmetrics(schema):
    real, synthetic = people(900, 1), people(700, 2)
    synthetic["age"] += 4
    if schema is OTHER:  # rare values: the synthetic table has one level for all of them
        real.loc[real["town"] == "C", "town"] = [
            f"C{n % 7}" for n in range((real["town"] == "C").sum())
        ]
        synthetic.loc[synthetic["town"] == "C", "town"] = "(else)"
    found = evaluate(real, synthetic, schema, targets=[])
    expected = oracle(real, synthetic)
    scores = dict(zip(found.similarity["columns"], found.similarity["score"], strict=True))
    assert scores.keys() == expected.keys()
    assert {len(columns) for columns in scores} == {1, 2}
    assert set(found.similarity["metric"]) == {
        "KSComplement",
        "TVComplement",
        "CorrelationSimilarity",
        "ContingencySimilarity",
    }
    assert scores == pytest.approx(expected, abs=1e-9)
    shapes, trends = (
        np.mean([score for columns, score in expected.items() if len(columns) == k]) for k in (1, 2)
    )
    marks = found.summary.set_index("metric")["value"]
    assert marks["SDMetrics, column shapes"] == pytest.approx(shapes)
    assert marks["SDMetrics, column pair trends"] == pytest.approx(trends)
    assert marks["SDMetrics, overall"] == pytest.approx((shapes + trends) / 2)


def test_the_real_table_itself_has_full_marks():
    real = people(300)
    marks = marks_of(evaluate(real, real, SCHEMA, targets=[]).similarity)
    assert marks == pytest.approx(dict.fromkeys(marks, 1.0))


def test_what_does_not_count_has_no_score():
    """Columns that do not depend on each other, constants, and columns without any value."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame(
        {
            "a": rng.integers(0, 99, 400),
            "b": rng.integers(0, 99, 400),
            "c": 1,
            "d": ["x", "y"] * 200,
        }
    )
    synthetic = real.sample(300, random_state=0)
    found = evaluate(real, synthetic, targets=[])
    assert set(found.similarity["columns"]) == {("a",), ("b",), ("c",), ("d",)}
    marks = marks_of(found.similarity)
    assert np.isnan(marks["column pair trends"])
    assert marks["overall"] == marks["column shapes"]


def test_many_stray_values_count_as_precisely_as_few(monkeypatch):
    real, synthetic = people(500, 1), people(500, 2)
    for table in (real, synthetic):
        table["town"] = [f"{town}{n % 40}" for n, town in enumerate(table["town"])]
    few = evaluate(real, synthetic, OTHER, targets=[]).similarity
    monkeypatch.setattr(similarity, "MAX_STRAYS", 130)
    many = evaluate(real, synthetic, OTHER, targets=[]).similarity
    of_town = few["columns"].map(lambda columns: columns == ("town",))
    assert many.loc[of_town, "score"].item() == pytest.approx(few.loc[of_town, "score"].item())
