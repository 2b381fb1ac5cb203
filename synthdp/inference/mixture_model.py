"""The model of the mixture engines: a weighted sum of product distributions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import ClassVar, Self, cast, final

import numpy as np

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arithmetic import Array
from synthdp.inference.array_backend import ArrayBackend
from synthdp.inference.estimator import Codes, Model, State, check_clique, check_sample_size
from synthdp.inference.mirror_descent import FitStatus
from synthdp.inference.product_components import ProductComponents, attribute_rows
from synthdp.inference.repair import repaired
from synthdp.inference.sampling import Column, IntArray, compact, draw_values


@final
class MixtureModel(Model):
    """A mixture of product distributions, given by a table of levels by components.

    ``marginal`` is that of the mixture, which keeps to constraints only nearly; each row of
    ``sample`` keeps to them exactly. Rows that had to be drawn again are why a sample's marginals
    may differ from the model's by more than rounding where much of the mixture is impossible.

    Parameters
    ----------
    domain
        The attributes and their sizes.
    levels
        Probability of each level in each component, shape ``(n_levels of all attributes,
        n_components)``: the levels of the first attribute, then those of the next one.
    weights
        Share of each component, shape ``(n_components,)``.
    total
        Number of records that marginals add up to.
    status
        How the fit ended.
    constraints
        What rows are possible.

    Raises
    ------
    ParameterError
        If shapes disagree, or the levels of an attribute, or the weights, do not sum to 1.
    """

    kind: ClassVar[str] = "mixture-of-products"

    def __init__(
        self,
        *,
        domain: Domain,
        levels: Array,
        weights: Array,
        total: float,
        status: FitStatus,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        super().__init__(domain=domain, total=total, status=status)
        self._levels = np.array(levels, dtype=np.float64, order="C")
        self._weights = np.array(weights, dtype=np.float64)
        self._constraints = tuple(constraints)
        self._rows = attribute_rows(domain)
        _check_proper(self._levels, self._weights, domain)

    @property
    def levels(self) -> Array:
        """Probability of each level in each component."""
        return self._levels

    @property
    def weights(self) -> Array:
        """Share of each component."""
        return self._weights

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, axes in the order of ``clique``."""
        names = check_clique(self._domain, clique)
        products = ProductComponents(self._domain, [names], ArrayBackend("numpy"))
        domain = self._domain.project(names)
        return Factor(domain, self._total * products.marginals(self._levels, self._weights).reshape(domain.shape))

    def sample(self, n_rows: int, *, seed: int | None = None, rounding: bool = True) -> Codes:
        """Draw records; see `Model.sample`.

        With rounding, the size of each component and each attribute's levels in it are within one
        of what is expected. How two attributes' levels meet in a component is left to chance.
        """
        check_sample_size(n_rows)
        generator = np.random.default_rng(seed)
        no_groups = np.zeros(n_rows, dtype=np.int64)
        members = draw_values(self._weights[None], no_groups, generator=generator, rounding=rounding)
        columns = self._draw(members, generator, rounding=rounding)
        if not self._constraints:
            return columns
        return repaired(
            columns,
            constraints=self._constraints,
            domain=self._domain,
            one_way=self._one_way,
            redraw=lambda rows: self._draw(members[rows], generator, rounding=False),
            generator=generator,
        )

    def _draw(self, members: IntArray, generator: np.random.Generator, *, rounding: bool) -> tuple[Column, ...]:
        """Rows of given components."""
        columns = []
        for name, rows in self._rows.items():
            table = np.ascontiguousarray(self._levels[rows].T)
            values = draw_values(table, members, generator=generator, rounding=rounding)
            columns.append(compact(values, self._domain[name]))
        return tuple(columns)

    def _one_way(self, name: str) -> Array:
        return self._levels[self._rows[name]] @ self._weights

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Total, status and constrained cliques; levels, weights and what is allowed as arrays."""
        cliques = [list(constraint.clique) for constraint in self._constraints]
        state: State = {"total": self._total, "status": asdict(self._status), "constraints": cliques}
        arrays = {"levels": self._levels, "weights": self._weights}
        arrays |= {f"allowed-{i}": c.allowed.astype(np.float64) for i, c in enumerate(self._constraints)}
        return state, arrays

    @classmethod
    def from_state(cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Self:
        """Rebuild a saved model."""
        cliques: list[Clique] = [tuple(clique) for clique in cast("list[list[str]]", state["constraints"])]
        return cls(
            domain=domain,
            levels=arrays["levels"],
            weights=arrays["weights"],
            total=float(cast("float", state["total"])),
            status=FitStatus(**cast("dict[str, object]", state["status"])),  # type: ignore[arg-type]
            constraints=[Constraint(clique, arrays[f"allowed-{i}"] > 0) for i, clique in enumerate(cliques)],
        )


def _check_proper(levels: Array, weights: Array, domain: Domain) -> None:
    if levels.shape != (sum(domain.shape), len(weights)):
        raise ParameterError(
            f"levels have shape {levels.shape}; give one row a level ({sum(domain.shape)}), "
            f"one column a component ({len(weights)})"
        )
    sums = [levels[rows].sum(axis=0) for rows in attribute_rows(domain).values()] + [weights.sum(keepdims=True)]
    proper = all(np.allclose(total, 1.0, rtol=0, atol=1e-9) for total in sums)
    if not proper or (levels < 0).any() or (weights < 0).any():
        raise ParameterError("levels and weights: give probabilities that sum to 1 in each attribute and component")
