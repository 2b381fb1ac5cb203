"""Numbers and dates in the units that people know them in: means, quantiles, and how far they move."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.metrics.distribution import wasserstein
from synthdp.report.metrics.read_table import ReadTable
from synthdp.schema.axes.axis import Axis

QUANTILES = {"p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}
STATISTICS = ("mean", *QUANTILES)
COLUMNS = ["column", "kind", "ks", "moved", "moved_sampling", "unit"]
COLUMNS += [f"{name}_{table}" for name in STATISTICS for table in ("real", "synthetic")]

_DAY, _MINUTE = 86_400.0, 60.0


def own_units(
    real: ReadTable, synthetic: ReadTable, sample: ReadTable, columns: pd.DataFrame
) -> pd.DataFrame:
    """One row for each column of numbers, dates or times that has values in both tables.

    ``moved`` is the Wasserstein distance: how far values have to move on average, in ``unit``.
    Means and quantiles are numbers, and of dates and times their texts.

    Parameters
    ----------
    real, synthetic, sample
        As `compared_columns` takes them.
    columns
        As it has them: their order, and KS.
    """
    rows: list[Mapping[str, object]] = []
    for name, kind, ks in zip(columns["column"], columns["kind"], columns["ks"], strict=True):
        axis = real.schema[name].axis
        # NaN: one of the tables has no value in this column.
        if axis is None or ks != ks:
            continue
        here, there, sampled = (table.numbers[name] for table in (real, synthetic, sample))
        scale, unit = _unit(axis)
        moved = wasserstein(here, there, (real.weights, synthetic.weights)) / scale
        by_chance = float("nan")
        if not np.isnan(sampled).all():
            by_chance = wasserstein(here, sampled, (real.weights, sample.weights)) / scale
        row: dict[str, object] = {
            "column": name,
            "kind": kind,
            "ks": ks,
            "moved": moved,
            "moved_sampling": by_chance,
            "unit": unit,
        }
        of_real = _statistics(axis, here, real.weights)
        of_synthetic = _statistics(axis, there, synthetic.weights)
        for statistic, one, other in zip(STATISTICS, of_real, of_synthetic, strict=True):
            row |= {f"{statistic}_real": one, f"{statistic}_synthetic": other}
        rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def _unit(axis: Axis) -> tuple[float, str]:
    """How many seconds the unit of a distance has, and its name; of numbers there is none."""
    if axis.resolution is None:
        return 1.0, ""
    return (_MINUTE, "minutes") if axis.noun == "time" else (_DAY, "days")


def _statistics(
    axis: Axis, numbers: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> list[Any]:
    present = np.flatnonzero(~np.isnan(numbers))
    own = np.ones(present.size) if weights is None else weights[present]
    order = np.argsort(numbers[present], kind="stable")
    ordered = numbers[present][order]
    sums = np.cumsum(own[order])
    # The inverse of the distribution function; the tolerance keeps sums of equal weights exact.
    wanted = np.array(list(QUANTILES.values())) * sums[-1] * (1 - 1e-12)
    places = np.minimum(np.searchsorted(sums, wanted, "left"), ordered.size - 1)
    quantiles = ordered[places]
    values = np.array([np.average(ordered, weights=own[order]), *quantiles])
    if axis.resolution is None:
        return [float(value) for value in values]
    # Dates are means of seconds; they are said to the precision that the column has.
    return axis.written_points(axis.grid_points(values, 0), 0)


def moved_means(values: pd.DataFrame) -> dict[str, str]:
    """By column its mean in the synthetic table and in the real one, in words, where they differ.

    >>> frame = pd.DataFrame({"column": ["age"], "mean_real": [40.3], "mean_synthetic": [38.25]})
    >>> moved_means(frame)
    {'age': '38.2 in place of 40.3'}
    """
    words = {}
    for row in values.to_dict("records"):
        real, synthetic = (value_text(row[f"mean_{table}"]) for table in ("real", "synthetic"))
        if real != synthetic:
            words[row["column"]] = f"{synthetic} in place of {real}"
    return words


def value_text(value: object) -> str:
    """A number to three digits, and all before the point; a date or time as it is.

    >>> value_text(189778.37), value_text(0.01234), value_text("2020-02-01")
    ('189,778', '0.0123', '2020-02-01')
    """
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"
