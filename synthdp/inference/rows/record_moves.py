"""Moving the records of a table, one after the other, until its marginals are as wanted.

Gradual updates of records as in GUM [PrivSyn], with moves of one attribute (or of those that a
constraint ties together) instead of whole cells: each record in turn takes the value whose cells
lack records, judged over *all* wanted marginals that the attribute is in, so that no marginal is
mended at the cost of others. Every move is accounted for before the next record is looked at: none
collides with another, and the weighted squared distance only falls, but for what blocks of very
many records do at the same time, and for the first rounds, in which records are eager to move: each
also makes moves that cost a little, less and less, so that it does not stay where no single move
gains (simulated annealing [Kirkpatrick, Gelatt, Vecchi 1983]).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.jobs import each, thread_count
from synthdp.inference.rows.move_kernel import Floats, Trends, count, sweep
from synthdp.inference.rows.wanted_tables import WantedTables

Records = NDArray[np.int32]

_SWEEPS = ((1 << 14, 18, 3), (1 << 18, 3, 1), (math.inf, 0, 2))
"""Up to so many records so many rounds in which they are eager, and so many in which they are not.

Eager rounds bring marginals 7 to 13 % closer: 18 of them those of at most 9,000 records (Titanic,
and three tables of other packages, epsilon 1 and 10; without them 200 rounds are no closer than 6),
three those of 20,000 to 54,000 (Adult, NLTCS, and two of other packages) for half as much time
again. Eight would bring the latter 2 to 7 % closer still, for twice the time; another one that is
not eager 0 to 3 %, for a fifth of it.
"""
_EAGERNESS = (0.5, 0.05)
"""Mean of what an eager record loses at most, in the first such round and in the last one: a record
too many in a cell that expects none costs a half.

From .2 or from 1 on, and down to .03 or .1, marginals are as close to a hundredth.
"""
_FAR = 0.05
"""Records of which the last round changed more than this share of the codes have not settled."""
_BLOCK_ROWS, _MAX_BLOCKS = 1 << 16, 8
"""Records that are moved by themselves, at least, in all rounds but the last, and parts at most.
Other numbers would make other rows of the same seed; of a million the last round makes up for it.
"""
_ROWS_AT_ONCE = 1 << 16
"""Rows that the compiled loop moves before Python hears a Ctrl-C."""


@final
@dataclass(frozen=True, kw_only=True)
class RecordMoves:
    """Moves records towards marginals.

    In all rounds but the last, many records are moved in blocks that know nothing of each other:
    each mends its part of what is to be mended. So several threads can work at once, and records
    are the same however many there are. The last round is one block.
    """

    n_sweeps: int | None = None
    """Rounds over all records, at least 1; None: 2 to 21, more for fewer records."""

    def move(
        self,
        records: Records,
        wanted: WantedTables,
        *,
        n_jobs: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[int, bool]:
        """Move records in place; how many rounds it took, and whether the last one changed little.

        Parameters
        ----------
        records
            Codes, shape ``(n_attributes, n_rows)``, in random order; all are possible.
        wanted
            What their marginals should be.
        n_jobs
            Threads; -1 for as many as there are cores.
        progress
            Called with (rounds done, rounds at most).
        """
        n_rows = records.shape[1]
        if not n_rows or not wanted:
            return 0, True
        # One record side by side in memory: the loop goes record by record.
        rows = np.empty(records.shape[::-1], dtype=np.int32)
        blocks = np.array_split(rows, min(max(n_rows // _BLOCK_ROWS, 1), _MAX_BLOCKS))
        # What does not depend on how rows are cut has a part a thread.
        counted = np.array_split(rows, thread_count(n_jobs))
        drawn = np.array_split(records.T, thread_count(n_jobs))
        each(_copied, zip(counted, drawn, strict=True), n_jobs=n_jobs)
        n_eager, n_calm = self._sweeps_of(n_rows)
        n_sweeps = n_eager + n_calm
        eagerness = [*np.geomspace(*_EAGERNESS, n_eager).tolist(), *[0.0] * n_calm]
        n_changed = 0
        # Counted once, and then kept up to date by what moves.
        counts = np.asarray(sum(each(partial(_counts, wanted), counted, n_jobs=n_jobs)))
        gaps = wanted.gaps(rows)
        for done in range(1, n_sweeps + 1):
            parts = blocks if done < n_sweeps else [rows]
            costs, weights = wanted.priced(counts, n_rows, n_parts=len(parts))
            trends = wanted.trends(gaps, n_rows, n_parts=len(parts))
            one = _Sweep(costs, weights, trends, wanted, eagerness[done - 1])
            seeds = [(done, number) for number in range(len(parts))]
            n_changed = 0
            for moved in each(one, zip(seeds, parts, strict=True), n_jobs=n_jobs):
                n_changed += moved.n_changed
                counts += moved.counts
                gaps += moved.gaps
            if progress is not None:
                progress(done, n_sweeps)
        each(_copied, zip(drawn, counted, strict=True), n_jobs=n_jobs)
        return n_sweeps, n_changed <= _FAR * records.size

    def _sweeps_of(self, n_rows: int) -> tuple[int, int]:
        if self.n_sweeps is not None:
            return 0, self.n_sweeps
        return next((eager, calm) for most, eager, calm in _SWEEPS if n_rows <= most)


def _copied(arrays: tuple[NDArray[np.int32], NDArray[np.int32]]) -> None:
    """Give the first of two arrays the values of the second."""
    np.copyto(*arrays)


def _counts(wanted: WantedTables, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    counts = np.zeros(wanted.n_cells, dtype=np.int32)
    count(rows, wanted.layout, counts)
    return counts


class _Moved(NamedTuple):
    """What a round over some rows changed."""

    n_changed: int
    """How many codes."""
    counts: NDArray[np.int32]
    """How many rows more each cell has."""
    gaps: NDArray[np.float64]
    """By how much more rank correlations are off."""


@final
@dataclass(frozen=True)
class _Sweep:
    """One round over some rows, from what each cell costs at its start."""

    costs: Floats
    weights: Floats
    trends: Trends
    wanted: WantedTables
    eagerness: float

    def __call__(self, part: tuple[tuple[int, int], NDArray[np.int32]]) -> _Moved:
        """Move rows, with a seed for how eager each is."""
        seed, rows = part
        # Which record is where is random: what these numbers are need not be.
        generator = np.random.default_rng(seed)
        wanted = self.wanted
        costs = self.costs.copy()
        trends = self.trends._replace(gaps=self.trends.gaps.copy())
        n_changed = 0
        more = np.zeros(wanted.n_cells, dtype=np.int32)
        # Compiled code does not listen to signals.
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            some = rows[start : start + _ROWS_AT_ONCE]
            eager = np.empty((0, 0), dtype=np.float32)
            if self.eagerness > 0.0:
                eager = generator.standard_exponential(some.shape, dtype=np.float32)
                eager *= np.float32(self.eagerness)
            n_changed += sweep(
                some,
                costs,
                self.weights,
                wanted.layout,
                wanted.ties,
                trends,
                wanted.movable,
                eager,
                more,
            )
        return _Moved(n_changed, more, trends.gaps - self.trends.gaps)
