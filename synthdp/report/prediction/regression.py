"""Regression coefficients: what an analysis of the synthetic table finds, against the real one
[KKORS06].
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.metrics.columns import fewer_rows
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.prediction.design import Design, affordable_rows, predictors
from synthdp.report.prediction.linear_fit import (
    LinearFit,
    independent_terms,
    least_squares,
    logistic,
)
from synthdp.report.prediction.targets import Target

COLUMNS = [
    "target", "model", "term", "real", "real_low", "real_high", "synthetic", "synthetic_low", "synthetic_high",
    "overlap",
]  # fmt: skip


def compared_coefficients(
    real: ReadTable, synthetic: ReadTable, target: Target, rng: np.random.Generator
) -> pd.DataFrame:
    """Coefficients of a main-effects model of one target in both tables, with 95 % intervals and
    their overlap.

    The model is logistic for a target of two classes and of least squares for numbers, which are in
    units of the real standard deviation, as numbers among the predictors are. Levels stand against
    the most frequent one. Terms that follow from others in the real table are left out. No rows for
    other targets.
    """
    if target.is_classes and len(target.classes) != 2:
        return pd.DataFrame(columns=COLUMNS)
    here = target.with_value(real)
    there = target.with_value(synthetic)
    # The same, for intervals get shorter with rows.
    n_rows = min(here.n_rows, there.n_rows, affordable_rows(real))
    here = fewer_rows(here, n_rows, rng)
    there = fewer_rows(there, n_rows, rng)
    design = Design.from_table(here, predictors(real, target.name))
    matrix = design.matrix(here)
    kept = independent_terms(matrix)
    outcomes = [target.values(table) for table in (here, there)]
    if not target.is_classes:
        mean = outcomes[0].mean()
        spread = outcomes[0].std() or 1.0
        outcomes = [(outcome - mean) / spread for outcome in outcomes]
    fit = logistic if target.is_classes else least_squares
    fits = [
        fit(each[:, kept], outcome.astype(np.float64))
        for each, outcome in zip((matrix, design.matrix(there)), outcomes, strict=True)
    ]
    return _side_by_side(
        target.name, fit.__name__.replace("_", " "), [design.terms[place] for place in kept], *fits
    )


def _side_by_side(
    target: str, model: str, terms: list[str], real: LinearFit, synthetic: LinearFit
) -> pd.DataFrame:
    (real_low, real_high), (low, high) = real.interval(), synthetic.interval()
    columns = [
        real.coefficients, real_low, real_high, synthetic.coefficients, low, high,
        interval_overlap((real_low, real_high), (low, high)),
    ]  # fmt: skip
    frame = pd.DataFrame(dict(zip(COLUMNS[3:], columns, strict=True)))
    frame.insert(0, "target", target)
    frame.insert(1, "model", model)
    frame.insert(2, "term", terms)
    # But the intercept.
    return frame.iloc[1:].sort_values("overlap", kind="stable", ignore_index=True)


def interval_overlap(
    one: tuple[NDArray[np.float64], NDArray[np.float64]],
    other: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Mean share of two intervals that lies in the other one, 0 (apart) to 1 (the same) [KKORS06].

    >>> interval_overlap(
    ...     (np.array([0.0]), np.array([2.0])), (np.array([1.0]), np.array([3.0]))
    ... ).tolist()
    [0.5]
    """
    shared = np.maximum(np.minimum(one[1], other[1]) - np.maximum(one[0], other[0]), 0.0)
    lengths = one[1] - one[0], other[1] - other[0]
    shares = [
        np.divide(shared, each, out=np.zeros_like(shared), where=each > 0) for each in lengths
    ]
    overlap: NDArray[np.float64] = 0.5 * (shares[0] + shares[1])
    return overlap
