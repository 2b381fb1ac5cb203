"""From weights to rows: expected numbers of rows of a view, whose model counts weights."""

from collections.abc import Sequence

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.measurement import FloatArray
from synthdp.inference.model import Model
from synthdp.linked.package.view import TOO_MANY, LinkedView


def expected_rows(view: LinkedView, model: Model, cliques: Sequence[Clique]) -> list[FloatArray]:
    """Expected numbers of rows in the cells of some marginals: weights, each by what a row of its
    class counts.

    Parameters
    ----------
    view
        The view.
    model
        What was fitted to its weights.
    cliques
        Attributes of the view, the axes of each marginal in their order.

    Raises
    ------
    ModelTooLargeError
        As `Model.marginals`, of these attributes and the numbers of children on the way up.
    """
    wanted = [(*clique, *(name for name in view.steps if name not in clique)) for clique in cliques]
    marginals = model.marginals(wanted)[::-1]
    tables = []
    for clique, names in zip(cliques, wanted, strict=True):
        counts = marginals.pop().values  # popped, so that memory holds each once
        axes = [names.index(name) for name in view.steps]
        shape = [size if axis in axes else 1 for axis, size in enumerate(counts.shape)]
        rows: FloatArray = counts * _rows_a_unit(view, model).transpose(np.argsort(axes)).reshape(
            shape
        )
        tables.append(np.asarray(rows.sum(axis=tuple(range(len(clique), len(names))))))
    return tables


def _rows_a_unit(view: LinkedView, model: Model) -> FloatArray:
    """How many rows a unit of weight is, by the numbers of children on the way up; none where rows
    count nothing.
    """
    sizes = np.ones((), np.int64)
    for name in view.steps:
        less = int(view.is_later and name == view.table.count)
        numbers = np.maximum(np.arange(model.domain[name]) - less, 0)
        sizes = np.minimum(np.multiply.outer(sizes, numbers), TOO_MANY)
    units = np.where(sizes > 0, np.array(view.weights)[view.class_of(np.maximum(sizes, 1))], 0)
    return np.divide(1.0, units, out=np.zeros(units.shape), where=units > 0)
