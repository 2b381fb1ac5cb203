"""Counts of rows that do not all count the same: whole units of weight, so that all stays exact."""

from collections.abc import Iterator, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.records.coded_source import CodedSource
from synthdp.data.records.placed_source import PlacedSource

CLASS = "class of weight"
"""The attribute that says how much a row counts; nobody else sees it."""


@final
class WeightedSource(Sensitive):
    """Exact counts in units of weight. Only the privacy kernel may ask them.

    Each row counts as often as its class says. Sensitivity: the rows of one unit of privacy count
    ``max_rows`` in all, at most, so they are to the kernel what so many records of one person are.

    Parameters
    ----------
    rows
        Counts of the rows, by their attributes and `CLASS`.
    weights
        How often a row of each class counts.
    unit, max_rows
        What tells units of privacy apart, and how much one of them counts at most.
    """

    __slots__ = ("_rows", "_weights", "max_rows", "unit")

    def __init__(
        self, rows: CodedSource | PlacedSource, weights: Sequence[int], *, unit: str, max_rows: int
    ) -> None:
        self._rows = rows
        self._weights = np.array(weights, dtype=np.int64)
        self.unit, self.max_rows = unit, max_rows

    @property
    def domain(self) -> Domain:
        """Names and numbers of levels."""
        names = self._rows.domain.attributes
        return self._rows.domain.project(tuple(name for name in names if name != CLASS))

    def counts_of(self, cliques: Sequence[Clique]) -> Iterator[NDArray[np.int64]]:
        """Weights of the rows in each cell of each clique, in the order asked for."""
        for counts in self._rows.counts_of([(*clique, CLASS) for clique in cliques]):
            # Whole numbers throughout: a family counts exactly its units of weight, never a float
            # near them.
            yield counts @ self._weights
