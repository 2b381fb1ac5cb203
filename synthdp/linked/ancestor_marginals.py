"""What is known of a view before it is asked anything: families that are drawn from the views
before it.

Rows of a view have ancestors, and siblings that were drawn before them. What these are like was
released before, with the views of those tables, so it need not be measured again: families are
drawn, and all that is counted in them is post-processing. An engine that does not know how
ancestors and siblings of a row depend on each other would count twice what they say of the row.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from math import sqrt
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import (
    FloatArray,
    LinearMeasurement,
    estimate_total,
    total_and_noise,
)
from synthdp.data.codes.coded_table import CodeColumn
from synthdp.linked.families.chain_places import later_in_order
from synthdp.linked.families.expected_rows import expected_rows
from synthdp.linked.families.families import (
    Draw,
    DrawnRows,
    checked_names,
    drawn_children,
    drawn_roots,
)
from synthdp.linked.families.fitted_view import FittedView, fitted_views
from synthdp.linked.families.guess import guessed
from synthdp.linked.package.qualified import OTHER
from synthdp.linked.package.view import LinkedView
from synthdp.release.synthesis import Synthesis

MAX_PAIRS = 100
"""Pairs of attributes whose tables are estimated, those that depend most: each is one table more to
fit.
"""

MAX_CELLS = 2**12
"""We do not estimate larger tables: the drawn families would fill them no better than noise."""

MIN_DEPENDENCE = 0.02
"""We do not estimate pairs nearer to independence, in TVD beyond what chance makes of drawn rows: their
one-way tables say as much.
"""

MAX_ROOTS = 50_000
"""Roots that are drawn: with more, no estimated table would be more exact than its noise."""


CHANGE = 0.25
"""How far columns of the rows before are taken to be from those of first rows, in each level, as a
share of what each would have if all were alike: one standard deviation, a TVD of about a tenth.
"""


class LaterRows(NamedTuple):
    """Parents that have rows besides the first, and how many of these each has on average."""

    n_parents: float
    mean: float


@final
class AncestorMarginals:
    """Families that are drawn as far as views were released.

    Parameters
    ----------
    views
        All views, by label.
    entropy
        Seed of the families: the same draws the same ones from the same releases. By default there
        is none.
    """

    def __init__(self, views: Mapping[str, LinkedView], entropy: int | None = None) -> None:
        self._views, self._seeds = views, np.random.SeedSequence(entropy)
        self._parts: dict[str, tuple[LinkedView, Synthesis]] = {}
        self._fitted: dict[str, FittedView] = {}
        self._drawn: dict[str, DrawnRows] = {}
        self._checked = checked_names([view.schema for view in views.values() if view.schema])
        self._scale = 1.0

    def add(self, view: LinkedView, part: Synthesis) -> None:
        """Take the release of a view; families are drawn from it if they are asked for."""
        self._parts[view.label] = view, part
        # Views of other tables keep what they have worked out.
        own = {label: each for label, each in self._parts.items() if each[0].name == view.name}
        self._fitted |= fitted_views(own)
        self._drawn.pop(view.name, None)

    def of(self, view: LinkedView, stddev: float) -> list[LinearMeasurement]:
        """Marginals of ancestors and siblings of the rows of a view, in its units of weight.

        ``stddev`` is the noise of a marginal that all of the view's budget is spent on: they are
        taken to be no more exact than that, nor than numbers of drawn rows are.
        """
        # Roots hang on nothing.
        if view.table.parent is None:
            return []
        codes, weights = self._rows(view)
        names = list(codes)
        domain = Domain(tuple(names), tuple(self._size(view, name) for name in names))
        tables: dict[Clique, FloatArray] = {
            (name,): self._counts(domain, (name,), codes, weights) for name in names
        }
        total = float(weights.sum()) or 1.0
        # As many rows of the same weight as differ by chance as these do [Kish 1965].
        n_drawn = total**2 / max(float(np.square(weights).sum()), total**2 * 1e-12)
        strengths: dict[Clique, float] = {}
        for pair in combinations(names, 2):
            if domain.size(pair) <= MAX_CELLS:
                counts = self._counts(domain, pair, codes, weights)
                # Only pairs that depend in the drawn families are worth a table: independent ones
                # follow from their columns.
                apart = np.outer(tables[pair[:1]], tables[pair[1:]]) / total
                strength = 0.5 * float(np.abs(counts - apart).sum()) / total
                strengths[pair] = strength - _by_chance(apart / total, n_drawn)
                tables[pair] = counts
        dependent = sorted(
            (pair for pair in strengths if strengths[pair] >= MIN_DEPENDENCE),
            key=lambda p: -strengths[p],
        )
        cliques = [*((name,) for name in names), *dependent[:MAX_PAIRS]]
        unit = float(weights.max(initial=0.0)) or 1.0
        known = [
            # Not exact, though counted without noise: the families were drawn from a model of noisy
            # counts, and a finite number of them.
            LinearMeasurement(c, tables[c], sqrt(stddev**2 + unit * total / domain.size(c)))
            for c in cliques
        ]
        return [*known, *self._guesses(view, total, stddev)]

    def later_rows(self, view: LinkedView) -> LaterRows | None:
        """How many parents have several rows of a table, as the rows above were released; None
        where no model says it.

        It is what models say, not what is counted in drawn families: the same releases say the
        same.
        """
        numbers = np.zeros(view.table.max_children + 1)
        for each in self._fitted.values():
            if each.view.name == view.table.parent:
                with suppress(ModelTooLargeError):  # of a tree whose cliques this joins
                    (rows,) = expected_rows(each.view, each.model, [(view.table.count,)])
                    numbers += np.maximum(rows, 0.0)
        several = numbers[2:]
        total = float(several.sum())
        if total <= 0:
            return None
        return LaterRows(total, float(several @ np.arange(1.0, len(several) + 1)) / total)

    def _guesses(self, view: LinkedView, total: float, hidden: float) -> list[LinearMeasurement]:
        """Columns of the rows before, in a chain that is not released yet: about as the first rows'
        are. Noise is often more than what time changes, and then they need not be measured.

        Drawn rows weigh ``total``; of fewer than ``hidden`` noise would not tell that there are any.
        """
        if view.position is None or view.label in self._fitted or not view.siblings:
            return []
        rows = self._children(self._views[view.name], [self._fitted[view.name]])
        firsts = np.flatnonzero(rows.positions == 0)
        marginals = []
        for name, source in view.siblings.items():
            size = self._size(view, name)
            shares = np.bincount(rows.codes[source][firsts], minlength=size) / max(len(firsts), 1)
            off = CHANGE * max(total, hidden) / size
            marginals.append(LinearMeasurement((name,), total * shares, off))
        return marginals

    def in_order(self, view: LinkedView) -> list[LinearMeasurement]:
        """How the column of order goes on in a released chain, as far as noise hides it: as if
        later rows were drawn one by one, from what is no lower than the first, and then put in
        order.

        Without it each row would be drawn after the one before as any row is, or as noise has it,
        and all but the first would end up at the end.
        """
        order = view.table.order
        if view.position is None or order is None:
            return []
        name = f"{view.name}.{order}"
        pairs = [(view.position, name), (OTHER + name, name)]
        fitted = self._fitted[view.label]
        assert view.table.parent is not None
        parents = self._whole(view.table.parent)
        counts = parents.codes[view.table.count].astype(np.intp)
        owners = np.repeat(np.arange(parents.n_rows), counts)
        positions = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        rows = self._children(self._views[view.name], [self._fitted[view.name]])
        firsts = rows.codes[name][rows.positions == 0].astype(np.intp)
        (expected,) = expected_rows(fitted.view, fitted.model, [(view.table.count, name)])
        (seed,) = self._seeds.spawn(1)
        values = later_in_order(firsts, counts[counts > 0], expected, np.random.default_rng(seed))
        # Put in order within each parent, whose rows lie together.
        values = values[np.lexsort((values, owners))]
        later = np.flatnonzero(positions > 0)
        codes: dict[str, CodeColumn] = {name: values[later], OTHER + name: values[later - 1]}
        codes[view.position] = view.position_codes(positions[later], counts[owners[later]])
        sizes = (counts[owners[later]] - 1).astype(np.float64)
        # Weights undo what a family has more of: a root weighs the same however many rows hang on
        # it.
        for step in view.steps[:-1]:
            sizes *= parents.codes[step][owners[later]]
        weights = self._weights(view, sizes)
        assert view.schema is not None
        _, hidden = total_and_noise(fitted.measurements)
        total = max(float(weights.sum()), hidden)
        guesses = [
            LinearMeasurement(
                pair,
                self._counts(view.schema.domain, pair, codes, weights),
                CHANGE * total / view.schema.domain.size(pair),
            )
            for pair in pairs
        ]
        # Where the order was measured, that says how much the guess is worth beside it.
        return [guessed(guess, fitted.measurements) for guess in guesses]

    def _rows(self, view: LinkedView) -> tuple[dict[str, CodeColumn], NDArray[np.float64]]:
        """Codes of ancestors and siblings of drawn rows, and the rows' weights.

        The sibling is the first row of the parent, which can be drawn before later ones. Where rows
        are in a chain it is the row before, which is known only once the view itself was released;
        until then only the positions of rows are known.
        """
        assert view.table.parent is not None
        parent = self._whole(view.table.parent)
        counts = parent.codes[view.table.count].astype(np.intp)
        places = np.flatnonzero(counts > int(view.is_later))
        n_rows = np.ones(len(places), np.intp) if view.position is None else counts[places] - 1
        codes = {name: np.repeat(parent.codes[name][places], n_rows) for name in view.ancestors}
        if view.position is not None:
            if view.label in self._fitted:
                rows = self._whole(view.name)
                later = np.flatnonzero(rows.positions > 0)
                codes |= view.sibling_codes(
                    rows.codes, later, rows.positions[later], counts[rows.parents[later]]
                )
            else:
                positions = np.arange(1, n_rows.sum() + 1) - np.repeat(
                    np.cumsum(n_rows) - n_rows, n_rows
                )
                codes[view.position] = view.position_codes(
                    positions, np.repeat(counts[places], n_rows)
                )
        elif view.is_later:
            rows = self._children(self._views[view.name], [self._fitted[view.name]])
            # Of each parent with later rows the number of its first row among all first rows.
            firsts = np.searchsorted(np.flatnonzero(counts > 0), places)
            codes |= {
                name: rows.codes[source][rows.positions == 0][firsts]
                for name, source in view.siblings.items()
            }
        # One row may stand for all later rows of a parent, and has the weight of all.
        n_weighed = counts[places] - 1 if view.is_later else n_rows
        sizes = n_weighed.astype(np.float64)
        for name in view.steps[: len(view.steps) - int(view.is_later)]:
            sizes *= parent.codes[name][places]
        weights = self._weights(view, sizes) * n_weighed / n_rows
        return codes, np.repeat(weights, n_rows)

    def _weights(self, view: LinkedView, sizes: NDArray[np.float64]) -> NDArray[np.float64]:
        """What drawn rows weigh that are one part of so many, as many families as were released."""
        return np.asarray(self._scale * np.minimum(view.grid / sizes, view.heaviest))

    def _whole(self, name: str) -> DrawnRows:
        """All rows of a table, all of whose views were released."""
        if name not in self._drawn:
            view = self._views[name]
            own = [
                self._fitted[label] for label, other in self._views.items() if other.name == name
            ]
            self._drawn[name] = (
                self._roots(own[0]) if view.table.parent is None else self._children(view, own)
            )
        return self._drawn[name]

    def _roots(self, fitted: FittedView) -> DrawnRows:
        total = estimate_total(fitted.measurements)
        # Beyond 50,000 roots the sampling error is below the noise of the releases that they are
        # drawn from.
        n_roots = int(min(max(total, 1000.0), MAX_ROOTS))
        # Weights make up for drawing fewer or more roots than there are.
        self._scale = total / n_roots
        return drawn_roots(fitted.view, fitted.model, n_roots, self._draw())

    def _children(self, view: LinkedView, fitted: Sequence[FittedView]) -> DrawnRows:
        assert view.table.parent is not None
        return drawn_children(view, fitted, self._whole(view.table.parent), self._draw())

    def _draw(self) -> Draw:
        return Draw(self._seeds.spawn(1)[0], text=False, checked=self._checked)

    def _size(self, view: LinkedView, name: str) -> int:
        assert view.schema is not None
        return view.schema[name].size

    def _counts(
        self,
        domain: Domain,
        clique: tuple[str, ...],
        codes: Mapping[str, CodeColumn],
        weights: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        shape = domain.project(clique).shape
        cells = np.ravel_multi_index([codes[name].astype(np.intp) for name in clique], shape)
        counts: FloatArray = np.bincount(cells, weights, minlength=int(np.prod(shape))).astype(
            np.float64
        )
        return counts.reshape(shape)


def _by_chance(shares: FloatArray, n_rows: float) -> float:
    """About the TVD from their shares that so many rows have by chance: half the mean absolute
    deviations of Poisson numbers, of small ones twice their mean.
    """
    expected = n_rows * shares
    deviations = np.minimum(np.sqrt(2.0 / np.pi * expected), 2.0 * expected)
    return 0.5 * float(deviations.sum()) / n_rows
