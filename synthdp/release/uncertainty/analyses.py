"""Analyses of one table: estimates, and the variance that they have because rows are a sample of a
population.
"""

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from synthdp.core.measurement import FloatArray
from synthdp.release.uncertainty.combining import Analysed

_Z = 1.96
"""Half the width of the interval, in standard errors, that a quantile's variance is read from
[Woodruff 1952].
"""
_MAX_NEWTON, _NEWTON_TOLERANCE = 50, 1e-10
"""Logistic regression takes about six steps; where outcomes are certain it would never
end.
"""
_NOTHING = Analysed(np.array([np.nan]), np.array([np.nan]))


def numbers(values: pd.Series) -> FloatArray:
    """Numbers, truth values as 0 and 1, dates as days since 1970-01-01; nan where they are missing."""
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        values = (values - pd.Timestamp(0)) / pd.Timedelta(days=1)
    if values.dtype.kind in "biuf":
        return np.asarray(values.to_numpy(np.float64))
    return np.asarray(values.astype("Float64").to_numpy(np.float64, na_value=np.nan))


def mean(values: FloatArray) -> Analysed:
    """The mean of what is not missing."""
    present = values[~np.isnan(values)]
    if present.size < 2:
        return _NOTHING
    return Analysed(np.array([present.mean()]), np.array([present.var(ddof=1) / present.size]))


def quantile(values: FloatArray, share: float) -> Analysed:
    """A quantile of what is not missing; its variance from quantiles of an interval of shares
    around it.
    """
    present = np.sort(values[~np.isnan(values)])
    if present.size < 2:
        return _NOTHING
    # The number of values below a quantile is binomial: quantiles at shares some standard errors to
    # both sides tell how steep the distribution is, without estimating its density.
    reach = _Z * sqrt(share * (1.0 - share) / present.size)
    low, middle, high = np.quantile(
        present, np.clip([share - reach, share, share + reach], 0.0, 1.0)
    )
    return Analysed(np.array([middle]), np.array([((high - low) / (2.0 * _Z)) ** 2]))


def difference(values: FloatArray, groups: pd.Series, first: object, second: object) -> Analysed:
    """The mean of one group less that of another."""
    left = mean(values[is_level(groups, first)])
    right = mean(values[is_level(groups, second)])
    return Analysed(left.values - right.values, left.variances + right.variances)


def is_level(values: pd.Series, level: object) -> np.ndarray:
    """Which values are a level, compared as texts; a missing one is none."""
    return np.asarray(values.notna() & (values.astype(str) == str(level)))


class Design(NamedTuple):
    """Explanatory variables of a regression: names, and an array with a column for each."""

    names: tuple[str, ...]
    values: FloatArray


def design(frame: pd.DataFrame, levels: dict[str, Sequence[object]]) -> Design:
    """An intercept, numbers as they are, and for texts a variable for each level but the first.

    Parameters
    ----------
    frame
        The explanatory columns.
    levels
        The levels of each column of texts.
    """
    names = ["intercept"]
    columns = [np.ones(len(frame))]
    for name in frame:
        if name not in levels:
            names.append(str(name))
            columns.append(numbers(frame[name]))
            continue
        missing = frame[name].isna().to_numpy()
        # The first level is the one that others are compared with: with a variable of its own the
        # design would be singular.
        for level in levels[str(name)][1:]:
            names.append(f"{name}={level}")
            # A missing level is not "none of the levels": the row is left out, as software for
            # regressions does.
            columns.append(np.where(missing, np.nan, is_level(frame[name], level)))
    return Design(tuple(names), np.column_stack(columns))


def linear_regression(variables: FloatArray, outcome: FloatArray) -> Analysed:
    """Least squares; variances allow for unequal residuals [White 1980, with n / (n - p)]."""
    whole = ~(np.isnan(variables).any(axis=1) | np.isnan(outcome))
    x = variables[whole]
    y = outcome[whole]
    inverse = _inverse(x.T @ x)
    if inverse is None or len(y) <= x.shape[1]:
        return _unknown(x.shape[1])
    coefficients = inverse @ (x.T @ y)
    return _with_variances(coefficients, inverse, x * (y - x @ coefficients)[:, np.newaxis])


def logistic_regression(variables: FloatArray, outcome: FloatArray) -> Analysed:
    """Maximum likelihood by Newton's method; variances as those of `linear_regression`, nan if
    there is no maximum.
    """
    from scipy.special import expit

    whole = ~(np.isnan(variables).any(axis=1) | np.isnan(outcome))
    x = variables[whole]
    y = outcome[whole]
    coefficients = np.zeros(x.shape[1])
    for _ in range(_MAX_NEWTON):
        expected = expit(x @ coefficients)
        # The negative Hessian of the log-likelihood. It becomes singular if a predictor separates
        # the outcomes, where no maximum exists.
        inverse = _inverse((x * (expected * (1.0 - expected))[:, np.newaxis]).T @ x)
        if inverse is None or len(y) <= x.shape[1]:
            break
        step = inverse @ (x.T @ (y - expected))
        coefficients = coefficients + step
        if np.abs(step).max() <= _NEWTON_TOLERANCE * max(1.0, np.abs(coefficients).max()):
            return _with_variances(coefficients, inverse, x * (y - expected)[:, np.newaxis])
    return _unknown(x.shape[1])


def _with_variances(coefficients: FloatArray, inverse: FloatArray, scores: FloatArray) -> Analysed:
    rows, columns = scores.shape
    # The sandwich: right also where the model's variance is not.
    spread = inverse @ (scores.T @ scores) @ inverse * (rows / (rows - columns))
    return Analysed(coefficients, spread.diagonal().copy())


def _inverse(matrix: FloatArray) -> FloatArray | None:
    """The inverse of a positive definite matrix; None of one that is nearly singular."""
    if (
        not matrix.size
        or not np.isfinite(matrix).all()
        or np.linalg.cond(matrix) > 1.0 / np.finfo(float).eps
    ):
        return None
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _unknown(n_coefficients: int) -> Analysed:
    return Analysed(np.full(n_coefficients, np.nan), np.full(n_coefficients, np.nan))
