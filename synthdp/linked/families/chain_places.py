"""How columns are distributed at the places of a chain: that of later rows of one parent, in their
order.

A chain is drawn row by row, each given the one before it. What a row is given that is one table for
all places, so what it is off by adds up from row to row, and order goes one way only: dates that
ran ahead never come back. How columns are distributed at a place does not depend on the way there.
"""

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.measurement import FloatArray
from synthdp.inference.shrinkage import raked

_TOLERANCE, _MAX_ROUNDS = 1e-4, 100


@final
class ChainPlaces:
    """Shares of the levels of own columns at each place, as they were released.

    Parameters
    ----------
    rows
        Of each own column the expected rows by number of rows of the parent, level, and place.
    order
        The column that orders rows.
    """

    def __init__(self, rows: Mapping[str, FloatArray], order: str) -> None:
        self._rows = {name: np.maximum(each, 0.0) for name, each in rows.items()}
        if order in self._rows:
            self._rows[order] = in_order(self._rows[order])

    def shares(
        self, numbers: NDArray[np.integer], code: int, places: FloatArray
    ) -> Mapping[str, FloatArray]:
        """Shares of the levels of own columns, those of a population in which parents have some
        numbers of rows.

        Parameters
        ----------
        numbers
            How many rows the parent of each has, shape ``(n_rows,)``.
        code
            Of their place, which is the same.
        places
            The same without rounding, see `LinkedView.places`.
        """
        shares = {}
        lower = np.floor(places).astype(np.intp)
        part = places - lower
        for name, rows in self._rows.items():
            size = rows.shape[0]
            last = rows.shape[2] - 1
            present = np.bincount(numbers, minlength=size).astype(np.float64)
            # Parents with more rows are others: they are weighed as they were drawn.
            here = _shares(rows[..., code], axis=1)
            level = present @ here
            # A code of a long chain is several places: between the middles of two codes what is so
            # at one goes over into what is so at the next.
            by_code = _shares(rows.sum(axis=0), axis=0)
            own = by_code[:, code]
            low = lower.clip(0, last)
            high = (lower + 1).clip(0, last)
            between = (by_code[:, low] * (1 - part) + by_code[:, high] * part).mean(axis=1)
            level = level * np.divide(between, own, out=np.zeros_like(own), where=own > 0)
            if level.sum() > 0:
                shares[name] = level / level.sum()
        return shares


def in_order(rows: FloatArray) -> FloatArray:
    """Expected rows by number, level and place, in which levels of no place are lower than those of
    the place before.

    Noise has them otherwise, but no chain can go back. By isotonic regression of how many rows have
    at most a level, which keeps how many have which level at all places together.
    """
    most = rows.sum(axis=1, keepdims=True)
    below = rows.cumsum(axis=1)
    n_places = rows.shape[2]
    sums, weights = (
        np.append(np.zeros((*table.shape[:2], 1)), table.cumsum(axis=2), axis=2)
        for table in (below, most)
    )

    def mean(first: int, last: int) -> FloatArray:
        return np.asarray(
            np.divide(
                sums[..., last + 1] - sums[..., first],
                weights[..., last + 1] - weights[..., first],
                out=np.zeros(below.shape[:2]),
                where=weights[..., last + 1] > weights[..., first],
            )
        )

    # The least of the largest means of neighbouring places is what pooling violators comes to.
    shares = [
        np.min(
            [
                np.max([mean(first, last) for last in range(place, n_places)], axis=0)
                for first in range(place + 1)
            ],
            axis=0,
        )
        for place in range(n_places)
    ]
    return np.asarray(np.diff(np.stack(shares, axis=2), axis=1, prepend=0.0) * most)


def later_in_order(
    firsts: NDArray[np.intp],
    counts: NDArray[np.intp],
    rows: FloatArray,
    generator: np.random.Generator,
) -> NDArray[np.intp]:
    """Levels of rows in order, those of one parent together: its first one, and as many as it has
    besides, drawn one by one from levels that are no lower, so that later rows have each level as
    often as is released.

    Parameters
    ----------
    firsts, counts
        Of each parent that has rows the level of the first one, and how many it has.
    rows
        Expected later rows by number of rows of the parent, and level.
    """
    owners = np.repeat(np.arange(len(counts)), counts)
    values = firsts[owners]
    later = np.ones(len(owners), np.bool_)
    later[np.cumsum(counts) - counts] = False
    for number in np.unique(counts[counts > 1]):
        shares = np.maximum(rows[number], 1e-9)
        places = np.flatnonzero(later & (counts[owners] == number))
        present = np.bincount(values[places], minlength=len(shares)) / len(places)
        # Levels that are no lower than a late first one would else be drawn too often: some
        # parents have no others.
        table = np.triu(np.outer(present, shares / shares.sum()))
        wanted: dict[tuple[int, ...], FloatArray] = {(1,): shares / shares.sum(), (0,): present}
        table = raked(table / table.sum(), wanted, tolerance=_TOLERANCE, max_rounds=_MAX_ROUNDS)
        for first in np.flatnonzero(present):
            some = places[firsts[owners[places]] == first]
            chances = table[first] if table[first].any() else np.eye(len(shares))[first]
            values[some] = generator.choice(len(shares), len(some), p=chances / chances.sum())
    return values


def _shares(rows: FloatArray, *, axis: int) -> FloatArray:
    """Rows as shares of those on an axis; none where there are none."""
    sums = rows.sum(axis=axis, keepdims=True)
    return np.asarray(np.divide(rows, sums, out=np.zeros_like(rows), where=sums > 0))
