"""Values inside of their bins of the column that orders rows of one parent.

Rows are settled one after the other. Values that only had to be no lower than that of the row
before would be late: of three rows in one bin the second one would lie in its upper half on
average, the third in its upper quarter. So values of a bin are drawn each by itself, and then put
in order.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.inference.arrays import CodeColumn
from synthdp.linked.families.fitted_view import FittedView
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view_rules import order_check
from synthdp.schema.rules.rules import is_check, names_in

Ints = NDArray[np.intp]


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
    points = np.zeros(len(own), np.int64)
    axes = [view.schema[name].axis for view in fitted if view.schema is not None]
    for axis, rows in zip(axes, (positions == 0, positions > 0), strict=True):
        assert axis is not None
        points[rows] = axis.draw(own[rows], generator)
    axis = axes[0]
    assert axis is not None
    # Codes stay with their rows, whatever the points are.
    points[np.lexsort((positions, own, parents))] = points[np.lexsort((points, own, parents))]
    made = axis.texts_at if text else axis.values_at
    values = pd.Series(made(points, axis.is_missing(own)), dtype=object if text else None)
    return frame.assign(**{table.order: values.set_axis(frame.index)})


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
