"""How well a model that learnt from synthetic rows predicts a column of the records: a marginal of
two derived columns, its score and the label, tells.

The model adds up a whole number for each level of the other columns. It is fitted to rows that were
drawn, so it is public; so are the edges of the bins of its score, which are quantiles of drawn
rows. A record has one score and one label, a function of that record alone: the counts have the
sensitivity of any marginal, and what is made of them is post-processing.
"""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.measurement import FloatArray
from synthdp.data.records.derived_column import DerivedColumn, names_of_prediction
from synthdp.inference.arrays import Codes
from synthdp.privacy.private_table import PrivateTable
from synthdp.schema.columns.column import Column
from synthdp.schema.schema import Schema

BINS = 20
"""Bins of a score: AUC of 20 differs from that of the score itself by less than a hundredth."""

MAX_ROWS = 20_000
"""The model is fitted to so many drawn rows at most; more would change its score by little."""

MIN_CLASS_ROWS = 20
"""Of fewer drawn rows of either label nothing can be learnt."""

CLEAR = 4.0
"""Counts that are divided by must be so many standard deviations of their noise: then quotients
have nearly normal errors.
"""

MODEL = "logistic regression on the levels of the other columns"

WITHOUT, WITH, NO_VALUE = 0, 1, 2
"""Levels of the derived label."""

_STEP = 2.0**-20
"""Log-odds of one whole number."""

_MAX_WEIGHT = 2**20
"""Log-odds of a level are cut off here: that many rows are certain."""

PrivateDerived: TypeAlias = Callable[[Sequence[DerivedColumn]], PrivateTable]
"""Derived columns of the records, behind the ledger of their release."""


def measured_prediction(
    schema: Schema,
    codes: Codes,
    target: str,
    *,
    rho: Fraction,
    counted: Domain,
    derived: PrivateDerived | None,
) -> dict[str, Any]:
    """How well a model of drawn rows predicts the target in the records, for at most ``rho``.

    Parameters
    ----------
    schema, codes
        What was drawn.
    target
        The column.
    rho
        What it may cost.
    counted
        The domain of the records' codes, with places for unread values.
    derived
        Counts derived columns of the records; None where they cannot be.

    Returns
    -------
    dict
        What certificates say of it, as plain JSON values; or why nothing was measured.
    """
    if derived is None:
        return _left_out(
            target, "the rows are counted by an engine, which knows no derived columns"
        )
    predictor = Predictor.fitted(schema, codes, target, counted=counted)
    if predictor is None:
        return _left_out(
            target, "the synthetic rows have too few of either label, or no other column"
        )
    with closing(derived([predictor.score, predictor.label])) as table:
        counts = table.measure((predictor.score.name, predictor.label.name), rho=rho)
    stated = predictor.stated(counts.values, float(np.max(counts.stddev)))
    if stated is None:
        return _left_out(target, "noise hides how many records have either label")
    return {"target": target, **stated}


def _left_out(target: str, why: str) -> dict[str, Any]:
    return {"target": target, "left_out": why}


