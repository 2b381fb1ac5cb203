"""Counts from an engine: few, wide group-bys over codes, of which combinations and counts come here
and no row.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import SourceError
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.counting.covering import Axes, batches, cover, in_batches, marginals
from synthdp.data.engines.engine_frame import EngineFrame, Total

TABLE_CELLS = 2**18
"""Most cells of a table that covers several marginals: fewer scans, for answers of more lines."""

QUERY_CELLS = 2**22
"""Most cells of the tables that one query counts, of which each that is not empty is a line of its
answer.
"""

KEPT_CELLS = 2**24
"""Most cells of exact counts that a source keeps (128 MiB), and most that it counts ahead of
delivery.
"""


@final
class EngineSource(Sensitive):
    """Exact counts of a table in an engine. Only the privacy kernel may ask it.

    It shows nothing of the table but its domain, and is not pickled or copied. Which tables are
    counted, and which of them are kept, follows from the domain and the cliques asked for, never
    from the rows.

    Parameters
    ----------
    frame
        The codes of the rows.
    domain
        Names and numbers of levels.
    names
        For each attribute of the domain what the column of its codes is called.
    """

    __slots__ = ("__weakref__", "_domain", "_frame", "_kept", "_kept_cells", "_names", "_total")

    def __init__(self, frame: EngineFrame, domain: Domain, names: Sequence[str]) -> None:
        self._frame = frame
        self._domain = domain
        self._names = list(names)
        self._kept: list[tuple[frozenset[int], Axes, NDArray[np.int64]]] = []
        self._kept_cells = 0
        self._total = Total(frame.engine)

    @property
    def domain(self) -> Domain:
        """Names and numbers of levels."""
        return self._domain

    def counts_of(self, cliques: Sequence[Clique]) -> Iterator[NDArray[np.int64]]:
        """Counts of the cells of many marginals, one axis an attribute, in the order asked for;
        read-only.

        Few, wider tables are counted, each by one scan in the engine, and summed down here. What
        was counted once is not asked for again while there is room.

        Raises
        ------
        ParameterError
            If an attribute of a clique is not in the domain, or repeats; before anything is
            counted.
        SourceError
            If the engine fails, or the table was changed between two scans.
        """
        return in_batches(cliques, self._domain, self._counted, most_cells=KEPT_CELLS)

    def _counted(self, wanted: Sequence[Axes]) -> Iterator[NDArray[np.int64]]:
        """Counts of some marginals, from kept tables or from the engine."""
        counted: dict[frozenset[int], tuple[Axes, NDArray[np.int64]]] = {}
        fresh: dict[frozenset[int], Axes] = {}
        for axes in wanted:
            # A scan of a remote table is dear: whatever can be summed from what is here is not
            # asked again.
            wider = self._wider(frozenset(axes))
            if wider is None:
                fresh[frozenset(axes)] = axes
            else:
                counted |= _summed(*wider, [axes])
        left = list(fresh.values())
        tables = list(cover(left, self._domain.shape, table_cells=TABLE_CELLS))
        # Several tables by one query, as long as the answer stays small.
        for some in batches([axes for axes, _ in tables], self._domain.shape, QUERY_CELLS):
            for (table, indices), counts in zip(
                tables[: len(some)], self._count(some), strict=True
            ):
                self._keep(table, counts)
                counted |= _summed(table, counts, [left[index] for index in indices])
            del tables[: len(some)]
        for axes in wanted:
            order, counts = counted[frozenset(axes)]
            yield counts.transpose([order.index(axis) for axis in axes])

    def _wider(self, members: frozenset[int]) -> tuple[Axes, NDArray[np.int64]] | None:
        """The smallest kept table that has some attributes."""
        wider = [(axes, counts) for others, axes, counts in self._kept if members <= others]
        return min(wider, key=lambda table: table[1].size, default=None)

    def _keep(self, axes: Axes, counts: NDArray[np.int64]) -> None:
        if counts.size <= KEPT_CELLS:
            self._kept.append((frozenset(axes), axes, counts))
            self._kept_cells += counts.size
        # The oldest goes first. Which are kept follows from the questions only.
        while self._kept_cells > KEPT_CELLS:
            self._kept_cells -= self._kept.pop(0)[2].size

    def _count(self, tables: Sequence[Axes]) -> Iterator[NDArray[np.int64]]:
        """Count some tables, by one query."""
        shapes = [{self._names[axis]: self._domain.shape[axis] for axis in axes} for axes in tables]
        for shape, (cells, n_rows) in zip(
            shapes, self._frame.grouped_often(shapes, "counting rows"), strict=True
        ):
            counts = np.zeros(prod(shape.values()), dtype=np.int64)
            # An engine that gives a code beyond the domain has not coded as it was asked to;
            # nothing is counted by it.
            if cells.size and int(cells.max()) >= counts.size:
                raise SourceError(
                    f"{self._frame.engine}: it gave a code that no level has; do not count by it"
                )
            np.add.at(counts, cells, n_rows)
            self._total.check(int(counts.sum()))
            yield counts.reshape(tuple(shape.values()))


def _summed(
    table: Axes, counts: NDArray[np.int64], wanted: Sequence[Axes]
) -> dict[frozenset[int], tuple[Axes, NDArray[np.int64]]]:
    """Marginals of a table, each a read-only array of its own."""
    narrower = {}
    for axes, summed in zip(wanted, marginals(counts, table, wanted), strict=True):
        owned = np.array(summed, order="C")
        owned.flags.writeable = False  # of the owner, so that no view of it can be made writeable
        narrower[frozenset(axes)] = axes, owned
    return narrower
