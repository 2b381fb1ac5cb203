"""Bins for a density: as few as the model needs, each with enough records to be seen through its noise."""

import numpy as np
from numpy.typing import NDArray

from synthdp.derivation.density import Density, split_evenly

SMALLEST_REST = 0.3
"""A last bin of less than this part of an even share joins its neighbour."""


def quantile_edges(density: Density, most: int, least_mass: float) -> NDArray[np.int64]:
    """First grid points of at most ``most`` bins that hold about equally many records, then the end.

    A grid point that alone holds as much as that is a bin of its own.

    Parameters
    ----------
    density
        Expected counts.
    most
        Most bins, at least 2.
    least_mass
        Records that a bin should hold at least, as far as two bins remain.
    """
    for wanted in range(most, 1, -1):  # heavy points part the others into a few bins more than an even share gives
        edges = _edges(density, wanted, least_mass)
        if len(edges) <= most + 1:
            return at_least_two(np.array(edges, dtype=np.int64))
    return even_edges(int(density.starts[0]), int(density.starts[-1]), most)


def _edges(density: Density, most: int, least_mass: float) -> list[int]:
    """Edges of bins with an even share of the records, and of heavy points."""
    share, heavy = _share(density, most, least_mass)
    edges, held = [int(density.starts[0])], 0.0
    pieces = zip(density.starts[:-1].tolist(), density.starts[1:].tolist(), density.mass, heavy, strict=True)
    for start, stop, mass, is_heavy in pieces:
        if is_heavy:
            edges += [start, stop]
            held = 0.0
            continue
        cursor, left = start, float(mass)
        while share > 0 and held + left >= share * (1 + 1e-9):
            step = min(max(round((share - held) / left * (stop - cursor)), 1), stop - cursor)
            left -= left * step / (stop - cursor)
            cursor, held = cursor + step, 0.0
            edges.append(cursor)
            if cursor == stop:
                left = 0.0
        held += left
    unique = sorted({*edges, int(density.starts[-1])})
    if 0 <= held < SMALLEST_REST * share and len(unique) > 3 and not heavy[-1]:
        del unique[-2]
    return unique


def _share(density: Density, most: int, least_mass: float) -> tuple[float, NDArray[np.bool_]]:
    """Records of an even bin, and which pieces are points that hold as much alone."""
    total = float(density.mass.sum())
    least = min(least_mass, total / 2)
    share = max(total / most, least)
    heavy = (density.widths == 1) & (density.mass >= share)
    while True:  # what heavy points hold need not be shared by the other bins, which become finer
        room = most - 2 * int(heavy.sum())  # a heavy point also parts what is around it
        finer = max((total - float(density.mass[heavy].sum())) / max(room, 1), least)
        more = (density.widths == 1) & (density.mass >= finer)
        if finer >= share or 2 * int(more.sum()) >= most:
            return share, heavy
        share, heavy = finer, more


def even_edges(first: int, stop: int, bins: int) -> NDArray[np.int64]:
    """First grid points of bins as even as possible, then the end."""
    return at_least_two(np.array([*split_evenly(first, stop, bins), stop], dtype=np.int64))


def at_least_two(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same edges, or, of one bin with more than one point, its halves: one bin says nothing."""
    if len(edges) > 2 or edges[1] - edges[0] == 1:
        return edges
    return np.insert(edges, 1, (edges[0] + edges[1]) // 2)