@final
@dataclass(frozen=True, eq=False)
class Predictor:
    """A model of drawn rows, as two derived columns."""

    score: DerivedColumn
    """Its score, in bins."""
    label: DerivedColumn
    """Whether a row is what it predicts: `WITHOUT`, `WITH` or `NO_VALUE`."""
    positive: str
    """What it predicts, in words."""
    chances: FloatArray
    """For each bin of the score the mean chance that the model gives drawn rows there."""
    first_above: int
    """The first bin of chances of a half and more."""
    drawn: FloatArray
    """Drawn rows by bin and label."""
    n_rows: int
    """How many rows it was fitted to."""

    @classmethod
    def fitted(cls, schema: Schema, codes: Codes, target: str, *, counted: Domain) -> Self | None:
        """The model of some rows; None if they have too few of either label, or no other column.

        ``counted`` has the numbers of codes that its columns are to know, unread places included.
        """
        columns = dict(zip(schema.names, codes, strict=True))
        # Parts of the same date would give the target away.
        source = schema[target].source
        others = [each.name for each in schema.columns if each.source != source]
        label, positive = _label(schema[target], columns[target], counted[target])
        labels = np.asarray(label.weights[target][columns[target]])
        rows = np.flatnonzero(labels != NO_VALUE)
        if not others or min((labels == each).sum() for each in (WITHOUT, WITH)) < MIN_CLASS_ROWS:
            return None
        some = rows if len(rows) <= MAX_ROWS else _sampled(rows)
        sizes = [schema[name].size for name in others]
        log_odds, intercept = _log_odds(
            [columns[name][some] for name in others], sizes, labels[some] == WITH
        )
        weights = {}
        for name, odds in zip(others, log_odds, strict=True):
            of_codes = np.clip(np.rint(odds / _STEP), -_MAX_WEIGHT / _STEP, _MAX_WEIGHT / _STEP)
            # A code that no drawn row has, an unread value above all, says nothing.
            weights[name] = _counted(schema[name], of_codes, counted[name], 0)
        sums = np.zeros(len(rows), np.int64)
        for name in others:
            sums += weights[name][columns[name][rows]]
        half = -round(intercept / _STEP)
        at = np.arange(1, BINS - 1) / (BINS - 1)
        edges = np.unique([*np.quantile(sums, at, method="lower").tolist(), half])
        bins = np.searchsorted(edges, sums, side="right")
        chance = 1 / (1 + np.exp(-(sums - half) * _STEP))
        n_in_bins = np.bincount(bins, minlength=len(edges) + 1)
        middle = 1 / (1 + np.exp(-(np.append(edges, edges[-1]) - half) * _STEP))
        return cls(
            score=DerivedColumn(names_of_prediction(target)[0], weights, edges),
            label=label,
            positive=positive,
            chances=np.where(
                n_in_bins > 0,
                np.bincount(bins, chance, len(edges) + 1) / np.maximum(n_in_bins, 1),
                middle,
            ),
            first_above=int(np.searchsorted(edges, half)) + 1,
            drawn=np.stack(
                [
                    np.bincount(bins[labels[rows] == each], minlength=len(edges) + 1)
                    for each in (WITHOUT, WITH)
                ],
                axis=1,
            ).astype(np.float64),
            n_rows=len(some),
        )

    def stated(self, counts: FloatArray, stddev: float) -> dict[str, Any] | None:
        """What noisy counts say, shape ``(n_bins, 2 or 3)``; None if the noise hides either label.

        Errors are those of the noise, to first order; other noise than that of the counts there is
        none, for the records are not a sample here.
        """
        without = counts[:, WITHOUT]
        with_ = counts[:, WITH]
        n_without = float(without.sum())
        n_with = float(with_.sum())
        if min(n_without, n_with) < max(CLEAR * stddev * sqrt(len(counts)), 1.0):
            return None
        n_rows = n_without + n_with
        is_above = np.arange(len(counts)) >= self.first_above
        right = float(with_[is_above].sum() + without[~is_above].sum())
        accuracy = right / n_rows
        is_right = np.stack([~is_above, is_above], axis=1)
        share = n_with / n_rows
        predicted = float((without + with_) @ self.chances) / n_rows
        by_cell = np.array([0.0, 1.0]) - self.chances[:, None] - (share - predicted)
        return {
            "positive": self.positive,
            "model": MODEL,
            "n_rows": self.n_rows,
            "auc": {
                "value": _within(area(without, with_)),
                "stddev": stddev * area_gradient(without, with_),
                "of_synthetic_rows": area(self.drawn[:, WITHOUT], self.drawn[:, WITH]),
            },
            "accuracy": {
                "value": _within(accuracy),
                "stddev": stddev * float(np.linalg.norm(is_right - accuracy)) / n_rows,
                "of_the_larger_label": _within(max(share, 1 - share)),
            },
            "calibration": {
                "predicted": predicted,
                "share": _within(share),
                "stddev": stddev * float(np.linalg.norm(by_cell)) / n_rows,
                "bins": [
                    self._bin(place, float(without[place]), float(with_[place]), stddev)
                    for place in range(len(counts))
                ],
            },
        }

    def _bin(self, place: int, without: float, with_: float, stddev: float) -> dict[str, Any]:
        """Of one bin of the score what is predicted, and what share of the records it is."""
        n_rows = without + with_
        predicted = float(self.chances[place])
        if n_rows <= CLEAR * sqrt(2) * stddev:
            return {"predicted": predicted, "share": None, "stddev": None}
        share = _within(with_ / n_rows)
        return {
            "predicted": predicted,
            "share": share,
            "stddev": stddev * sqrt(share**2 + (1 - share) ** 2) / n_rows,
        }


