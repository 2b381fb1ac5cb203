"""The densities that bins say, for values to be drawn inside of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from synthdp.core.measurement import FloatArray
from synthdp.inference.model import Model
from synthdp.schema.schema import Schema


def with_densities(schema: Schema, model: Model) -> Schema:
    """The schema with the densities that a model's bins say; see `with_densities_by`."""
    return with_densities_by(schema, lambda name: model.marginal((name,)).values)


def with_densities_by(schema: Schema, counts_of: Callable[[str], FloatArray]) -> Schema:
    """A schema that decodes columns as their bins say: without a shape the density inside of each
    goes on from its neighbours', and gaps of a shape hold the records that it has no room for.
    ``counts_of`` gives what each level of a column weighs; shape ``(size,)``.
    """
    columns = {column.name: column for column in schema.columns}
    for name, column in columns.items():
        axis = column.axis
        if axis is None or not (axis.is_flat or axis.has_gaps):
            continue
        counts = np.maximum(counts_of(name)[: axis.n_levels], 0.0)
        if counts.any():
            columns[name] = axis.following(counts)
    changed = tuple(columns.values())
    if all(one is other for one, other in zip(changed, schema.columns, strict=True)):
        return schema
    return replace(schema, columns=changed)
