"""Each column by itself: distances of values, what is missing, which levels are there."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.metrics.distribution import Weights, kolmogorov_smirnov, wasserstein
from synthdp.report.metrics.read_table import ReadTable
from synthdp.schema.columns.column import Column

MAX_LEVELS_SHOWN = 1_000
"""Most levels of a column whose shares are listed: the most frequent ones."""

MAX_NUMBERS = 200_000
"""Distances between distributions of numbers are taken of at most so many rows, drawn at random."""


def compared_columns(
    real: ReadTable,
    synthetic: ReadTable,
    sample: ReadTable,
    errors: Mapping[str, Mapping[str, float]],
) -> pd.DataFrame:
    """One row a column, the worst first.

    Parameters
    ----------
    real, synthetic
        The two tables, read by one schema.
    sample
        Rows drawn from the real ones at random.
    errors
        Of each column the total variation distance and its references, as `MarginalErrors` has
        them.
    """
    rows = []
    for column in real.schema.columns:
        own = errors.get(column.name, {})
        row: dict[str, object] = {
            "column": column.name,
            "kind": column.field()["type"],
            "n_levels": column.size,
            **{key: own.get(key, float("nan")) for key in ("tvd", "sampling", "noise")},
            **_distances(column.name, real, synthetic, ""),
            **_distances(column.name, real, sample, "_sampling"),
            "missing_real": real.missing_share(column),
            "missing_synthetic": synthetic.missing_share(column),
            "unknown_real": real.unknown.get(column.name, 0),
            "unknown_synthetic": synthetic.unknown.get(column.name, 0),
            **_levels(column.name, real, synthetic),
        }
        rows.append(row)
    return pd.DataFrame(rows).sort_values("tvd", ascending=False, kind="stable", ignore_index=True)


def _distances(name: str, real: ReadTable, other: ReadTable, ending: str) -> dict[str, float]:
    """Kolmogorov-Smirnov and Wasserstein distance, the latter in standard deviations of the real
    numbers; of values of several coordinates those of the one that is further off.
    """
    pairs = zip(_numbers_of(name, real), _numbers_of(name, other), strict=True)
    weights = real.weights, other.weights
    columns = [found for left, right in pairs if (found := _distances_of(left, right, weights))]
    # The worse coordinate: a mean would hide one that is wrong.
    worst = [float(np.max(each)) for each in zip(*columns, strict=True)] or [float("nan")] * 2
    return dict(zip((f"ks{ending}", f"wasserstein{ending}"), worst, strict=True))


def _numbers_of(name: str, table: ReadTable) -> Sequence[NDArray[np.float64]]:
    return [table.numbers[name]] if name in table.numbers else table.coordinates.get(name, ())


def _distances_of(
    real: NDArray[np.float64], other: NDArray[np.float64], weights: Weights
) -> tuple[float, float] | None:
    """Both distances of two columns of numbers; None if one of them has none."""
    for numbers, own in zip((real, other), weights, strict=True):
        if not (~np.isnan(numbers) & (True if own is None else own > 0)).any():
            return None
    distance = wasserstein(real, other, weights)
    spread = _spread(real, weights[0])
    # In standard deviations, so that columns can be compared; a constant column that stays so is
    # right.
    scaled = distance / spread if spread > 0 else 0.0 if distance == 0 else float("nan")
    return kolmogorov_smirnov(real, other, weights), scaled


def _spread(numbers: NDArray[np.float64], weights: NDArray[np.float64] | None) -> float:
    present = ~np.isnan(numbers)
    own = None if weights is None else weights[present]
    centred = numbers[present] - np.average(numbers[present], weights=own)
    return float(np.sqrt(np.average(np.square(centred), weights=own)))


def _levels(name: str, real: ReadTable, synthetic: ReadTable) -> dict[str, object]:
    """How many levels each table has, and which share of the real ones the synthetic table covers."""
    here = real.counts((name,)) > 0
    there = synthetic.counts((name,)) > 0
    return {
        "levels_real": int(here.sum()),
        "levels_synthetic": int(there.sum()),
        "levels_covered": float((here & there).sum() / here.sum()),
    }


def distributions(real: ReadTable, synthetic: ReadTable) -> pd.DataFrame:
    """The shares of each column's levels, in the order of their codes; what one-way pictures are
    drawn from.
    """
    parts = []
    for column in real.schema.columns:
        shares = [table.counts((column.name,)) / table.size for table in (real, synthetic)]
        frame = pd.DataFrame(
            {"column": column.name, "level": level_texts(column), "code": np.arange(column.size)}
        )
        frame["real"], frame["synthetic"] = shares
        if len(frame) > MAX_LEVELS_SHOWN:
            kept = (frame["real"] + frame["synthetic"]).nlargest(MAX_LEVELS_SHOWN).index
            frame = frame.loc[np.sort(kept)]
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


def level_texts(column: Column) -> list[str]:
    """What each code of a column stands for, as a text.

    >>> from synthdp.schema.columns.numeric import IntegerColumn
    >>> level_texts(IntegerColumn(name="age", minimum=0, maximum=99, bins=2))
    ['[0, 50)', '[50, 99]', 'missing']
    """
    return list(map(_label_text, column.labels))


def _label_text(label: object) -> str:
    if isinstance(label, pd.Interval):
        is_within_a_day = isinstance(label.left, pd.Timedelta)
        return str(label).replace(*("0 days ", "") if is_within_a_day else (" 00:00:00", ""))
    return "missing" if pd.isna(label) else str(label).replace(" 00:00:00", "")


def written_levels(column: Column) -> list[str]:
    """What each code of a column stands for, as the table writes it; bins by their first and last
    value.

    >>> from synthdp.schema.columns.boolean import BooleanColumn
    >>> written_levels(BooleanColumn(name="ill", true_values=("ja",), false_values=("nein",)))
    ['nein', 'ja', 'missing']
    """
    pairs = zip(column.labels, column.code_texts, strict=True)
    return [
        _label_text(label) if pd.api.types.is_scalar(label) and pd.isna(label) else str(text)
        for label, text in pairs
    ]


def bin_edges(column: Column) -> NDArray[np.float64] | None:
    """Where the bins of a column of numbers, dates or times begin, and where the last one ends, as
    numbers or seconds; None of a column of levels.

    >>> from synthdp.schema.columns.numeric import IntegerColumn
    >>> bin_edges(IntegerColumn(name="age", minimum=0, maximum=99, edges=(0, 18, 65, 99))).tolist()
    [0.0, 18.0, 65.0, 100.0]
    """
    if (axis := column.axis) is None:
        return None
    first, end = axis.drawn_starts[[0, -1]].tolist()
    ends = axis.at(np.array([first, max(end - 2, first), end - 1])).astype(np.float64)
    # The last bin ends one step after the last value: 99 lies in it as 0 lies in the first.
    last = ends[2] + (ends[2] - ends[1] or 1.0)
    return np.concatenate([ends[:1], axis.inner_edges, [last]])


def sampled_rows(table: ReadTable, n_rows: int, rng: np.random.Generator) -> ReadTable:
    """Rows drawn at random with replacement: what another sample of the same people could look
    like.
    """
    if table.weights is None:
        return table.take(rng.integers(table.n_rows, size=n_rows))
    shares = table.weights / table.size
    return replace(table.take(rng.choice(table.n_rows, n_rows, p=shares)), weights=None)


def fewer_rows(table: ReadTable, most: int, rng: np.random.Generator) -> ReadTable:
    """The table, or so many of its rows drawn at random without replacement."""
    if table.n_rows <= most:
        return table
    return table.take(np.sort(rng.choice(table.n_rows, most, replace=False)))
