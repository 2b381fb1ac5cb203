"""Values inside of their bins of the column that orders rows of one parent.

Rows are settled one after the other. Values that only had to be no lower than that of the row
before would be late: of three rows in one bin the second one would lie in its upper half on
average, the third in its upper quarter. So values of a bin are drawn each by itself, and then put
in order; where it was released how far rows are from the row before, they are so far from it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import ModelTooLargeError
from synthdp.inference.arrays import CodeColumn
from synthdp.linked.families.fitted_view import FittedView
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view_rules import order_check
from synthdp.schema.axes.axis import Axis
from synthdp.schema.rules.rules import is_check, names_in

Ints = NDArray[np.intp]

_HARDLY = 1e-9
"""Expected rows that are none."""

_MOST_DRAWS = 32
"""Rows that are left in a bin of which the first is drawn: of more it lies where it begins."""


def order_within_bins(
    frame: pd.DataFrame,
    fitted: Sequence[FittedView],
    codes: Mapping[str, CodeColumn],
    parents: Ints,
    positions: Ints,
    generator: np.random.Generator,
    *,
    text: bool,
) -> pd.DataFrame:
    """Rows with fresh values in the column of order, no row before the one that it stands behind;
    as they are where anything else hangs on these values.

    Parameters
    ----------
    frame
        Values of the table's own columns, one row each, of relative columns distances.
    fitted
        The views of first rows, and of later ones if there are any; none of keys alone.
    codes
        Of the table's own attributes, each of shape ``(n_rows,)``: which bin each value is in.
    parents, positions
        As `DrawnRows` has them.
    generator
        Source of (seeded, not private) randomness.
    text
        Whether values are texts in the formats of the schema.
    """
    if len(fitted) < 2 or (table := fitted[0].view.table).order is None:
        return frame
    if not all(map(_is_free, fitted)):
        return frame
    name = f"{table.name}.{table.order}"
    own = codes[name]
    axes = [view.schema[name].axis for view in fitted if view.schema is not None]
    first, axis = axes
    assert first is not None
    assert axis is not None
    gaps = _drawn_gaps(fitted[1], own, np.flatnonzero(positions > 0), generator)
    if gaps is not None:
        points = _points_by_gaps(axis, own, positions, gaps, generator)
    else:
        points = np.zeros(len(own), np.int64)
        for each, rows in zip((first, axis), (positions == 0, positions > 0), strict=True):
            points[rows] = each.draw(own[rows], generator)
        # Codes stay with their rows, whatever the points are.
        points[np.lexsort((positions, own, parents))] = points[np.lexsort((points, own, parents))]
    made = axis.texts_at if text else axis.values_at
    values = pd.Series(made(points, axis.is_missing(own)), dtype=object if text else None)
    return frame.assign(**{table.order: values.set_axis(frame.index)})


def _drawn_gaps(
    fitted: FittedView, codes: CodeColumn, later: Ints, generator: np.random.Generator
) -> NDArray[np.int64] | None:
    """Of all rows the shortest and the longest gap from the row before, in grid points of the column
    of order, shape ``(2, n_rows)``, given the bins of both; 0 of rows that are not later ones. None
    of views that were released without gaps, and where the model has the bins of both rows so far
    apart that it cannot table them.
    """
    view, model, known = fitted.view, fitted.model, fitted.view.gaps
    if known is None or known.name not in model.domain.attributes:
        return None
    name = f"{view.name}.{view.table.order}"
    starts, lengths = known.axis.drawn_starts, known.starts
    n_bins = len(starts) - 1
    try:
        shares = np.maximum(model.marginal((OTHER + name, name, known.name)).values, 0.0)
    except ModelTooLargeError:
        return None
    # Rows of two bins are no nearer to each other than these are, and no further than their ends.
    nearest = starts[:-1] - starts[1:, None] + 1
    furthest = starts[1:] - 1 - starts[:-1, None]
    possible = (lengths[:-1] <= furthest[..., None]) & (lengths[1:] > nearest[..., None])
    cells = np.where(possible, shares[:n_bins, :n_bins] + _HARDLY, 0.0).reshape(n_bins**2, -1)
    sums = cells.sum(axis=1, keepdims=True)
    # All pairs of bins end to end, each from one whole number to the next.
    ends = np.cumsum(cells / np.where(sums > 0, sums, 1.0), axis=1)
    ends += np.arange(n_bins**2)[:, None]
    pairs = codes[later - 1].astype(np.intp) * n_bins + codes[later]
    places = np.searchsorted(ends.ravel(), pairs + generator.random(len(later)), side="right")
    levels = np.clip(places - pairs * known.size, 0, known.size - 1)
    gaps = np.zeros((2, len(codes)), np.int64)
    gaps[:, later] = lengths[levels], lengths[levels + 1] - 1
    return gaps


def _points_by_gaps(
    axis: Axis,
    codes: CodeColumn,
    positions: Ints,
    gaps: NDArray[np.int64],
    generator: np.random.Generator,
) -> NDArray[np.int64]:
    """Grid points in the bins of rows, each so far from that of the row before as its gap says, if
    its bin lets it; no lower than that in any case. ``gaps`` are as `_drawn_gaps` has them.

    From the last row of each parent to the first one it is seen which points leave the rows after
    it all their gaps; from the first one on they are drawn.
    """
    starts = axis.drawn_starts
    lowest, highest = starts[codes], starts[codes + 1] - 1
    least, most = lowest.copy(), highest.copy()
    n_left = np.ones(len(codes), np.intp)  # rows of its parent from this one on in its bin
    n_places = int(positions.max(initial=0)) + 1
    rows_at = [np.flatnonzero(positions == place) for place in range(n_places)]
    for rows in rows_at[:0:-1]:
        low = np.maximum(least[rows - 1], least[rows] - gaps[1][rows])
        high = np.minimum(most[rows - 1], most[rows] - gaps[0][rows])
        fits = low <= high
        least[rows[fits] - 1], most[rows[fits] - 1] = low[fits], high[fits]
        n_left[rows - 1] += np.where(codes[rows - 1] == codes[rows], n_left[rows], 0)
    points = np.zeros(len(codes), np.int64)
    for place, rows in enumerate(rows_at):
        before = points[rows - 1] if place else lowest[rows]
        low = np.maximum(least[rows], before + gaps[0][rows])
        high = np.minimum(most[rows], before + gaps[1][rows] if place else highest[rows])
        # Beside a value that most records of the bin have, a gap is likely wrong.
        is_taken = low <= high
        share = axis.share_between(low[is_taken], high[is_taken])
        even = ((high - low + 1) / (highest[rows] - lowest[rows] + 1))[is_taken]
        is_taken[is_taken] = generator.random(len(share)) * even < share
        low = np.where(is_taken, low, np.maximum(lowest[rows], before))
        high = np.where(is_taken, high, highest[rows])
        # Without a gap a row is the first of those that are left, each drawn by itself.
        n_draws = np.where(is_taken, 1, np.minimum(n_left[rows], _MOST_DRAWS))
        drawn = axis.draw_between(low, high, generator)
        for done in range(1, int(n_draws.max(initial=1))):
            more = np.flatnonzero(n_draws > done)
            other = axis.draw_between(low[more], high[more], generator)
            drawn[more] = np.minimum(drawn[more], other)
        # Where a column draws nothing in between, it has the next value below.
        points[rows] = np.maximum(drawn, before)
    return points


def _is_free(fitted: FittedView) -> bool:
    """Whether values of the column of order need to keep to nothing but their bins and the order."""
    table, schema = fitted.view.table, fitted.schema
    assert table.order is not None
    name = f"{table.name}.{table.order}"
    if schema is None or schema[name].axis is None or schema[name].part_columns:
        return False
    if table.schema is None:
        return False
    own = order_check(name)
    return not any(
        is_check(rule.text) and rule.text != own and {name, OTHER + name} & names_in(rule.text)
        for rule in schema.rules
    )
