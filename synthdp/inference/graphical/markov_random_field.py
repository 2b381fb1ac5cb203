"""Markov random fields over a junction tree: the model that exact engines return."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arrays import Array, Codes, compact
from synthdp.inference.graphical.marginal_oracle import MarginalOracle
from synthdp.inference.graphical.tree_completion import complete_records
from synthdp.inference.graphical.tree_marginals import TreeMarginals
from synthdp.inference.graphical.tree_sampling import sample_tree
from synthdp.inference.model import (
    FitStatus,
    Model,
    State,
    Wanted,
    check_clique,
    check_given,
    check_sample_size,
    check_slice,
)
from synthdp.inference.trees.junction_tree import JunctionTree


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
    def cliques(self) -> tuple[Clique, ...]:
        """The cliques of the tree."""
        return self._tree.cliques

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
            **self._fit_to_state(),
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
            **cls._fit_from_state(state),
        )
