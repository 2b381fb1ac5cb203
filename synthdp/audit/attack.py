"""The attack: guesses from statistics of runs, chosen on some of the runs and counted on the
others.
"""

from dataclasses import dataclass
from typing import final

import numpy as np

from synthdp.audit.bounds import N_LIMITS, FloatArray, limits

LEARNT_SHARE, LEAST_LEARNT = 0.1, 250
"""Part of the runs that guesses are chosen on: a tenth, but 250 if that is no more than half."""

_MOST_THRESHOLDS = 400

_CHOICE_ALPHA = {"mu": 0.003, "epsilon": 0.01}
"""Guesses are chosen by limits of this much doubt: with more, luck in the tails decides; with less,
none stands out of few runs, and of epsilon, which tails tell best, the middle is chosen. On
Gaussian statistics of mu 0.46 to 0.53 these proved most, or nearly, by 1,200 to 5,600 runs.
"""

_RIDGE = 1e-6
"""Keeps the discriminant solvable where one statistic repeats another."""

DISCRIMINANT = "a linear discriminant of all statistics"


@final
@dataclass(frozen=True, kw_only=True)
class Guess:
    """What one guess proves."""

    statistic: str
    """What the guess looks at."""
    lower: float
    """The lower bound, 0 or more."""
    point: float
    """The same without limits of confidence."""
    n_runs: int
    """Runs on each table that it was counted on."""


def best_guesses(
    one: FloatArray, other: FloatArray, names: tuple[str, ...], *, delta: float, confidence: float
) -> dict[str, Guess]:
    """The guesses that prove most of mu and of epsilon; both bounds hold with the confidence
    together.

    The first statistic is taken to be the best one in theory: another must prove more by a standard
    error.

    Parameters
    ----------
    one, other
        Statistics of the runs on either table, shape ``(n_runs, n_statistics)`` each.
    names
        What the statistics are.
    delta
        At which epsilon is bounded.
    confidence
        Probability that both bounds are right.
    """
    n_learnt = n_learnt_of(len(one))
    # What the guess is chosen on is not what it is counted on: a bound on the same runs would be
    # too good.
    learnt = (one[:n_learnt], other[:n_learnt])
    rest = (one[n_learnt:], other[n_learnt:])
    alpha = (1 - confidence) / N_LIMITS
    n_rest = len(rest[0])
    columns = _directions(*learnt)
    guesses = {}
    # Standard error of ndtri(q) - ndtri(p) where both are near 1/2.
    margin = (np.pi / n_learnt) ** 0.5
    for goal in ("mu", "epsilon"):
        best = -np.inf
        index = 0
        threshold = 0.0
        for tried, column in enumerate(columns.T):
            proven, at = _best_threshold(learnt[0] @ column, learnt[1] @ column, goal, delta)
            # Of many statistics one is ahead by luck; leaving the best one in theory has to be
            # worth a standard error.
            if proven > best + (margin if index == 0 and tried else 0.0):
                best = proven
                index = tried
                threshold = at
        false, true = (int((runs @ columns[:, index] > threshold).sum()) for runs in rest)
        lower, point = (
            max(float(getattr(limits(false, true, n_rest, delta=delta, alpha=doubt), goal)), 0.0)
            for doubt in (alpha, 0.5)
        )
        name = names[(index + 1) // 2] if index < len(columns.T) - 1 else DISCRIMINANT
        guesses[goal] = Guess(statistic=name, lower=lower, point=point, n_runs=n_rest)
    return guesses


def n_learnt_of(n_runs: int) -> int:
    """How many of the runs on each table the guess is chosen on."""
    return min(n_runs // 2, max(round(n_runs * LEARNT_SHARE), LEAST_LEARNT))


def _directions(one: FloatArray, other: FloatArray) -> FloatArray:
    """Which sums of statistics are tried, one a column: the first, the others both ways, the
    discriminant.
    """
    n = one.shape[1]
    # The first is the log likelihood ratio, of which more always speaks for the second table; of
    # the others nobody knows beforehand which way they point.
    single = [np.eye(n)[0], *(sign * np.eye(n)[i] for i in range(1, n) for sign in (1.0, -1.0))]
    scale = np.concatenate([one, other]).std(axis=0)
    scale[scale == 0] = np.inf  # what never varies tells nothing
    within = (np.cov(one / scale, rowvar=False) + np.cov(other / scale, rowvar=False)) / 2
    # Fisher's discriminant: the direction in which two clouds of equal spread lie furthest apart.
    towards = np.linalg.solve(
        within + _RIDGE * np.eye(n), (other.mean(axis=0) - one.mean(axis=0)) / scale
    )
    return np.column_stack([*single, towards / scale])


def _best_threshold(
    one: FloatArray, other: FloatArray, goal: str, delta: float
) -> tuple[float, float]:
    """What the best threshold on a statistic proves by these runs, and that threshold.

    It may prove nothing, and is still the one that comes nearest: more runs will prove something by
    it.
    """
    # Between two neighbouring values no threshold says anything else, so that the values themselves
    # are all that there are to try.
    both = np.unique(np.concatenate([one, other]))
    if both.size <= _MOST_THRESHOLDS:
        ends = both
    else:
        ends = np.quantile(both, np.linspace(0, 1, _MOST_THRESHOLDS))
    false, true = (
        runs.size - np.searchsorted(np.sort(runs), ends, side="right") for runs in (one, other)
    )
    bounds = limits(false, true, one.size, delta=delta, alpha=_CHOICE_ALPHA[goal])
    proven = getattr(bounds, goal)
    # Of epsilon even who always says the same proves nearly 0: where no threshold proves more, that
    # of mu tells more.
    best = int((proven if proven.max() > 0 else bounds.mu).argmax())
    return float(proven[best]), float(ends[best])
