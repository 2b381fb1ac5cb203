"""Moving the records of a table, a few at a time, until its marginals are as wanted.

Gradual updates of records as in GUM [PrivSyn], with moves of one attribute (or of those that a
constraint ties together) instead of whole cells: a record in crowded cells takes the value whose
cells lack records, judged over *all* wanted marginals that the attribute is in, so
that no marginal is mended at the cost of others. Where many records would move, they do so at once,
and where they would leave or fill the same cells and overshoot, each of them moves only with some
chance, and fewer records are looked at the next time. A batch that overshoots all the same is
dropped. Then those that gain most move one by one, with no need of chance: the squared distance to
the wanted marginals only falls.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array, IntArray, cell_counts, cell_numbers
from synthdp.inference.drawing import draw_each
from synthdp.inference.graphical.possible_rows import possible_cells
from synthdp.inference.rows.record_blocks import Block, blocks_of
from synthdp.inference.rows.record_views import Moves, StackedViews, views_of
from synthdp.inference.rows.single_moves import best_moves

Records = NDArray[np.int32]

_CHUNK_CELLS = 1 << 20
"""Gains held at once: 8 MB, which stay in a processor's cache."""
_CROWDING = 0.5
"""Mean surplus, in records, of the cells that a record must be in to be looked at; others would
gain little.
"""
_FEW, _MANY = 0.12, 0.3
"""Shares of the moves found in a block that collisions leave: if few, half as many records would
have done.
"""
_MANY_MOVES, _SINGLE_MOVES = 256, 128
"""Up to so many moves found in a block are not made at once; of the best ones up to so many are
made one by one.
"""
_MIN_ROWS = 20
"""Records of a block to look at, however often their moves collide."""


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
        Most of the records that a round looks at for each attribute, as a share above 0 and at most
        1.
    """

    max_sweeps: int = 200
    tolerance: float = 0.07
    window: int = 5
    share: float = 0.2

    def move(
        self,
        records: Records,
        targets: Mapping[Clique, Array],
        *,
        domain: Domain,
        constraints: Sequence[Constraint],
        generator: np.random.Generator,
        fixed: Collection[str] = (),
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
        fixed
            Attributes that keep their values.
        progress
            Called with (rounds done, rounds at most).
        """
        table = _Table(records, targets, domain, constraints, generator, fixed)
        history = [table.distance]
        has_settled = records.shape[1] == 0 or not table.blocks
        while not has_settled and len(history) <= self.max_sweeps:
            table.sweep(self.share)
            history.append(table.distance)
            before = history[max(len(history) - 1 - self.window, 0)]
            enough = len(history) > self.window and before - history[-1] <= self.tolerance * before
            has_settled = enough or history[-1] == 0.0
            if progress is not None:
                progress(len(history) - 1, self.max_sweeps)
        return len(history) - 1, has_settled


class _Seen(NamedTuple):
    """Records as a block sees them: where they are, their values, and their rows in the tables of
    each view.
    """

    block: Block
    views: Sequence[StackedViews]
    positions: IntArray
    present: IntArray
    rows: Sequence[NDArray[np.int32]]

    @property
    def n_wanted(self) -> int:
        """How many wanted marginals a move changes."""
        return sum(view.n_wanted for view in self.views)

    def only(self, kept: NDArray[Any]) -> "_Seen":
        """Some of the records."""
        rows = [seen[:, kept] for seen in self.rows]
        return self._replace(positions=self.positions[kept], present=self.present[kept], rows=rows)

    def relief(self, tables: Sequence[Array]) -> Array:
        """By how much half the squared distance falls where each record leaves, less what its
        arrival costs.
        """
        # It falls by the surplus left behind less that arrived at, less 1 a marginal.
        relief = np.full(self.present.size, -float(self.n_wanted))
        for view, table, rows in zip(self.views, tables, self.rows, strict=True):
            relief += view.seen(table, rows, self.present)
        return relief

    def moves(self, tables: Sequence[Array], values: IntArray) -> list[Moves]:
        """What it takes to give the records other values."""
        return [
            view.moves(table, rows, self.present, values)
            for view, table, rows in zip(self.views, tables, self.rows, strict=True)
        ]


