"""Markov random fields over a junction tree: the model that exact engines return."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.factor import Factor
from synthdp.core.requests import check_cliques, check_rows, seeded
from synthdp.inference.arrays import Array, Codes, compact
from synthdp.inference.graphical.contradictions import blame, possible_of
from synthdp.inference.graphical.marginal_oracle import MarginalOracle
from synthdp.inference.graphical.tree_completion import complete_records
from synthdp.inference.graphical.tree_marginals import TreeMarginals
from synthdp.inference.graphical.tree_sampling import sample_tree
from synthdp.inference.jobs import thread_count
from synthdp.inference.model import FitStatus, LevelWeights, Model, State, check_given, check_slice
from synthdp.inference.saving import tables_from_state
from synthdp.inference.trees.junction_tree import JunctionTree, fit_bytes


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
        self,
        *,
        tree: JunctionTree,
        log_potentials: Mapping[Clique, Array],
        total: float,
        status: FitStatus,
    ) -> None:
        super().__init__(domain=tree.domain, total=total, status=status)
        self._tree = tree
        self._log_potentials = dict(log_potentials)

    @property
    def tree(self) -> JunctionTree:
        """The junction tree."""
        return self._tree

    @property
    def working_bytes(self) -> float:
        """Memory of the tables of the tree's cliques, and of what they are made from."""
        return fit_bytes(self._tree.n_cells())

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

    @cached_property
    def _queries(self) -> TreeMarginals:
        return TreeMarginals(self._tree, self._beliefs)

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, in or across the model's cliques."""
        return self.marginals([clique])[0]

    def marginals(self, cliques: Sequence[Sequence[str]]) -> list[Factor]:
        """Many marginals at once: sums and messages across cliques are shared between them."""
        checked = check_cliques(self.domain, cliques)
        shares = self._queries.marginals(checked)[::-1]
        # Answers may share memory with each other; counts are new tables.
        # Popped, so that memory holds each once.
        return [self._in_counts(names, shares.pop()) for names in checked]

    def sample(
        self, n_rows: int, *, seed: int | None = None, rounding: bool = True, n_jobs: int = 1
    ) -> Codes:
        """Draw records; see `Model.sample`."""
        check_rows(self.domain, n_rows)
        thread_count(n_jobs)  # one draws, and what is no number is refused all the same
        generator = seeded(seed)
        return sample_tree(
            self._tree, self._beliefs, n_rows, generator=generator, rounding=rounding
        )

    def complete(
        self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None
    ) -> Codes:
        """Complete partial records exactly, however improbable they are; see `Model.complete`."""
        check_given(self.domain, given)
        drawn = complete_records(self._tree, self._log_potentials, given, generator=seeded(seed))
        return tuple(compact(drawn[name], self.domain[name]) for name in self.domain.attributes)

    def sample_where(
        self, wanted: Mapping[str, LevelWeights], n_rows: int, *, seed: int | None = None
    ) -> Codes:
        """Draw records of a slice exactly, however rare it is; see `Model.sample_where`."""
        check_rows(self.domain, n_rows)
        generator = seeded(seed)
        potentials = dict(self._log_potentials)
        checked = check_slice(self.domain, wanted)
        for name, weights in checked.items():
            mask = np.log(weights, out=np.full(weights.shape, -np.inf), where=weights > 0)
            # A slice is one more potential of a single attribute, so the tree stays as it is, and
            # rare slices cost no more than common ones.
            potentials[(name,)] = potentials.get((name,), 0.0) + mask
        inside = MarkovRandomField(
            tree=self._tree, log_potentials=potentials, total=self._total, status=self._status
        )
        try:
            beliefs = inside._beliefs
        except ParameterError:
            cause = blame(
                self.domain,
                possible_of(self._log_potentials),
                {n: w > 0 for n, w in checked.items()},
            )
            raise ParameterError(f"where: the slice contradicts {cause}; widen it") from None
        return sample_tree(self._tree, beliefs, n_rows, generator=generator, rounding=True)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Cliques of the tree and of the potentials, total and status; the potentials as arrays."""
        cliques = list(self._log_potentials)
        state: State = {
            "tree": [list(clique) for clique in self._tree.cliques],
            "cliques": [list(clique) for clique in cliques],
            **self._fit_to_state(),
        }
        return state, {
            f"potential-{i}": self._log_potentials[clique] for i, clique in enumerate(cliques)
        }

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
    ) -> Self:
        """Rebuild a saved model."""
        tree_cliques = [tuple(clique) for clique in cast("list[list[str]]", state["tree"])]
        cliques = [tuple(clique) for clique in cast("list[list[str]]", state["cliques"])]
        return cls(
            tree=JunctionTree.from_cliques(domain, tree_cliques),
            log_potentials=tables_from_state(domain, cliques, arrays, "potential"),
            **cls._fit_from_state(state),
        )
