"""From a density to a closed column: bounds, edges and shape, written as a schema holds them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthdp.derivation.axes import Axis
from synthdp.derivation.bins import at_least_two
from synthdp.derivation.density import Density

DIGITS = 6
"""Significant digits of the weights of a shape."""


def found_bins(axis: Axis, density: Density, edges: NDArray[np.int64]) -> dict[str, Any]:
    """Edges and shape of a column, or its one value.

    Parameters
    ----------
    axis
        The column's grid.
    density
        Where its records lie.
    edges
        First grid points of the bins, then the end; shape ``(n_bins + 1,)``.
    """
    first, stop = int(edges[0]), int(edges[-1])
    if stop - first == 1:
        (value,) = axis.values([first])
        if axis.has_bounds:
            return {"bins": 1}
        return {"minimum": value, "maximum": value, "bins": 1}
    if stop - int(edges[-2]) == 1:  # but the last bin ends with its right edge, so it has two points at least
        if not axis.has_bounds and stop < int(axis.roots[-1]):
            stop += 1
            density = Density(np.append(density.starts, stop), np.append(density.mass, 0.0))
        elif len(edges) - 1 == stop - first:  # every value has a bin of its own
            bounds = (
                {}
                if axis.has_bounds
                else dict(zip(("minimum", "maximum"), axis.values([first, stop - 1]), strict=True))
            )
            return bounds | {"bins": stop - first}
        else:
            edges = at_least_two(np.delete(edges, -2))
    return {"edges": axis.values([*edges[:-1].tolist(), stop - 1])} | _found_shape(axis, density, edges)


def found_bounds(axis: Axis, density: Density) -> dict[str, Any]:
    """Bounds and shape of a column whose bins are not to be found."""
    first, last = axis.values([int(density.starts[0]), int(density.starts[-1]) - 1])
    return {"minimum": first, "maximum": last} | _found_shape(axis, density, density.starts[[0, -1]])


def _found_shape(axis: Axis, density: Density, edges: NDArray[np.int64]) -> dict[str, Any]:
    """The shape of a column; nothing if it is even in all bins."""
    if np.isin(density.starts[:-1], edges[:-1]).all() or not density.mass.any():
        return {}
    weights = [float(f"{mass:.{DIGITS}g}") for mass in density.mass]
    return {"shape": {"starts": axis.values(density.starts[:-1]), "weights": weights}}
