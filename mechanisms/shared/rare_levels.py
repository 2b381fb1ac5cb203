"""Merging the levels that noise drowns: marginals with them would be noise as well."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint
from synthdp.core.measurement import Coarsening, LinearMeasurement


def merged_rare_levels(
    one_way: Sequence[LinearMeasurement], threshold: float, constraints: Sequence[Constraint] = ()
) -> Coarsening:
    """Merge the levels of each attribute whose noisy count is below ``threshold`` standard
    deviations.

    Levels that a constraint treats differently stay apart. A single rare level stays as it is:
    merging it with nothing would change nothing.
    """
    groups = {}
    for measurement in one_way:
        (name,) = measurement.clique
        # A level whose noisy count is below three standard deviations cannot be told from an empty
        # one, and its pairs with other columns are noise.
        rare = measurement.values < threshold * np.sqrt(measurement.variance)
        alike = _constraint_classes(name, rare.size, constraints)
        # Every kept level is a class of its own; rare levels of one class share a number.
        # Numbers of kept levels are below the size, those of merged ones above, so no two collide.
        labels = np.where(rare, rare.size + alike, np.arange(rare.size))
        kept, numbers = np.unique(labels, return_inverse=True)
        if kept.size < rare.size:
            groups[name] = numbers
    return Coarsening(groups)


def _constraint_classes(
    name: str, size: int, constraints: Sequence[Constraint]
) -> NDArray[np.intp]:
    """For each level a number, equal for levels that all constraints treat alike."""
    patterns = [
        np.moveaxis(constraint.allowed, constraint.clique.index(name), 0).reshape(size, -1)
        for constraint in constraints
        if name in constraint.clique
    ]
    if not patterns:
        return np.zeros(size, dtype=np.intp)
    # Levels with equal rows of all constraints' masks are treated alike. Merging a level that a
    # rule forbids with one that it allows would forbid both or neither.
    return np.unique(np.hstack(patterns), axis=0, return_inverse=True)[1].reshape(size)
