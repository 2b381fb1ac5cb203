"""How far a guess of a marginal is from the truth, as noisy measurements of it tell.

What one would expect of a marginal without having measured it is worth most where noise hides what
was measured, and nothing where that is exact. Which it is measurements say themselves: what they
are off the guess by, beyond their own noise, is what the guess is off by [Efron & Morris 1975].
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from synthdp.core.measurement import FloatArray, LinearMeasurement

_CAUTION = 1.0
"""In standard errors. A guess that is trusted too much overrules what was measured; one that is
trusted too little only gives up some of the gain.
"""


def guessed(
    guess: LinearMeasurement, measurements: Sequence[LinearMeasurement]
) -> LinearMeasurement:
    """The guess, taken to be as far off in each cell as measurements of its attributes say, and at
    least as far as it says itself.

    Those of all its attributes and those of some of them are asked apart: a guess may have every
    column right, and how they depend on each other wrong.
    """
    attributes = {*guess.clique}
    of_all: list[LinearMeasurement] = []
    of_some: list[LinearMeasurement] = []
    for measurement in measurements:
        shared = attributes.intersection(measurement.clique)
        if shared == attributes:
            of_all.append(measurement)
        elif shared:
            of_some.append(measurement)
    errors = [np.max(guess.stddev)]
    errors += [_off(guess, each) for each in (of_all, of_some) if each]
    return LinearMeasurement(guess.clique, guess.values, np.max(errors))


def _off(guess: LinearMeasurement, measurements: Sequence[LinearMeasurement]) -> float:
    """How far off the guess is in each cell: one standard deviation."""
    excess = 0.0
    error = 0.0
    n_cells = 0.0
    for measurement in measurements:
        apart, variance, n_merged = _apart(guess, measurement)
        # The exacter the measurement, the more its deviations tell.
        weight = 1.0 / np.square(variance)
        excess += float((weight * (np.square(apart) - variance)).sum())
        error += float((2.0 * np.square(weight * variance)).sum())
        n_cells += float((weight * n_merged).sum())
    return sqrt(max(excess + _CAUTION * sqrt(error), 0.0) / n_cells)


def _apart(
    guess: LinearMeasurement, measurement: LinearMeasurement
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What a measurement is off a guess by, the variance of its noise, and how many cells of the
    guess are in each of its.
    """
    common = tuple(name for name in measurement.clique if name in guess.clique)
    expected = _summed(guess.values, guess.clique, common)
    n_merged = _summed(np.ones(guess.values.shape), guess.clique, common)
    merging = measurement.coarsening and measurement.coarsening.restricted(common)
    if merging is not None:
        expected = merging.apply(common, expected)
        n_merged = merging.apply(common, n_merged)
    values = _summed(measurement.values, measurement.clique, common)
    variance = _summed(measurement.variance, measurement.clique, common)
    return values - expected, variance, n_merged


def _summed(table: FloatArray, clique: Sequence[str], names: Sequence[str]) -> FloatArray:
    """The cells of some attributes of a clique, the axes in the order of those."""
    others = tuple(axis for axis, name in enumerate(clique) if name not in names)
    left = [name for name in clique if name in names]
    return np.asarray(table.sum(axis=others).transpose([left.index(name) for name in names]))
