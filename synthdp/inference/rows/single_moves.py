"""Moving single records, always the one that gains most, with exact account of what that changes
for the others.
"""

from collections.abc import Sequence

import numpy as np

from synthdp.inference.arrays import Array, IntArray


def best_moves(
    gains: Array, present: IntArray, shared: Sequence[tuple[IntArray, Array]]
) -> IntArray:
    """New values of records, each moved at most once, in the order of what that gains; see
    `RecordMoves`.

    Parameters
    ----------
    gains
        What each record gains by each value, shape ``(n_values, n_records)``, and -inf by those
        that it cannot have. Changed in place.
    present
        The values that the records have, shape ``(n_records,)``.
    shared
        For the marginals that have the same attributes in common with the block: for each value
        their cell (`StackedViews.inner`), and for each two records how many of the marginals have
        both in the same row.
    """
    values = present.copy()
    while gains.size:
        value, record = divmod(int(gains.argmax()), gains.shape[1])
        if not gains[value, record] > 0.0:
            break
        for inner, together in shared:
            # A cell gained counts one less for who leaves it, one more for who comes; a cell left
            # the other way.
            filled = (inner == inner[value]).astype(np.float64) - (inner == inner[present[record]])
            gains += together[record] * (filled[present] - filled[:, None])
        gains[:, record] = -np.inf
        values[record] = value
    return values
