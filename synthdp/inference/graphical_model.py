"""The graphical-model engine: a Markov random field over a junction tree (Private-PGM) [MSM19].

Among all distributions that explain the measurements best it finds the one of maximum entropy,
which is the member of the exponential family whose potentials live on the measured cliques.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ModelTooLargeError, ParameterError
from synthdp.factor import Factor
from synthdp.inference.arithmetic import Array
from synthdp.inference.completion import complete_records
from synthdp.inference.estimator import (
    Codes,
    Estimator,
    Model,
    State,
    Wanted,
    check_clique,
    check_given,
    check_problem,
    check_sample_size,
    check_slice,
)
from synthdp.inference.junction_tree import JunctionTree, fit_bytes
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.marginal_oracle import MarginalOracle
from synthdp.inference.mirror_descent import FitStatus, MirrorDescent, Progress
from synthdp.inference.queries import TreeMarginals
from synthdp.inference.sampling import compact, sample_tree
from synthdp.measurement import LinearMeasurement, estimate_total


@final
class MarkovRandomField(Model):
    """A distribution proportional to the product of potentials on cliques, over a junction tree.

    Parameters
    ----------
    tree
        A junction tree that covers all cliques of the potentials.
    log_potentials
        For each clique the logarithm of its potential, axes in the order of the clique.
    total
        Number of records that marginals add up to.
    status
        How the fit ended.
    """

    kind: ClassVar[str] = "markov-random-field"

    def __init__(
        self, *, tree: JunctionTree, log_potentials: Mapping[Clique, Array], total: float, status: FitStatus
    ) -> None:
        super().__init__(domain=tree.domain, total=total, status=status)
        self._tree = tree
        self._log_potentials = dict(log_potentials)

    @property
    def tree(self) -> JunctionTree:
        """The junction tree."""
        return self._tree

    @property
    def log_potentials(self) -> Mapping[Clique, Array]:
        """For each clique the logarithm of its potential."""
        return self._log_potentials

    @cached_property
    def _beliefs(self) -> list[Array]:
        oracle = MarginalOracle(self._tree, list(self._log_potentials))
        return oracle.beliefs(list(self._log_potentials.values()))

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, in or across the model's cliques."""
        return self.marginals([clique])[0]

    def marginals(self, cliques: Sequence[Sequence[str]]) -> list[Factor]:
        """Many marginals at once: sums and messages across cliques are shared between them."""
        checked = [check_clique(self.domain, clique) for clique in cliques]
        counts = [belief * self._total for belief in self._beliefs]
        answers = TreeMarginals(self._tree, counts).marginals(checked)
        return [Factor(self.domain.project(names), answer) for names, answer in zip(checked, answers, strict=True)]

    def sample(self, n_rows: int, *, seed: int | None = None, rounding: bool = True) -> Codes:
        """Draw records; see `Model.sample`."""
        check_sample_size(n_rows)
        generator = np.random.default_rng(seed)
        return sample_tree(self._tree, self._beliefs, n_rows, generator=generator, rounding=rounding)

    def complete(self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None) -> Codes:
        """Complete partial records exactly; see `Model.complete`."""
        check_given(self.domain, given)
        drawn = complete_records(self._tree, self._beliefs, given, generator=np.random.default_rng(seed))
        return tuple(compact(drawn[name], self.domain[name]) for name in self.domain.attributes)

    def sample_where(self, wanted: Mapping[str, Wanted], n_rows: int, *, seed: int | None = None) -> Codes:
        """Draw records of a slice exactly, however rare it is; see `Model.sample_where`."""
        potentials = dict(self._log_potentials)
        for name, weights in check_slice(self.domain, wanted).items():
            mask = np.log(weights, out=np.full(weights.shape, -np.inf), where=weights > 0)
            potentials[(name,)] = potentials.get((name,), 0.0) + mask
        inside = MarkovRandomField(tree=self._tree, log_potentials=potentials, total=self._total, status=self._status)
        check_sample_size(n_rows)
        try:
            beliefs = inside._beliefs
        except ParameterError:
            raise ParameterError("where: the slice has probability 0 under the model; widen it") from None
        return sample_tree(self._tree, beliefs, n_rows, generator=np.random.default_rng(seed), rounding=True)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Cliques of the tree and of the potentials, total and status; the potentials as arrays."""
        cliques = list(self._log_potentials)
        state: State = {
            "tree": [list(clique) for clique in self._tree.cliques],
            "cliques": [list(clique) for clique in cliques],
            "total": self._total,
            "status": asdict(self._status),
        }
        return state, {f"potential-{i}": self._log_potentials[clique] for i, clique in enumerate(cliques)}

    @classmethod
    def from_state(cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Self:
        """Rebuild a saved model."""
        tree_cliques = [tuple(clique) for clique in cast("list[list[str]]", state["tree"])]
        cliques = [tuple(clique) for clique in cast("list[list[str]]", state["cliques"])]
        return cls(
            tree=JunctionTree.from_cliques(domain, tree_cliques),
            log_potentials={clique: arrays[f"potential-{i}"] for i, clique in enumerate(cliques)},
            total=float(cast("float", state["total"])),
            status=FitStatus(**cast("dict[str, object]", state["status"])),  # type: ignore[arg-type]
        )


def fit_potentials(
    tree: JunctionTree,
    measurements: Sequence[LinearMeasurement],
    *,
    constraints: Sequence[Constraint],
    driver: MirrorDescent,
    warm_start: Model | None,
    progress: Progress | None,
) -> MarkovRandomField:
    """Maximum-likelihood potentials over a given tree, with forbidden combinations at probability 0."""
    loss = MarginalLoss(tree.domain, measurements)
    total = estimate_total(measurements)
    masks = _log_masks(tree.domain, constraints)
    oracle = MarginalOracle(tree, [*loss.cliques, *masks])

    def marginals(theta: Array) -> Array:
        tables = oracle.marginals([*loss.split(theta), *masks.values()])
        return total * loss.flatten(tables[: len(loss.cliques)])

    def least(by_cell: Array) -> float:
        return -oracle.largest([*loss.split(-by_cell), *masks.values()])

    known = _known_potentials(tree.domain, warm_start)
    start = [known.get(clique, np.zeros(shape)) for clique, shape in zip(loss.cliques, loss.shapes, strict=True)]
    theta, status = driver.minimise(marginals, loss, loss.flatten(start), total=total, least=least, progress=progress)
    potentials = {clique: table.copy() for clique, table in zip(loss.cliques, loss.split(theta), strict=True)}
    for clique, mask in masks.items():
        potentials[clique] = potentials[clique] + mask if clique in potentials else mask
    return MarkovRandomField(tree=tree, log_potentials=potentials, total=total, status=status)


def check_possible(domain: Domain, constraints: Sequence[Constraint]) -> None:
    """Raise `ParameterError` if the constraints contradict each other, so that no record could obey them all."""
    masks = _log_masks(domain, constraints)
    if masks:
        MarginalOracle(JunctionTree.covering(domain, masks), list(masks)).beliefs(list(masks.values()))


def _log_masks(domain: Domain, constraints: Sequence[Constraint]) -> dict[Clique, Array]:
    """For each constrained clique 0 where its constraints allow a cell, else -inf."""
    masks: dict[Clique, Array] = {}
    for constraint in constraints:
        canonical = constraint.canonical(domain)
        mask = np.where(canonical.allowed, 0.0, -np.inf)
        masks[canonical.clique] = masks.get(canonical.clique, 0.0) + mask
    return masks


def _known_potentials(domain: Domain, warm_start: Model | None) -> dict[Clique, Array]:
    """Potentials of an earlier fit, with 0 for impossible cells: a fit could not leave those."""
    if not isinstance(warm_start, MarkovRandomField):
        return {}
    if warm_start.domain != domain:
        raise ParameterError("warm_start: it is over another domain; give a model over the same attributes and sizes")
    return {clique: np.where(np.isfinite(t), t, 0.0) for clique, t in warm_start.log_potentials.items()}


@final
@dataclass(frozen=True, kw_only=True)
class GraphicalModelEstimator(Estimator):
    """Maximum-likelihood Markov random field over the smallest junction tree found [MSM19].

    Parameters
    ----------
    driver
        The optimiser and its stopping rule.
    max_cells
        Refuse trees with more cells than this; a fit needs about 32 bytes a cell, and for the
        driver's memory 16 bytes for each measured cell and remembered iterate.
    """

    name: ClassVar[str] = "graphical-model"
    driver: MirrorDescent = field(default_factory=MirrorDescent)
    max_cells: int = 50_000_000

    def rough(self) -> "GraphicalModelEstimator":
        """The same engine with a looser stopping rule."""
        return replace(self, driver=replace(self.driver, tolerance=1e-2, window=10))

    def estimate(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        *,
        constraints: Sequence[Constraint] = (),
        warm_start: Model | None = None,
        progress: Progress | None = None,
    ) -> MarkovRandomField:
        """Fit the model; see `Estimator.estimate`."""
        check_problem(domain, measurements, constraints)
        tree = JunctionTree.covering(domain, [*(m.clique for m in measurements), *(c.clique for c in constraints)])
        if tree.n_cells() > self.max_cells:
            raise ModelTooLargeError(
                f"graphical-model: the junction tree has {tree.n_cells()} cells, at most {self.max_cells} are allowed "
                f"(a fit would take about {fit_bytes(tree.n_cells()) / 1e6:.0f} MB); "
                "measure fewer or smaller cliques, use fewer bins, or raise max_cells"
            )
        return fit_potentials(
            tree,
            measurements,
            constraints=constraints,
            driver=self.driver,
            warm_start=warm_start,
            progress=progress,
        )
