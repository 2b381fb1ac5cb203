"""Levels of which noisy counts leave nothing but noise: they are not drawn.

What was learnt has room for more than there is: ``other`` for levels that were not found, and bins
up to bounds that noise drew out. Measurements say what is in there. Post-processing only.
"""

from collections.abc import Collection, Mapping, Sequence
from math import erfc, exp, inf, log, pi, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from synthdp.core.level_counts import level_counts
from synthdp.core.measurement import LinearMeasurement
from synthdp.learning.cells.significance import BELIEVED, significance
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema

HIDDEN = 0.1
"""Where noise could hide more than this part of the records at a level, nobody can say that it has
none.
"""

LONGER = log(2)
"""Empty bins at an end are so much less probable with each of them, before any is counted."""

TINY = 1e-300
"""A probability of nothing, of which there is a logarithm."""

Floats = NDArray[np.float64]
Unused: TypeAlias = Mapping[str, tuple[int, ...]]
"""The codes without records of some attributes."""


def levels_without_records(
    schema: Schema,
    measurements: Sequence[LinearMeasurement],
    learnt: Mapping[str, Collection[str]],
) -> dict[str, tuple[int, ...]]:
    """The codes that are not drawn of columns that were learnt, as noise is all that they have.

    Of learnt levels that is ``other``, unless it is a level of its own in ``enum`` or noise would
    hide many records in it; of learnt bounds it is the outermost bins; of all of them "missing",
    where nobody said that there is none and noise would not hide many. No level is that a rule may
    need.

    Parameters
    ----------
    schema
        The columns, closed.
    measurements
        Noisy marginals over its codes.
    learnt
        What was learnt of each column.
    """
    ruled = {name for constraint in schema.constraints for name in constraint.clique}
    unused: dict[str, tuple[int, ...]] = {}
    for column in schema.table_columns:
        parts = learnt.get(column.name, ())
        # What depends on weights is counted by all their bins.
        if not parts or column.name in ruled or column.name == schema.weight:
            continue
        codes: Sequence[int] = ()
        if "levels" in parts and column.other is not None:
            codes = _other(schema, column, measurements)
        elif "bounds" in parts and column.axis is not None:
            codes = empty_ends(*bins_told_apart(column.name, column.n_levels, measurements))
        if not column.required:
            codes = [*codes, *_missing(column, measurements)]
        if codes:
            unused[column.name] = tuple(codes)
    return unused


def _other(
    schema: Schema, column: Column, measurements: Sequence[LinearMeasurement]
) -> Sequence[int]:
    """The code of ``other``, if all measurements together leave nothing for it but noise."""
    code = column.unknown_code
    # No level was found, or there is none.
    is_all = column.listed == (column.other,) and not column.required
    if column.other in column.listed and not is_all:
        return ()
    return _code_of_noise(column, code, measurements, significance(len(schema.columns)))


def _missing(column: Column, measurements: Sequence[LinearMeasurement]) -> Sequence[int]:
    """The code of missing values, if measurements leave nothing for it but noise."""
    return _code_of_noise(column, column.missing_code, measurements, BELIEVED)


def _code_of_noise(
    column: Column, code: int, measurements: Sequence[LinearMeasurement], least: float
) -> Sequence[int]:
    """A level's code if all measurements together say less of it than so many standard deviations
    of their noise, and that is not many records.
    """
    answers = list(filter(None, (level_counts(each, column.name, code) for each in measurements)))
    if not answers:
        return ()
    precisions = np.array([1 / variances[code] for _, variances in answers])
    sums = precisions @ np.array([(values[code], values.sum()) for values, _ in answers])
    count, total = (sums / precisions.sum()).tolist()
    noise = least / sqrt(precisions.sum())
    return (code,) if count <= noise <= HIDDEN * total else ()


def bins_told_apart(
    name: str, n_bins: int, measurements: Sequence[LinearMeasurement]
) -> tuple[Floats, Floats]:
    """What all measurements together say of each bin of a column, and the variance of that:
    infinite where none tells it apart.

    Parameters
    ----------
    name, n_bins
        The column, and how many of its first levels are bins.
    measurements
        Noisy marginals over its levels.
    """
    precision = np.zeros(n_bins)
    score = np.zeros(n_bins)
    for each in measurements:
        if name not in each.clique:
            continue
        groups = each.groups.get(name)
        apart = np.arange(n_bins)
        if groups is not None:
            apart = np.flatnonzero(np.bincount(groups)[groups[:n_bins]] == 1)
        if apart.size and (counted := level_counts(each, name, int(apart[0]))):
            counts, variances = (part[apart] for part in counted)
            precision[apart] += 1 / variances
            score[apart] += counts / variances
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(precision > 0, score / precision, 0.0), 1 / precision


def empty_ends(counts: Floats, variances: Floats) -> list[int]:
    """The outermost bins that are rather empty than not; never all, and none where noise could hide
    many records.

    A bin that is not holds any number of records, of which large ones are the rarer, as many as
    the others on average.

    Parameters
    ----------
    counts, variances
        Noisy counts of bins in their order, and the variances of their noise: infinite of bins that
        are not told apart; shape ``(n_bins,)``.

    >>> empty_ends(np.array([-20.0, 510.0, 480.0, 60.0, 31.0, -12.0]), np.full(6, 900.0))
    [0, 4, 5]
    """
    n_bins = len(counts)
    mean = float(np.maximum(counts, 0.0).mean())
    is_told = np.isfinite(variances)
    if sqrt(variances[is_told].max(initial=0.0)) > HIDDEN * n_bins * mean:
        return []
    odds = [_odds(*each, mean) for each in zip(counts.tolist(), variances.tolist(), strict=True)]
    # The fullest bin stays, so that there is one to draw from.
    fullest = int(np.argmax(counts))
    below = _run(odds[:fullest])
    above = _run(odds[:fullest:-1])
    return [*range(below), *range(n_bins - above, n_bins)]


def _run(odds: Sequence[float]) -> int:
    """How many bins from the first on are empty, if any rather are."""
    together = np.append(0.0, np.cumsum(np.array(odds) - LONGER))
    return int(np.argmax(together))


def _odds(count: float, variance: float, mean: float) -> float:
    """How much more probable a noisy count is of an empty bin than of one with records, as a
    logarithm.
    """
    noise = sqrt(variance)
    if noise >= mean:  # which would hide what others have on average
        return -inf
    empty = exp(-(count**2) / (2 * variance)) / sqrt(2 * pi * variance)
    # The noise and a number of records whose probability falls exponentially, together.
    held = erfc((noise / mean - count / noise) / sqrt(2)) / 2
    log_held = variance / (2 * mean**2) - count / mean - log(mean) + log(max(held, TINY))
    return log(max(empty, TINY)) - log_held