def area(without: FloatArray, with_: FloatArray) -> float:
    """Area under the ROC curve, by counts in bins of increasing score: ties count a half.

    >>> area(np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    0.75
    """
    below = np.cumsum(without) - without / 2
    return float(with_ @ below / (with_.sum() * without.sum()))


def area_gradient(without: FloatArray, with_: FloatArray) -> float:
    """Length of the gradient of `area` by all counts: what noise on each does to it."""
    n_without = without.sum()
    n_with = with_.sum()
    value = area(without, with_)
    below = (np.cumsum(without) - without / 2) / n_without
    above = (np.cumsum(with_[::-1])[::-1] - with_ / 2) / n_with
    return float(
        np.hypot(
            np.linalg.norm((below - value) / n_with), np.linalg.norm((above - value) / n_without)
        )
    )


def _within(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _sampled(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Some of many rows, the same ones whenever they are drawn; a model may draw them in an order."""
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(rows, MAX_ROWS, replace=False))


def _label(column: Column, codes: NDArray[Any], n_codes: int) -> tuple[DerivedColumn, str]:
    """What is predicted of a column, by drawn rows: of two levels the rarer one, of more the most
    frequent one, of numbers that they are above the median.
    """
    counts = np.bincount(codes, minlength=column.size)[: column.n_levels]
    is_it = np.zeros(column.n_levels, np.bool_)
    labels = column.labels
    if column.axis is not None and column.n_levels > 2:
        middle = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
        last = min(middle, column.n_levels - 2)
        is_it[last + 1 :] = True
        positive = f"{column.name} above {labels[last]}"
    else:
        place = int(np.argmin(counts) if column.n_levels == 2 else np.argmax(counts))
        is_it[place] = True
        positive = f"{column.name} is {labels[place]}"
    weights = _counted(column, np.where(is_it, WITH, WITHOUT), n_codes, NO_VALUE)
    edges = np.array([WITH, NO_VALUE], np.int64)
    name = names_of_prediction(column.name)[1]
    return DerivedColumn(name, {column.name: weights}, edges), positive


def _counted(
    column: Column, of_codes: NDArray[Any], n_codes: int, of_others: int
) -> NDArray[np.int64]:
    """Numbers of a column's first codes for all that are counted: what is beyond its bounds has
    those of the outermost bins.
    """
    numbers = np.full(n_codes, of_others, np.int64)
    numbers[: len(of_codes)] = of_codes
    placed = column.with_all_places()
    if placed.has_end_places and placed.size == n_codes:
        numbers[[*placed.end_codes]] = numbers[[*column.end_codes]]
    return numbers


def _log_odds(
    columns: Sequence[NDArray[Any]], sizes: Sequence[int], is_it: NDArray[np.bool_]
) -> tuple[list[FloatArray], float]:
    """Logistic regression with a ridge of 1: for each column the log-odds of its codes, and the
    intercept.
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    starts = np.cumsum([0, *sizes])
    places = np.stack(
        [start + codes.astype(np.int64) for start, codes in zip(starts, columns, strict=False)],
        axis=1,
    )
    n_rows, width = places.shape
    design = csr_array(
        (np.ones(places.size), places.ravel(), np.arange(0, places.size + 1, width)),
        shape=(n_rows, int(starts[-1])),
    )
    signs = np.where(is_it, 1.0, -1.0)

    def loss(values: FloatArray) -> tuple[float, FloatArray]:
        margins = signs * (design @ values[:-1] + values[-1])
        slopes = -signs / (1 + np.exp(np.minimum(margins, 500.0)))
        gradient = np.append(design.T @ slopes + values[:-1], slopes.sum())
        return float(np.logaddexp(0.0, -margins).sum() + values[:-1] @ values[:-1] / 2), gradient

    start = np.zeros(int(starts[-1]) + 1)
    start[-1] = np.log(is_it.mean() / (1 - is_it.mean()))
    fit = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 100})
    return np.split(fit.x[:-1], starts[1:-1]), float(fit.x[-1])