class _Table:
    """Records, and by how many each cell of each wanted marginal has too many of them."""

    def __init__(
        self,
        records: Records,
        targets: Mapping[Clique, Array],
        domain: Domain,
        constraints: Sequence[Constraint],
        generator: np.random.Generator,
        fixed: Collection[str],
    ) -> None:
        self._records = records
        self._domain = domain
        self._generator = generator
        self._n_rows = records.shape[1]
        columns = tuple(records)
        surplus = [
            cell_counts(domain, clique, columns) - self._n_rows * target
            for clique, target in targets.items()
        ]
        # Impossible cells are infinitely crowded; they follow the wanted marginals.
        possible = possible_cells(domain, constraints)
        surplus += [np.where(allowed, 0.0, np.inf) for allowed in possible.values()]
        self._surplus = np.concatenate([np.empty(0), *(table.ravel() for table in surplus)])
        self._n_cells = sum(target.size for target in targets.values())
        cliques = [*targets, *possible]
        blocks = [
            block for block in blocks_of(domain, possible) if not {*fixed}.intersection(block.names)
        ]
        views = views_of(domain, blocks, cliques, n_wanted=len(targets))
        self.blocks = [(block, seen) for block, seen in zip(blocks, views, strict=True) if seen]
        self._scales = [1.0] * len(self.blocks)

    @property
    def distance(self) -> float:
        """Squared distance to the wanted marginals, in counts."""
        wanted = self._surplus[: self._n_cells]
        return float(np.dot(wanted, wanted))

    def sweep(self, share: float) -> None:
        """Try to move some records in each block, fewer where most of their moves would collide."""
        for i in self._generator.permutation(len(self.blocks)):
            block, views = self.blocks[i]
            size = max(share * self._n_rows * self._scales[i], min(_MIN_ROWS, share * self._n_rows))
            n_found, n_made = self._step(block, views, self._stretch(max(1, int(size))))
            if n_made < _FEW * n_found:
                self._scales[i] /= 2.0 if size > _MIN_ROWS else 1.0
            elif n_made >= _MANY * n_found:
                self._scales[i] = min(2.0 * self._scales[i], 1.0)

    def _step(
        self, block: Block, views: Sequence[StackedViews], stretch: Sequence[slice]
    ) -> tuple[int, int]:
        """Move some of the records of a stretch to better values of one block: how many would, and
        how many may.
        """
        positions = np.concatenate([np.arange(part.start, part.stop) for part in stretch])
        rows = [view.rows_of(self._records, stretch) for view in views]
        seen = _Seen(block, views, positions, block.number[self._cells(block.names, stretch)], rows)
        values, gains = self._choices(seen)
        found = np.flatnonzero(values != seen.present)
        n_made, gains, rest = found.size, gains[found], found
        if found.size > _MANY_MOVES:
            kept = self._move_many(seen.only(found), values[found], gains)
            n_made = int(np.count_nonzero(kept))
            rest, gains = found[~kept], gains[~kept]
        if rest.size > _SINGLE_MOVES:
            rest = rest[np.argpartition(-gains, _SINGLE_MOVES)[:_SINGLE_MOVES]]
        if rest.size:
            self._move_best(seen.only(rest))
        return found.size, n_made

    def _move_many(self, moving: "_Seen", values: IntArray, gains: Array) -> NDArray[np.bool_]:
        """Move records at once, each with a chance that is lower the more its move collides; which
        ones.
        """
        moves = moving.moves([view.table(self._surplus) for view in moving.views], values)
        collisions = np.sum([move.collisions() for move in moves], axis=0)
        kept: NDArray[np.bool_] = self._generator.random(values.size) * collisions <= gains
        self._carry_out(moving.only(kept), [move.only(kept) for move in moves], values[kept])
        return kept

    def _move_best(self, moving: "_Seen") -> None:
        """Move a few records one by one."""
        tables = [view.table(self._surplus) for view in moving.views]
        gains = np.repeat(moving.relief(tables)[None, :], len(moving.block.values), axis=0)
        for view, table, rows in zip(moving.views, tables, moving.rows, strict=True):
            gains -= view.seen_everywhere(table, rows).T
        shared = [
            (view.inner, view.together(rows))
            for view, rows in zip(moving.views, moving.rows, strict=True)
        ]
        values = best_moves(gains, moving.present, shared)
        changed = np.flatnonzero(values != moving.present)
        moving, values = moving.only(changed), values[changed]
        self._carry_out(moving, moving.moves(tables, values), values)

    def _choices(self, seen: "_Seen") -> tuple[IntArray, Array]:
        """For each record a value of the block, the present one if no other is better, and what it
        gains.
        """
        tables = [view.table(self._surplus) for view in seen.views]
        relief = seen.relief(tables)
        crowded = np.flatnonzero(relief > -_CROWDING * seen.n_wanted)
        values, gains = seen.present.copy(), np.zeros(seen.present.size)
        n_values = len(seen.block.values)
        chunk = max(_CHUNK_CELLS // n_values, 1)
        for start in range(0, crowded.size, chunk):
            some = crowded[start : start + chunk]
            better = np.repeat(relief[some, None], n_values, axis=1)
            for view, table, rows in zip(seen.views, tables, seen.rows, strict=True):
                better -= view.seen_everywhere(table, rows[:, some])
            values[some], gains[some] = self._choice(better, seen.present[some])
        return values, gains

    def _choice(self, gains: Array, present: IntArray) -> tuple[IntArray, Array]:
        """For each record a value drawn in proportion to its squared gain, and that gain."""
        records = np.arange(present.size)
        gains[records, present] = 0.0
        np.maximum(gains, 0.0, out=gains)
        drawn = draw_each(np.square(gains), generator=self._generator)
        values = np.where(drawn >= 0, drawn, present)
        return values, gains[records, values]

    def _carry_out(self, moving: "_Seen", moves: Sequence[Moves], values: IntArray) -> None:
        """Make a batch of moves if it brings the table closer to what is wanted."""
        changes = [move.change() for move in moves]
        gain = sum(
            float(np.dot(change, 2.0 * move.surplus + change))
            for move, change in zip(moves, changes, strict=True)
        )
        if gain >= 0:
            return
        block = moving.block
        for axis, name in enumerate(block.names):
            self._records[self._domain.index(name), moving.positions] = block.values[values, axis]
        for view, change in zip(moving.views, changes, strict=True):
            view.add(self._surplus, change)

    def _stretch(self, size: int) -> list[slice]:
        """Rows that follow each other, the first one after the last; rows are in random order, so
        any will do.
        """
        start = int(self._generator.integers(self._n_rows))
        over = start + size - self._n_rows
        return (
            [slice(start, start + size)]
            if over <= 0
            else [slice(start, self._n_rows), slice(0, over)]
        )

    def _cells(self, names: Clique, stretch: Sequence[slice]) -> IntArray:
        """For the records of a stretch the number of their cell in the flat marginal of some
        attributes.
        """
        positions = [self._domain.index(name) for name in names]
        columns = np.concatenate([self._records[positions, part] for part in stretch], axis=1)
        return cell_numbers(self._domain, names, columns, columns.shape[1])
