"""Moving the records of a table, one after the other, until its marginals are as wanted.

Gradual updates of records as in GUM [PrivSyn], with moves of one attribute (or of those that a
constraint ties together) instead of whole cells: each record in turn takes the value whose cells
lack records, judged over *all* wanted marginals that the attribute is in, so that no marginal is
mended at the cost of others. Every move is accounted for before the next record is looked at: none
collides with another, and the weighted squared distance only falls.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.inference.rows.move_kernel import count, sweep
from synthdp.inference.rows.wanted_tables import WantedTables

Records = NDArray[np.int32]

_FAR = 0.05
"""A sweep that changed more than this share of the codes is followed by another one."""
_ROWS_AT_ONCE = 1 << 16
"""Rows that the compiled loop moves before Python hears a Ctrl-C."""


@final
@dataclass(frozen=True, kw_only=True)
class RecordMoves:
    """Moves records towards marginals.

    Parameters
    ----------
    min_sweeps, max_sweeps
        Fewest and most rounds over all records; those beyond the fewest follow rounds that changed
        more than a twentieth of the codes.
    """

    min_sweeps: int = 2
    max_sweeps: int = 3

    def move(
        self,
        records: Records,
        wanted: WantedTables,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> tuple[int, bool]:
        """Move records in place; how many rounds it took, and whether the last one changed little.

        Parameters
        ----------
        records
            Codes, shape ``(n_attributes, n_rows)``, in random order; all are possible.
        wanted
            What their marginals should be.
        progress
            Called with (rounds done, rounds at most).
        """
        n_rows = records.shape[1]
        if not n_rows or not wanted:
            return 0, True
        # One record side by side in memory: the loop goes record by record.
        rows = np.ascontiguousarray(records.T)
        counts = np.zeros(wanted.n_cells)
        count(rows, wanted.layout, counts)
        # Half the memory of doubles, and costs are of noisy counts: seven digits are more than they
        # have.
        costs = wanted.costs(counts, n_rows).astype(np.float32)
        weights = wanted.weights(n_rows).astype(np.float32)
        # At first everything is tried where leaving gains anything.
        retry = np.zeros((n_rows, len(records) + wanted.ties.n_values.size), dtype=np.float32)
        n_sweeps, has_settled = 0, False
        while n_sweeps < self.min_sweeps or not (has_settled or n_sweeps >= self.max_sweeps):
            n_changed = 0
            # Compiled code does not listen to signals.
            for start in range(0, n_rows, _ROWS_AT_ONCE):
                some = slice(start, start + _ROWS_AT_ONCE)
                n_changed += sweep(
                    rows[some],
                    costs,
                    weights,
                    wanted.layout,
                    wanted.ties,
                    wanted.movable,
                    retry[some],
                )
            # Two rounds always, as the second one sees what the first did to rows before; a third
            # where much still moves.
            has_settled = n_changed <= _FAR * records.size
            n_sweeps += 1
            if progress is not None:
                progress(n_sweeps, self.max_sweeps)
        records[:] = rows.T
        return n_sweeps, has_settled
