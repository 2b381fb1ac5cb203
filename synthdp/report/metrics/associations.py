"""How strongly columns go together: Cramer's V, correlation ratio and Spearman's rank correlation."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from synthdp.core.cliques import Clique
from synthdp.report.metrics.read_table import ReadTable

FloatArray = NDArray[np.float64]

CRAMERS_V, CORRELATION_RATIO, SPEARMAN = "Cramer's V", "correlation ratio", "Spearman"


def cramers_v(counts: NDArray[Any]) -> float:
    """Cramer's V of a table of counts, 0 (independent) to 1; rows and columns without counts are
    left out.

    NaN where one of the two columns is constant.

    >>> cramers_v(np.array([[5, 0], [0, 5]])), cramers_v(np.array([[1, 1], [2, 2]]))
    (1.0, 0.0)
    """
    # Levels without rows have nothing expected, and would be divided by 0.
    table = counts[counts.any(axis=1)][:, counts.any(axis=0)].astype(np.float64)
    if min(table.shape) < 2:
        return float("nan")
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    chi_squared = float((np.square(table - expected) / expected).sum())
    return float(np.sqrt(chi_squared / total / (min(table.shape) - 1)))


def correlation_ratio(codes: NDArray[np.integer[Any]], numbers: FloatArray) -> FloatArray:
    """Correlation ratio of levels and some columns of numbers: the root of the share of variance
    between levels.

    Parameters
    ----------
    codes
        Level of each row, shape ``(n_rows,)``.
    numbers
        Shape ``(n_rows, n_columns)``; NaN is left out.

    Returns
    -------
    numpy.ndarray
        Shape ``(n_columns,)``, 0 to 1; NaN where the numbers are constant.

    >>> correlation_ratio(np.array([0, 0, 1, 1]), np.array([[1.0], [1.0], [3.0], [3.0]])).tolist()
    [1.0]
    """
    present = ~np.isnan(numbers)
    n_rows = np.maximum(present.sum(axis=0), 1)
    # Centred first: sums of squares of large numbers would lose the variance to rounding.
    centred = np.where(present, numbers - np.nansum(numbers, axis=0) / n_rows, 0.0)
    levels = csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1))).T
    sums = levels @ centred
    sizes = levels @ present.astype(np.float64)
    between = np.divide(np.square(sums), sizes, out=np.zeros_like(sums), where=sizes > 0).sum(
        axis=0
    )
    total = np.square(centred).sum(axis=0)
    ratio = np.divide(between, total, out=np.full_like(total, np.nan), where=total > 0)
    return np.asarray(np.sqrt(np.clip(ratio, 0.0, 1.0)), dtype=np.float64)


def pairwise_correlations(numbers: FloatArray) -> FloatArray:
    """Correlations of columns over the rows in which both have a number; NaN where one is constant.

    Parameters
    ----------
    numbers
        Numbers or their ranks, shape ``(n_rows, n_columns)``, NaN where a value is missing.
    """
    present = ~np.isnan(numbers)
    here = present.astype(np.float64)
    centred = np.where(
        present, numbers - np.nanmean(np.where(present.any(axis=0), numbers, 0.0), axis=0), 0.0
    )
    n_rows = here.T @ here
    # Pairwise deletion by matrix products: every pair of columns has its own rows, means and
    # variances.
    sums = centred.T @ here  # of the one column where the other is there
    squares = np.square(centred).T @ here
    with np.errstate(invalid="ignore", divide="ignore"):
        covariance = centred.T @ centred - sums * sums.T / n_rows
        variance = squares - np.square(sums) / n_rows
        # Constant but for rounding: there is no correlation to speak of.
        variance[variance <= 1e-9 * squares] = np.nan
        return np.clip(covariance / np.sqrt(variance * variance.T), -1.0, 1.0)


def associations(
    table: ReadTable, pairs: Mapping[Clique, float]
) -> dict[Clique, tuple[str, float]]:
    """The kind and the strength of association of all pairs of columns, of those of levels as far
    as ``pairs`` has it.

    Parameters
    ----------
    table
        The rows.
    pairs
        Cramer's V of pairs.
    """
    categories = [name for name in table.domain.attributes if name not in table.numbers]
    of_levels = {
        pair: (CRAMERS_V, v) for pair, v in pairs.items() if not set(pair) & table.numbers.keys()
    }
    return of_levels | dict(_with_numbers(table, categories))


def _with_numbers(
    table: ReadTable, categories: list[str]
) -> Iterator[tuple[Clique, tuple[str, float]]]:
    names = list(table.numbers)
    if not names:
        return
    numbers = np.column_stack([table.numbers[name] for name in names])
    for category in categories:
        for name, ratio in zip(names, correlation_ratio(table[category], numbers), strict=True):
            yield (category, name), (CORRELATION_RATIO, float(ratio))
    correlations = pairwise_correlations(np.column_stack([table.ranks[name] for name in names]))
    for one, other in combinations(range(len(names)), 2):
        yield (names[one], names[other]), (SPEARMAN, float(correlations[one, other]))


def compared_associations(
    real: Mapping[Clique, tuple[str, float]],
    synthetic: Mapping[Clique, tuple[str, float]],
    sample: Mapping[Clique, tuple[str, float]],
) -> pd.DataFrame:
    """Associations side by side, the largest difference first; ``sampling`` is the difference of a
    random sample.
    """
    rows = []
    for pair, (kind, value) in real.items():
        other = synthetic[pair][1]
        sampled = sample.get(pair, (kind, float("nan")))[1]
        rows.append((*pair, kind, value, other, other - value, abs(sampled - value)))
    columns = ["one", "other", "kind", "real", "synthetic", "difference", "sampling"]
    frame = pd.DataFrame(rows, columns=columns)
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index(drop=True)
