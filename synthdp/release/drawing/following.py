"""The densities that a model's bins say, for values to be drawn inside of them."""

from dataclasses import replace

import numpy as np

from synthdp.inference.model import Model
from synthdp.schema.schema import Schema


def with_densities(schema: Schema, model: Model) -> Schema:
    """A schema that decodes columns as their bins say: without a shape the density inside of each
    goes on from its neighbours', and gaps of a shape hold the records that it has no room for.
    """
    columns = {column.name: column for column in schema.columns}
    for name, column in columns.items():
        axis = column.axis
        if axis is None or not (axis.is_flat or axis.has_gaps):
            continue
        counts = np.maximum(model.marginal((name,)).values[: axis.n_levels], 0.0)
        if counts.any():
            columns[name] = axis.following(counts)
    changed = tuple(columns.values())
    if all(one is other for one, other in zip(changed, schema.columns, strict=True)):
        return schema
    return replace(schema, columns=changed)
