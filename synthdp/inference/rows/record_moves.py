"""Moving the records of a table, a few at a time, until its marginals are as wanted.

Gradual updates of records as in GUM [PrivSyn], with moves of one attribute (or of those that a
constraint ties together) instead of whole cells: a record in crowded cells takes the value whose
cells lack records, judged over *all* wanted marginals that the attribute is in, so
that no marginal is mended at the cost of others. Many records move at once; where so many would
leave or fill one cell that they overshoot, each of them moves only with some chance. A batch that
overshoots all the same is dropped: the squared distance to the wanted marginals only falls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.inference.arrays import Array, IntArray, cell_counts, cell_numbers
from synthdp.inference.drawing import draw_each
from synthdp.inference.graphical.possible_rows import possible_cells
from synthdp.inference.rows.record_blocks import Block, Moves, View, blocks_of

Records = NDArray[np.int32]

_CHUNK_CELLS = 1 << 20
"""Gains held at once: 8 MB, which stay in a processor's cache."""
_CROWDING = 0.5
"""Mean surplus, in records, of the cells that a record must be in to be looked at; others would gain little."""


@final
@dataclass(frozen=True, kw_only=True)
class RecordMoves:
    """Moves records towards marginals.

    Parameters
    ----------
    max_sweeps
        Most rounds over all attributes.
    tolerance
        Stop when ``window`` rounds together lowered the squared distance by less than this share.
    window
        Number of rounds over which progress is judged.
    share
        Share of the records that a round looks at for each attribute, above 0 and at most 1.
    """

    max_sweeps: int = 200
    tolerance: float = 0.05
    window: int = 10
    share: float = 0.15

    def move(
        self,
        records: Records,
        targets: Mapping[Clique, Array],
        *,
        domain: Domain,
        constraints: Sequence[Constraint],
        generator: np.random.Generator,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[int, bool]:
        """Move records in place; how many rounds it took, and whether the stopping rule was met.

        Parameters
        ----------
        records
            Codes, shape ``(n_attributes, n_rows)``, in random order; all are possible.
        targets
            For cliques in the order of the domain the wanted shares, each table summing to 1.
        domain
            The attributes of the records.
        constraints
            What is possible; no record is moved to where it is not.
        generator
            Source of (seeded, not private) randomness.
        progress
            Called with (rounds done, rounds at most).
        """
        table = _Table(records, targets, domain, constraints, generator)
        history = [table.distance]
        converged = records.shape[1] == 0 or not table.blocks
        while not converged and len(history) <= self.max_sweeps:
            table.sweep(self.share)
            history.append(table.distance)
            before = history[max(len(history) - 1 - self.window, 0)]
            enough = len(history) > self.window and before - history[-1] <= self.tolerance * before
            converged = enough or history[-1] == 0.0
            if progress is not None:
                progress(len(history) - 1, self.max_sweeps)
        return len(history) - 1, converged


class _Table:
    """Records, and by how many each cell of each wanted marginal has too many of them."""

    def __init__(
        self,
        records: Records,
        targets: Mapping[Clique, Array],
        domain: Domain,
        constraints: Sequence[Constraint],
        generator: np.random.Generator,
    ) -> None:
        self._records = records
        self._domain = domain
        self._generator = generator
        self._n_rows = records.shape[1]
        self._cliques = list(targets)
        self._surplus = [
            cell_counts(domain, clique, tuple(records)) - self._n_rows * target for clique, target in targets.items()
        ]
        # Impossible cells are infinitely crowded; they follow the wanted marginals in the lists.
        possible = possible_cells(domain, constraints)
        self._n_targets = len(targets)
        self._cliques += possible
        self._surplus += [np.where(allowed, 0.0, np.inf) for allowed in possible.values()]
        self.blocks = [(block, views) for block in blocks_of(domain, possible) if (views := self._views(block))]

    @property
    def distance(self) -> float:
        """Squared distance to the wanted marginals, in counts."""
        return float(sum(np.vdot(surplus, surplus) for surplus in self._surplus[: self._n_targets]))

    def sweep(self, share: float) -> None:
        """Try to move some records in each block."""
        for i in self._generator.permutation(len(self.blocks)):
            block, views = self.blocks[i]
            self._step(block, views, self._some_rows(share))

    def _step(self, block: Block, views: Sequence[View], rows: IntArray) -> None:
        """Move some of the rows to better values of one block."""
        present = block.number[self._cells(block.names, rows)]
        surplus = [self._surplus_of(view) for view in views]
        outer = [self._cells(view.outer, rows) for view in views]
        values, gains = self._choices(block, views, surplus, outer, present)
        moving = np.flatnonzero(values != present)
        wanted = [view for view in views if view.position < self._n_targets]  # they come before constraints
        moves = [
            Moves(table, cells[moving] * table.shape[1], view.inner[present[moving]], view.inner[values[moving]])
            for table, cells, view in zip(surplus, outer, wanted, strict=False)
        ]
        collisions = np.sum([move.collisions() for move in moves], axis=0)
        kept = self._generator.random(moving.size) * collisions <= gains[moving]
        moves = [move.only(kept) for move in moves]
        self._carry_out(block, wanted, moves, rows[moving[kept]], values[moving[kept]])

    def _choices(
        self,
        block: Block,
        views: Sequence[View],
        surplus: Sequence[Array],
        outer: Sequence[IntArray],
        present: IntArray,
    ) -> tuple[IntArray, Array]:
        """For each row a value of the block, the present one if no other is better, and what it gains."""
        # Half the squared distance falls by the surplus left behind less that arrived at, less 1 a marginal.
        n_targets = sum(view.position < self._n_targets for view in views)
        relief = np.full(present.size, -float(n_targets))
        for table, cells, view in zip(surplus, outer, views, strict=True):
            relief += table[cells, view.inner[present]]
        crowded = np.flatnonzero(relief > -_CROWDING * n_targets)
        values, gains = present.copy(), np.zeros(present.size)
        chunk = max(_CHUNK_CELLS // len(block.values), 1)
        for start in range(0, crowded.size, chunk):
            some = crowded[start : start + chunk]
            better = np.repeat(relief[some, None], len(block.values), axis=1)
            for table, cells, view in zip(surplus, outer, views, strict=True):
                reached = table[cells[some]]
                better -= reached if len(block.names) == 1 else reached[:, view.inner]
            values[some], gains[some] = self._choice(better, present[some])
        return values, gains

    def _choice(self, gains: Array, present: IntArray) -> tuple[IntArray, Array]:
        """For each row a value drawn in proportion to its squared gain, and that gain."""
        records = np.arange(present.size)
        gains[records, present] = 0.0
        np.maximum(gains, 0.0, out=gains)
        drawn = draw_each(np.square(gains), generator=self._generator)
        values = np.where(drawn >= 0, drawn, present)
        return values, gains[records, values]

    def _carry_out(
        self, block: Block, views: Sequence[View], moves: Sequence["Moves"], rows: IntArray, values: IntArray
    ) -> None:
        """Make a batch of moves if it brings the table closer to what is wanted."""
        changes = [move.change() for move in moves]
        gain = sum(
            float(np.vdot(change, 2.0 * move.table + change)) for move, change in zip(moves, changes, strict=True)
        )
        if gain >= 0:
            return
        for axis, name in enumerate(block.names):
            self._records[self._domain.index(name), rows] = block.values[values, axis]
        for view, change in zip(views, changes, strict=True):
            turned = np.transpose(self._surplus[view.position], view.axes)
            turned += change.reshape(turned.shape)

    def _some_rows(self, share: float) -> IntArray:
        """A stretch of rows; as rows are in random order, it is as good as a random choice."""
        size = min(max(int(share * self._n_rows), 1), self._n_rows)
        start = int(self._generator.integers(self._n_rows))
        rows = np.arange(start, start + size)
        rows[rows >= self._n_rows] -= self._n_rows
        return rows

    def _surplus_of(self, view: View) -> Array:
        """The surplus as a table of outer by inner cells."""
        turned = np.transpose(self._surplus[view.position], view.axes)
        return turned.reshape(self._domain.size(view.outer), -1)

    def _cells(self, names: Clique, rows: IntArray) -> IntArray:
        """For some rows the number of their cell in the flat marginal of some attributes."""
        columns = (self._records[self._domain.index(name), rows] for name in names)
        return cell_numbers(self._domain, names, columns, rows.size)

    def _views(self, block: Block) -> list[View]:
        """How a block sees each marginal that it changes; none if it changes no wanted one."""
        views = []
        for position, clique in enumerate(self._cliques):
            inner = tuple(name for name in block.names if name in clique)
            if inner:
                outer = tuple(name for name in clique if name not in inner)
                axes = [clique.index(name) for name in outer + inner]
                columns = [block.values[:, block.names.index(name)] for name in inner]
                cells = np.ravel_multi_index(columns, self._domain.project(inner).shape)
                views.append(View(position, outer, axes, cells))
        return views if any(view.position < self._n_targets for view in views) else []
