"""Bins for a density: as few as the model needs, each with enough records to be seen through its
noise.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synthdp.learning.cells.density import Density, split_evenly
from synthdp.learning.search_grid import SearchGrid

MIN_REST = 0.3
"""A last bin of less than this part of an even share joins its neighbour."""


def quantile_edges(density: Density, most: int, min_mass: float) -> NDArray[np.int64]:
    """First grid points of at most ``most`` bins that hold about equally many records, then the
    end.

    A grid point that alone holds as much as that is a bin of its own.

    Parameters
    ----------
    density
        Expected counts.
    most
        Most bins, at least 2.
    min_mass
        Records that a bin should hold at least, as far as two bins remain.
    """
    # Heavy points part the others into a few bins more than an even share gives.
    for wanted in range(most, 1, -1):
        edges = _edges(density, wanted, min_mass)
        # The most bins that come out as no more than wanted.
        if len(edges) <= most + 1:
            return at_least_two(np.array(edges, dtype=np.int64))
    return even_edges(int(density.starts[0]), int(density.starts[-1]), most)


def _edges(density: Density, most: int, min_mass: float) -> list[int]:
    """Edges of bins with an even share of the records, and of heavy points."""
    share, heavy = _share(density, most, min_mass)
    edges = [int(density.starts[0])]
    held = 0.0
    pieces = zip(
        density.starts[:-1].tolist(), density.starts[1:].tolist(), density.mass, heavy, strict=True
    )
    for start, stop, mass, is_heavy in pieces:
        # A point that holds a bin's share by itself is a bin by itself.
        if is_heavy:
            edges += [start, stop]
            held = 0.0
            continue
        cursor = start
        left = float(mass)
        # By a little more than rounding, or a bin of next to nothing would be cut off at the end.
        while share > 0 and held + left >= share * (1 + 1e-9):
            step = min(max(round((share - held) / left * (stop - cursor)), 1), stop - cursor)
            left -= left * step / (stop - cursor)
            cursor = cursor + step
            held = 0.0
            edges.append(cursor)
            if cursor == stop:
                left = 0.0
        held += left
    unique = sorted({*edges, int(density.starts[-1])})
    # A last bin of little more than noise is joined to the one before, unless that is a point that
    # would no longer stand alone.
    is_apart = unique[-2] in density.starts[1:][heavy]
    if 0 <= held < MIN_REST * share and len(unique) > 3 and not is_apart and not heavy[-1]:
        del unique[-2]
    return unique


def _share(density: Density, most: int, min_mass: float) -> tuple[float, NDArray[np.bool_]]:
    """Records of an even bin, and which pieces are points that hold as much alone."""
    total = float(density.mass.sum())
    least = min(min_mass, total / 2)
    share = max(total / most, least)
    heavy = (density.widths == 1) & (density.mass >= share)
    while True:  # what heavy points hold need not be shared by the other bins, which become finer
        room = most - 2 * int(heavy.sum())  # a heavy point also parts what is around it
        finer = max((total - float(density.mass[heavy].sum())) / max(room, 1), least)
        more = (density.widths == 1) & (density.mass >= finer)
        if finer >= share or 2 * int(more.sum()) >= most:
            return share, heavy
        share, heavy = finer, more


def with_doubtful_ends(
    edges: NDArray[np.int64], doubtful: Sequence[int], most: int
) -> NDArray[np.int64]:
    """The same edges, and others where records may end, as far as there may be more bins.

    What noise alone put beyond them shows as bins of its own that have no records, once they are
    measured; in one bin with records it would be drawn like them.

    >>> with_doubtful_ends(np.array([0, 2, 4, 9]), [5, 6, 4, 1], 5).tolist()
    [0, 2, 4, 5, 6, 9]
    """
    for edge in doubtful:
        if len(edges) <= most and edges[0] < edge < edges[-1]:
            edges = np.union1d(edges, [edge])
    return edges


def with_ends_apart(edges: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The same edges with the first and the last point as bins of their own, as far as there may be
    more bins: numbers that many records have lie there, such as 0 and top codes.

    >>> with_ends_apart(np.array([0, 4, 8]), 4).tolist()
    [0, 1, 4, 7, 8]
    """
    for edge in (edges[0] + 1, edges[-1] - 1):
        if len(edges) <= most:
            edges = np.union1d(edges, [edge])
    return edges


def even_edges(first: int, stop: int, bins: int) -> NDArray[np.int64]:
    """First grid points of bins as even as possible, then the end."""
    return at_least_two(np.array([*split_evenly(first, stop, bins), stop], dtype=np.int64))


def at_least_two(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same edges, or, of one bin with more than one point, its halves: one bin says nothing."""
    if len(edges) > 2 or edges[1] - edges[0] == 1:
        return edges
    return np.insert(edges, 1, (edges[0] + edges[1]) // 2)


DIGITS = 6
"""Significant digits of the weights of a shape."""


def learnt_bins(axis: SearchGrid, density: Density, edges: NDArray[np.int64]) -> dict[str, Any]:
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
    first = int(edges[0])
    stop = int(edges[-1])
    if stop - first == 1:
        (value,) = axis.values([first])
        if axis.has_bounds:
            return {"bins": 1}
        return {"minimum": value, "maximum": value, "bins": 1}
    if len(edges) - 1 == stop - first:  # every value has a bin of its own
        if axis.has_bounds:
            bounds = {}
        else:
            bounds = dict(zip(("minimum", "maximum"), axis.values([first, stop - 1]), strict=True))
        return bounds | {"bins": stop - first}
    # a last bin of one value repeats it: [.., 99999, 99999]
    lowest, highest = axis.values([first, stop - 1])
    inner = axis.edges(edges[1:-1])
    return {"edges": [lowest, *inner, highest]} | _learnt_shape(axis, density, edges)


def learnt_range(axis: SearchGrid, density: Density) -> dict[str, Any]:
    """Bounds and shape of a column whose bins are not to be found."""
    first, last = axis.values([int(density.starts[0]), int(density.starts[-1]) - 1])
    return {"minimum": first, "maximum": last} | _learnt_shape(
        axis, density, density.starts[[0, -1]]
    )


def _learnt_shape(axis: SearchGrid, density: Density, edges: NDArray[np.int64]) -> dict[str, Any]:
    """The shape of a column; nothing if it is even in all bins."""
    if np.isin(density.starts[:-1], edges[:-1]).all() or not density.mass.any():
        return {}
    weights = rounded(density.mass).tolist()
    return {"shape": {"starts": axis.values(density.starts[:-1]), "weights": weights}}


def rounded(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weights of a shape with six digits, which are more than noise leaves, and keep the schema
    readable.
    """
    return np.array([float(f"{weight:.{DIGITS}g}") for weight in weights])
