"""How far a noisy count must stand out to be taken for records."""

from statistics import NormalDist

FALSE_ALARM = 0.005
"""Probability, in an empty histogram, of taking noise for records anywhere."""

ASTRONOMIC = 1e-6
"""The same where it would stretch a range of numbers as far as cells reach."""

BELIEVED = 3.0
"""Standard deviations of noise that the count of missing values must pass."""


def significance(n_cells: int, false_alarm: float = FALSE_ALARM) -> float:
    """Standard deviations that none of ``n_cells`` noisy zeros passes, but with a probability of
    ``false_alarm``.

    >>> round(significance(100), 2), round(significance(100, ASTRONOMIC), 2)
    (3.89, 5.61)
    """
    return -NormalDist().inv_cdf(false_alarm / n_cells)
