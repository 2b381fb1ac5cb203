"""Groups of neighbouring levels of about equal shares, where noise allows no more cells."""

from collections.abc import Collection, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening

FloatArray = NDArray[np.float64]


def equal_groups(shares: FloatArray, most: int) -> NDArray[np.int64] | None:
    """The group of each level where neighbours are merged to at most so many groups; None if there
    are no more levels than that.

    Levels are split in two, as near to the middle of their shares as can be, and the heaviest group
    again and again: so two groups part at the median, and four respect it. Levels with many records
    end up alone.

    Parameters
    ----------
    shares
        About what share of the records each level has, at least 0.
    most
        Most groups, at least 1.

    >>> equal_groups(np.array([0.1, 0.1, 0.1, 0.2, 0.3, 0.2]), 2)
    array([0, 0, 0, 0, 1, 1])
    """
    if shares.size <= most:
        return None
    ends = np.concatenate([[0.0], np.cumsum(shares)])
    bounds = [0, shares.size]
    while len(bounds) <= most:
        # A group of one level cannot be split: it weighs less than nothing.
        weights = [
            ends[stop] - ends[start] if stop - start > 1 else -1.0
            for start, stop in pairwise(bounds)
        ]
        heaviest = int(np.argmax(weights))
        start = bounds[heaviest]
        stop = bounds[heaviest + 1]
        middle = (ends[start] + ends[stop]) / 2
        # Inner ends only, so that neither half is empty.
        inside = np.abs(ends[start + 1 : stop] - middle)
        bounds.insert(heaviest + 1, start + 1 + int(np.argmin(inside)))
    return np.searchsorted(bounds, np.arange(shares.size), side="right") - 1


def merged_to(
    domain: Domain, shares: Mapping[str, FloatArray], most: int, *, but: Collection[str] = ()
) -> Coarsening | None:
    """The merging of all columns ``but`` some to at most so many groups each; None if it merges
    nothing.
    """
    names = [name for name in domain.attributes if name not in but]
    groups = {name: equal_groups(shares[name], most) for name in names}
    merged = {name: found for name, found in groups.items() if found is not None}
    return Coarsening(merged) if merged else None
