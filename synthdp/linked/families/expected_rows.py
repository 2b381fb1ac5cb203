"""From weights to rows: expected numbers of rows of a view, whose model counts weights."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import combinations
from typing import final

import numpy as np

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import FloatArray, LinearMeasurement
from synthdp.inference.model import Model
from synthdp.inference.rows.wanted_tables import few_pairs
from synthdp.linked.families.chain_places import ChainPlaces
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view import TOO_MANY, LinkedView

MAX_CELLS = 2**20
"""Rows are not matched to larger marginals."""


@final
class ExpectedRows:
    """Expected rows by all that is known of a view's own columns; what is too large is left out.

    Parameters
    ----------
    view
        The view.
    model
        What was fitted to its weights.
    measurements
        What it was fitted to.
    """

    def __init__(
        self, view: LinkedView, model: Model, measurements: Sequence[LinearMeasurement]
    ) -> None:
        self._view = view
        self._model = model
        self._measurements = measurements

    @cached_property
    def measured(self) -> dict[Clique, FloatArray]:
        """Of what was measured of own columns, by their position if it was measured (the last
        axis).
        """
        view = self._view
        domain = self._model.domain
        cliques = {
            tuple(
                name
                for name in domain.attributes
                if name in measurement.clique and name != view.position
            )
            for measurement in self._measurements
            # What compares a row with its sibling follows from both.
            if not view.comparing & {*measurement.clique}
        }
        cliques |= {
            domain.canonical((OTHER + repeated, repeated))
            for name, repeated in view.repeats.items()
            if name in domain.attributes
        }
        own = {*view.drawn}
        return self._of(each for each in maximal_cliques(sorted(cliques)) if own.intersection(each))

    @cached_property
    def unmeasured(self) -> dict[Clique, FloatArray]:
        """The same of further pairs with an own column, as the model has them, if they are few
        enough: else chance blurs them.
        """
        domain = self._model.domain
        own = {*self._view.drawn}
        no_columns = {self._view.position, *self._view.comparing}
        names = [name for name in domain.attributes if name not in no_columns]
        pairs = [
            pair
            for pair in combinations(names, 2)
            if own.intersection(pair) and not any({*pair} <= {*clique} for clique in self.measured)
        ]
        return self._of(few_pairs(domain, pairs))

    @cached_property
    def by_number(self) -> dict[str, FloatArray]:
        """By how many rows their parent has, and the level of an own column."""
        return {name: np.maximum(rows, 0.0) for name, rows in self._of_own_columns().items()}

    @cached_property
    def places(self) -> ChainPlaces:
        """How own columns are distributed at each place."""
        view = self._view
        assert view.position is not None
        return ChainPlaces(self._of_own_columns(view.position), f"{view.name}.{view.table.order}")

    def _of_own_columns(self, *last: str) -> dict[str, FloatArray]:
        """By how many rows their parent has, the level of an own column, and further attributes."""
        expected: dict[str, FloatArray] = {}
        for name in self._view.drawn:
            clique = (self._view.table.count, name, *last)
            if self._has_few_cells(clique):
                with suppress(ModelTooLargeError):
                    (expected[name],) = expected_rows(self._view, self._model, [clique])
        return expected

    def _of(self, cliques: Iterable[Clique]) -> dict[Clique, FloatArray]:
        """Of marginals, by position if that is modelled (the last axis)."""
        position = self._view.position
        last = (position,) if position in self._model.domain.attributes else ()
        tables: dict[Clique, FloatArray] = {}
        for clique in cliques:
            if self._model.domain.size(clique) <= MAX_CELLS:
                with suppress(ModelTooLargeError):  # of a tree whose cliques this joins
                    tables[clique] = self._by_last(clique, last)
        return tables

    def _by_last(self, clique: Clique, last: Clique) -> FloatArray:
        """Of a marginal, by attributes that are its last axes.

        Rows that are moved to nothing lose what they were drawn with. So a table that is too large
        is taken to be the same at all positions, and one that still is in families of any size.
        """
        if self._has_few_cells((*clique, *last)):
            (rows,) = expected_rows(self._view, self._model, [(*clique, *last)])
            return rows
        if self._has_few_cells(clique):
            (rows,) = expected_rows(self._view, self._model, [clique])
        else:
            rows = self._model.marginal(clique).values
        shape = self._model.domain.project(last).shape
        return np.broadcast_to(rows.reshape(*rows.shape, *(1 for _ in shape)), rows.shape + shape)

    def _has_few_cells(self, clique: Clique) -> bool:
        """Whether a marginal can be made whole with the numbers of children on the way up."""
        return self._model.domain.size({*clique, *self._view.steps}) <= MAX_CELLS


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
