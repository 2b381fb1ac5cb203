"""Levels of which noisy counts leave nothing but noise: they are not drawn."""

from collections.abc import Collection, Sequence
from math import sqrt

import numpy as np

from synthdp.core.level_counts import level_counts
from synthdp.core.measurement import LinearMeasurement
from synthdp.learning.cells.significance import significance
from synthdp.schema.schema import Schema

HIDDEN = 0.1
"""Where noise could hide more than this part of the records at a level, nobody can say that it has
none.
"""


def levels_without_records(
    schema: Schema, measurements: Sequence[LinearMeasurement], names: Collection[str]
) -> dict[str, int]:
    """The codes of ``other`` in some columns where all measurements together leave nothing for it
    but noise.

    A level of its own in ``enum`` is not among them, nor one that a rule may need, nor one in which
    noise would hide many records.
    """
    ruled = {name for constraint in schema.constraints for name in constraint.clique}
    unused = {}
    for column in schema.table_columns:
        if column.name not in names or column.name in ruled or column.other is None:
            continue
        code = column.unknown_code
        is_all = (
            column.listed == (column.other,) and not column.required
        )  # no level was found, or there is none
        if column.other in column.listed and not is_all:
            continue
        answers = list(
            filter(None, (level_counts(each, column.name, code) for each in measurements))
        )
        if not answers:
            continue
        precisions = np.array([1 / variances[code] for _, variances in answers])
        sums = precisions @ np.array([(values[code], values.sum()) for values, _ in answers])
        count, total = (sums / precisions.sum()).tolist()
        noise = significance(len(schema.columns)) / sqrt(precisions.sum())
        if count <= noise <= HIDDEN * total:
            unused[column.name] = code
    return unused
