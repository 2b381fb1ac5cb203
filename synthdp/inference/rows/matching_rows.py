"""Rows that agree with partial records: the rows of a table, grouped by what they have in the given
attributes.
"""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, IntArray, compact, row_keys

_MAX_COMPARED = 1 << 15
"""Distinct rows that a record is compared with: nearest rows of so many are near enough, at 32 kB a
record.
"""
_CHUNK_CELLS = 1 << 22
"""Distances held at once, one byte each: 4 MB."""


@final
class AgreeingRows:
    """For each partial record the rows of a weighted table that agree with it.

    Parameters
    ----------
    domain, columns
        All attributes, and for each the codes of the rows, shape ``(n_rows,)``.
    weights
        Weight of each row, at least 0, some above; rows of weight 0 are as good as absent.
    given
        Codes of the records in some attributes, at least one, each of shape ``(n_records,)``.
    """

    def __init__(
        self,
        domain: Domain,
        columns: Sequence[NDArray[np.integer]],
        weights: Array,
        given: Mapping[str, NDArray[np.integer]],
    ) -> None:
        part = domain.project(tuple(given))
        # Rows of no weight must not be drawn, nor be the nearest.
        self._kept = np.flatnonzero(weights > 0)
        self._weights = weights[self._kept]
        joined = [
            compact(
                np.concatenate([columns[domain.index(name)][self._kept], codes.astype(np.int64)]),
                part[name],
            )
            for name, codes in given.items()
        ]
        # Rows and records are numbered together, so that those that agree have one number.
        keys, _ = row_keys(part, part.attributes, joined, len(joined[0]))
        _, first, groups = np.unique(keys, return_index=True, return_inverse=True)
        self._rows = groups[: self._kept.size]
        self._records = groups[self._kept.size :]
        self._codes = [column[first] for column in joined]
        self._sums = np.bincount(self._rows, self._weights, minlength=first.size)
        self.n_agreeing: IntArray = np.bincount(self._rows, minlength=first.size)[self._records]
        """For each record how many rows agree with it, shape ``(n_records,)``."""

    def drawn(self, records: IntArray, generator: np.random.Generator) -> IntArray:
        """Position of a row that agrees with each of some records, in proportion to weight.

        For a record that no row agrees with, in proportion to weight from the rows that differ
        from it in fewest of the given attributes; where rows differ in more than 32,768 ways,
        only that many, drawn by their weight, are looked through.
        """
        groups = self._records[records].copy()
        lost = np.flatnonzero(self._sums[groups] == 0)
        # A record that no row agrees with borrows the rows of the nearest group that has some.
        groups[lost] = self._nearest(groups[lost], generator)
        # Group by group the shares run from one whole number to the next, but for rounding.
        order = np.argsort(self._rows, kind="stable")
        shares = self._weights[order] / self._sums[self._rows[order]]
        running = np.append(0.0, np.cumsum(shares))
        ends = np.cumsum(np.bincount(self._rows, minlength=self._sums.size))
        low = running[np.append(0, ends[:-1])[groups]]
        high = running[ends[groups]]
        target = low + generator.random(groups.size) * (high - low)
        # Rounding may put it at the end, which belongs to the next group.
        target = np.minimum(target, np.nextafter(high, 0.0))
        return np.asarray(self._kept[order[np.searchsorted(running, target, side="right") - 1]])

    def _nearest(self, groups: IntArray, generator: np.random.Generator) -> IntArray:
        """For groups without rows, one with rows that differs from it in fewest attributes, drawn
        by weight.
        """
        filled = np.flatnonzero(self._sums)
        if filled.size > _MAX_COMPARED:
            shares = self._sums[filled] / self._sums[filled].sum()
            filled = np.sort(generator.choice(filled, _MAX_COMPARED, replace=False, p=shares))
        # Each combination is looked up once, however many records have it.
        lost, members = np.unique(groups, return_inverse=True)
        order = np.argsort(members, kind="stable")
        ends = np.cumsum(np.bincount(members, minlength=lost.size))
        chosen = np.empty_like(groups)
        for start in range(0, lost.size, max(1, _CHUNK_CELLS // filled.size)):
            some = lost[start : start + max(1, _CHUNK_CELLS // filled.size)]
            # In chunks: all at once would take a byte for each pair of combinations.
            distances = np.zeros(
                (some.size, filled.size), dtype=np.min_scalar_type(len(self._codes))
            )
            for codes in self._codes:
                distances += codes[some, None] != codes[None, filled]
            for number, row in enumerate(distances, start):
                # Among the nearest by weight, so that ties favour what the table has most of.
                near = filled[np.flatnonzero(row == row.min())]
                running = np.cumsum(self._sums[near])
                here = order[ends[number - 1] if number else 0 : ends[number]]
                targets = generator.random(here.size) * running[-1]
                chosen[here] = near[
                    np.minimum(np.searchsorted(running, targets, side="right"), near.size - 1)
                ]
        return chosen
