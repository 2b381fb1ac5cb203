"""What a noisy marginal says of the levels of one attribute."""

import numpy as np

from synthdp.core.measurement import FloatArray, LinearMeasurement


def level_counts(
    measurement: LinearMeasurement, name: str, level: int
) -> tuple[FloatArray, FloatArray] | None:
    """Noisy counts of the levels of an attribute, and their variances.

    None if the attribute was not measured, or was over groups of levels that do not tell ``level``
    apart from others.

    >>> from synthdp.core.measurement import Coarsening
    >>> merged = Coarsening({"town": np.array([0, 1, 1])})
    >>> counts = LinearMeasurement(("town",), np.array([30.0, 10.0]), 2.0, merged)
    >>> [part.tolist() for part in level_counts(counts, "town", 0)]
    [[30.0, 5.0, 5.0], [4.0, 2.0, 2.0]]
    >>> level_counts(counts, "town", 1), level_counts(counts, "sex", 0)
    (None, None)
    """
    if name not in measurement.clique:
        return None
    axis = measurement.clique.index(name)
    others = tuple(other for other in range(len(measurement.clique)) if other != axis)
    values = measurement.values.sum(axis=others)
    variances = measurement.variance.sum(axis=others)
    groups = measurement.groups.get(name)
    if groups is None:
        return values, variances
    if np.count_nonzero(groups == groups[level]) > 1:
        return None
    sizes = np.bincount(groups)[groups]
    # a group's count, and its variance, are divided evenly among its levels
    return values[groups] / sizes, variances[groups] / sizes
