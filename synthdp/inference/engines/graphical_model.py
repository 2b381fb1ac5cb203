"""The graphical-model engine: a Markov random field over a junction tree (Private-PGM) [MSM19].

Among all distributions that explain the measurements best it finds the one of maximum entropy,
which is the member of the exponential family whose potentials live on the measured cliques.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import ClassVar, final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.measurement import estimate_total
from synthdp.inference.arrays import Array
from synthdp.inference.engine import Engine, FitProblem, check_warm_start, concluded
from synthdp.inference.graphical.contradictions import Possible, added, log_masks
from synthdp.inference.graphical.marginal_oracle import MarginalOracle
from synthdp.inference.graphical.markov_random_field import MarkovRandomField
from synthdp.inference.graphical.tree_fit import (
    Relaxed,
    fit_tree,
    is_decomposable,
    potentials_of,
    relaxed,
)
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import FitStatus, Progress
from synthdp.inference.optimisers.dual_newton import DualNewton
from synthdp.inference.optimisers.mirror_descent import MirrorDescent
from synthdp.inference.optimisers.multipliers import is_uneven, minimise
from synthdp.inference.possible_cells import possible_cells
from synthdp.inference.trees.junction_tree import JunctionTree, fit_bytes

_MAX_RANGE = 25.0
"""Of potentials to start from, in nats: mirror descent learns cells at a rate in proportion to
their probability.
"""

_START_RANGE = 8.0
"""The same of potentials made from the relaxation's tables, which have cells of next to nothing
where noisy counts are negative: 8 and 3 nats took 17 to 25 % fewer steps than starting at 0, 25 up
to twice as many (pairs of Adult).
"""

_PROVEN = 1e-3
"""By what share a loss may be above a bound of the least one, for the fit to be called optimal."""

_MAX_FOLLOWING = 1e-4
"""Tolerance of drivers up to which it pays to follow the relaxation first: looser ones are done
before.
"""


class _PotentialFit:
    """Potentials of the measured cliques, and what they make of the loss."""

    def __init__(
        self, tree: JunctionTree, loss: MarginalLoss, possible: Possible, total: float
    ) -> None:
        self._loss = loss
        self._total = total
        self._masks = log_masks(possible)
        # Constraints are potentials that are never moved: -inf for what is impossible.
        self._oracle = MarginalOracle(tree, [*loss.cliques, *self._masks])

    def start(
        self, earlier: MarkovRandomField | None, bound: Callable[[], Relaxed | None]
    ) -> Array:
        """The potentials of an earlier fit, 0 for cliques that it has none of; else those of the
        relaxation's tables.
        """
        tables: Mapping[Clique, Array] = {}
        if earlier is not None:
            tables = _earlier_potentials(earlier)
        # Tables of local consistency, read as if their product were a distribution: on loops it is
        # not, but a better start than even potentials.
        elif (relaxation := bound()) is not None:
            tables = _potentials_of_tables(relaxation.tables)
        shapes = zip(self._loss.cliques, self._loss.shapes, strict=True)
        return self._loss.flatten([tables.get(clique, np.zeros(shape)) for clique, shape in shapes])

    def followed(
        self, bound: Relaxed, driver: MirrorDescent, theta: Array, progress: Progress | None
    ) -> tuple[Array, FitStatus]:
        """The potentials whose marginals come closest to the relaxation's tables, all cells being
        alike.

        Mostly these tables are the marginals of a distribution, whatever the cliques, which is then
        found as if all scales of noise were one.
        """
        settled = self._loss.of_total(self._total)
        tables = [bound.tables.get(clique, np.array(self._total)) for clique in self._loss.cliques]
        # All cells alike: then mirror descent is quick, whatever the scales of noise, and the
        # target has no contradictions to give way to.
        even = np.full(settled.n_cells, 1.0 / settled.weights.min())
        goal = settled.towards(settled.flatten(tables), even, rest=0.0)
        theta, status = driver.minimise(
            self._marginals, goal, theta, total=self._total, progress=progress
        )
        reached = (
            self._loss.of_residual(self._loss.residual(self._marginals(theta)))
            + self._loss.of_repeats
        )
        # How it ended is for the bound to say: reaching the tables is one thing, their being those
        # of a distribution another.
        return theta, replace(status, loss=reached, ended="stalled")

    def is_proven(self, status: FitStatus, bound: Relaxed | None) -> bool:
        """Whether a fit is as good as the relaxation, which no distribution is below; False if it
        was not found.
        """
        return bound is not None and status.loss <= bound.loss + _PROVEN * (
            bound.loss - self._loss.of_repeats
        )

    def descended(
        self, driver: MirrorDescent, theta: Array, done: int, progress: Progress | None
    ) -> tuple[Array, FitStatus]:
        """The potentials that mirror descent ends with, after some iterations that were done
        before.
        """
        rest = replace(driver, max_iterations=driver.max_iterations - done)
        report = (
            None if progress is None else lambda now, _: progress(done + now, driver.max_iterations)
        )
        theta, status = minimise(
            rest,
            self._marginals,
            self._loss,
            theta,
            total=self._total,
            least=self._least,
            progress=report,
        )
        return theta, replace(status, n_iterations=done + status.n_iterations)

    def potentials(self, theta: Array) -> dict[Clique, Array]:
        """Logarithms of potentials by clique, with -inf for what is impossible."""
        tables = zip(self._loss.cliques, self._loss.split(theta), strict=True)
        return added({clique: table.copy() for clique, table in tables}, self._masks)

    def _marginals(self, theta: Array) -> Array:
        tables = self._oracle.marginals([*self._loss.split(theta), *self._masks.values()])
        return self._total * self._loss.flatten(tables[: len(self._loss.cliques)])

    def _least(self, by_cell: Array) -> float:
        return -self._oracle.largest([*self._loss.split(-by_cell), *self._masks.values()])


def _earlier_potentials(earlier: MarkovRandomField) -> dict[Clique, Array]:
    """Potentials of an earlier fit. Impossible cells, and those far below others, are raised: a fit
    could not.
    """
    potentials = earlier.log_potentials
    return {clique: _movable(table, _MAX_RANGE) for clique, table in potentials.items()}


def _potentials_of_tables(tables: Mapping[Clique, Array]) -> dict[Clique, Array]:
    """Potentials of the product of some tables in which each attribute's own distribution counts
    once; without loops the tables are its marginals.
    """
    potentials: dict[Clique, Array] = {}
    counted: set[str] = set()
    for clique, table in tables.items():
        shares = table / table.sum()
        potential = _log(shares)
        for axis, name in enumerate(clique):
            # A product of tables counts each attribute once for each table that holds it; dividing
            # by its own distribution leaves it once. On a tree of pairs these are the exact
            # potentials.
            if name in counted:
                others = tuple(other for other in range(shares.ndim) if other != axis)
                potential = potential - _log(shares.sum(axis=others, keepdims=True))
        counted.update(clique)
        potentials[clique] = _movable(potential, _START_RANGE)
    return potentials


def _log(shares: Array) -> Array:
    """Logarithms of shares that are no further below 1 than `_MAX_RANGE`."""
    return np.log(np.maximum(shares, np.exp(-_MAX_RANGE)))


def _movable(table: Array, max_range: float) -> Array:
    """A potential without impossible cells and none so far below the largest."""
    possible = np.isfinite(table)
    largest = np.max(table, where=possible, initial=-np.inf)
    # Mirror descent moves a cell at a rate in proportion to its probability: one at 1e-40 would
    # stay there whatever the counts say.
    return np.where(possible, np.maximum(table, largest - max_range), 0.0)


@dataclass(frozen=True, kw_only=True)
class MaximumLikelihoodEngine(Engine):
    """What engines share that fit potentials over a junction tree: everything but the tree."""

    newton: DualNewton = field(default_factory=DualNewton)
    """The optimiser where the measured cliques are those of a junction tree."""
    driver: MirrorDescent = field(default_factory=MirrorDescent)
    """The optimiser for all others, and its stopping rule."""
    max_cells: int = 50_000_000
    """Refuse trees with more cells than this; a fit needs about 32 bytes a cell, and for the
    driver's memory 16 bytes for each measured cell and remembered iterate.
    """

    @abstractmethod
    def _tree(self, domain: Domain, cliques: Sequence[Clique]) -> JunctionTree:
        """The model's tree, which covers these cliques; `ModelTooLargeError` if it is too large."""

    def fit(self, problem: FitProblem) -> MarkovRandomField:
        """Potentials over the tree, with forbidden combinations at probability 0.

        Where the measured cliques are those of a junction tree themselves, they are solved for
        directly; if that does not come off, and for all others, by mirror descent.
        """
        cliques = [m.clique for m in problem.measurements]
        cliques += [c.clique for c in problem.constraints]
        tree = self._tree(problem.domain, cliques)
        domain = problem.domain
        progress = problem.progress
        loss = MarginalLoss(domain, problem.measurements)
        total = estimate_total(problem.measurements)
        possible = possible_cells(domain, problem.constraints)
        earlier = check_warm_start(problem.warm_start, MarkovRandomField, domain)
        # The tree of the measured cliques alone. The engine's tree may be larger (`direct` has one
        # clique of all), and a fit on it no other.
        own = JunctionTree.covering(domain, [*loss.cliques, *possible])
        is_tree = is_decomposable(own, loss.cliques)
        # The relaxation is solved where it is needed, and once; for a tree it is the fit.
        report = progress if is_tree else None
        # Solved at most once, and only if somebody asks: as the fit itself on trees, as a start or
        # a proof on others.
        bound = cache(
            partial(
                relaxed, domain, loss, possible, total=total, newton=self.newton, progress=report
            )
        )
        # On a tree locally consistent tables are the marginals of a distribution, so the relaxation
        # is the answer, and exact: 25 random trees took 0.3 seconds in place of 22.
        exact = fit_tree(own, loss, bound(), total=total) if is_tree else None
        if exact is not None:
            tables, status = exact
            potentials = potentials_of(own, tables, possible)
            return MarkovRandomField(
                tree=tree, log_potentials=potentials, total=total, status=status
            )
        fit = _PotentialFit(tree, loss, possible, total)
        theta = fit.start(earlier, bound)
        done = 0
        # Even scales are no trouble to mirror descent, and rough fits are done before the
        # relaxation would be.
        goal = bound() if is_uneven(loss) and self.driver.tolerance <= _MAX_FOLLOWING else None
        if goal is not None:
            theta, status = fit.followed(goal, self.driver, theta, progress)
            done = status.n_iterations
        if goal is None or not fit.is_proven(status, goal):
            theta, status = fit.descended(self.driver, theta, done, progress)
        # What was not proven on the way may still be: no distribution has less loss than the
        # relaxation, so a fit close to it is the best there is.
        if status.ended != "optimal" and fit.is_proven(status, bound()):
            status = replace(status, ended="optimal")
        return MarkovRandomField(
            tree=tree,
            log_potentials=fit.potentials(theta),
            total=total,
            status=concluded(self.name, status),
        )


