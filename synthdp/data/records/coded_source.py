"""Sources: where exact counts come from. Only the privacy kernel may ask them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.imports import import_named
from synthdp.data.asking.sensitive import Sensitive
from synthdp.data.codes.coded_table import CodedTable
from synthdp.data.counting.covering import Axes, in_batches
from synthdp.data.counting.dominant import counts_of_all
from synthdp.data.counting.joint import JointCounter

if TYPE_CHECKING:
    from synthdp.data.records.derived_column import DerivedColumn

DERIVED_TABLE = "synthdp.data.records.derived_column:derived_table"
"""Loaded where a run measures how well a column is predicted."""

KEPT_CELLS = 2**24
"""Most cells of exact counts that a source keeps (128 MiB), and most that it counts ahead of
delivery.
"""


@final
class CodedSource(Sensitive):
    """Exact counts of the sensitive table, held in memory as level codes.

    It shows nothing of the table but its domain: no length, no rows, no text; it is not pickled or
    copied. Counts are kept, first come first kept, up to `KEPT_CELLS` cells in all: mechanisms ask
    for the same marginals in every round. What is answered and kept follows from the domain and the
    cliques asked for, never from the rows; how it is counted, and so the seconds, may.

    >>> table = CodedTable(
    ...     Domain.from_sizes({"a": 2, "b": 3}), (np.array([0, 1, 1]), np.array([2, 0, 0]))
    ... )
    >>> CodedSource(table).counts(("a", "b")).tolist()
    [[0, 0, 1], [2, 0, 0]]
    """

    __slots__ = ("_kept", "_room_cells", "_table")

    def __init__(self, table: CodedTable) -> None:
        self._table = table
        self._kept: dict[frozenset[int], tuple[Axes, NDArray[np.int64]]] = {}
        self._room_cells = KEPT_CELLS

    @property
    def domain(self) -> Domain:
        """Names and numbers of levels."""
        return self._table.domain

    def derived(self, columns: "Sequence[DerivedColumn]") -> "CodedSource":
        """Exact counts of derived columns of the same rows; raises as `DerivedColumn.check`."""
        return CodedSource(import_named(DERIVED_TABLE)(columns, self.domain, [self._table]))

    def counts(self, clique: Clique) -> NDArray[np.int64]:
        """Number of rows in each cell of a marginal, one axis an attribute; read-only.

        The empty clique gives the number of rows as a 0-d array. Raises as `counts_of`.
        """
        return next(self.counts_of([clique]))

    def counts_of(self, cliques: Sequence[Clique]) -> Iterator[NDArray[np.int64]]:
        """Counts of many marginals, read-only, in the order asked for.

        Few, wider tables are counted, each in one pass over the rows or some of them, and summed
        down: a good deal less work than clique by clique. At most about `KEPT_CELLS` cells are
        counted ahead of delivery.

        Raises
        ------
        ParameterError
            If an attribute of a clique is not in the domain, or repeats; before anything is
            counted.
        """
        return in_batches(cliques, self.domain, self._counted, most_cells=KEPT_CELLS)

    def _counted(self, wanted: Sequence[Axes]) -> Iterator[NDArray[np.int64]]:
        """Counts of some marginals, kept ones or from the rows."""
        fresh = list(
            {
                members: axes for axes in wanted if (members := frozenset(axes)) not in self._kept
            }.values()
        )
        counted = counts_of_all(self._rows(), fresh)
        tables = {
            frozenset(axes): (axes, self._keep(axes, counts)) for axes, counts in counted.items()
        }
        for axes in wanted:
            yield _view(*(tables.get(frozenset(axes)) or self._kept[frozenset(axes)]), axes)

    def _keep(self, axes: Axes, counts: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Keep counts if there is room, in the axis order first asked for; returns them read-only."""
        # A copy: the wider table they were summed from is let go.
        owned = np.array(counts, dtype=np.int64, order="C")
        owned.flags.writeable = False  # of the owner, so that no view of it can be made writeable
        members = frozenset(axes)
        # First come, first kept: which counts are kept follows from the questions, never from the
        # rows.
        if owned.size <= self._room_cells and members not in self._kept:
            self._kept[members] = axes, owned
            self._room_cells -= owned.size
        return owned.view()

    def _rows(self) -> JointCounter:
        columns = self._table.columns
        return JointCounter(
            dict(enumerate(columns)), self.domain.shape, len(columns[0]) if columns else 0
        )


def _view(order: Axes, counts: NDArray[np.int64], axes: Axes) -> NDArray[np.int64]:
    return counts.transpose([order.index(axis) for axis in axes])