@final
@dataclass(frozen=True, kw_only=True)
class GraphicalModelEngine(MaximumLikelihoodEngine):
    """Maximum-likelihood Markov random field over the smallest junction tree found [MSM19].

    Its parameters are those of `MaximumLikelihoodEngine`.
    """

    name: ClassVar[str] = "graphical-model"

    def can_hold(self, domain: Domain, cliques: Sequence[Clique], *, max_cells: int) -> bool:
        """Whether the junction tree of these cliques is that small."""
        return JunctionTree.covering(domain, map(domain.varying, cliques)).n_cells() <= max_cells

    def refuses(self, domain: Domain, cliques: Sequence[Clique]) -> bool:
        """Whether the junction tree of these cliques has more than `max_cells`."""
        return not self.can_hold(domain, cliques, max_cells=self.max_cells)

    def rough(self) -> "GraphicalModelEngine":
        """The same engine with a looser stopping rule."""
        # A thousand times as loose: such models are only what errors are measured against.
        return replace(self, driver=replace(self.driver, tolerance=1e-2, window=10))

    def _tree(self, domain: Domain, cliques: Sequence[Clique]) -> JunctionTree:
        tree = JunctionTree.covering(domain, cliques)
        if tree.n_cells() > self.max_cells:
            raise ModelTooLargeError(
                f"graphical-model: the junction tree has {tree.n_cells()} cells, at most {self.max_cells} are allowed "
                f"(a fit would take about {fit_bytes(tree.n_cells()) / 1e6:.0f} MB); "
                "measure fewer or smaller cliques, use fewer bins, or raise max_cells"
            )
        return tree
