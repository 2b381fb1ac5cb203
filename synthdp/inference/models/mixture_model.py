"""The model of the mixture engines: a weighted sum of product distributions."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.factor import Factor
from synthdp.core.many_cliques import blocks_of
from synthdp.core.requests import check_cliques, check_rows, seeded
from synthdp.inference.arrays import Array, Codes, Column, IntArray, compact
from synthdp.inference.jobs import thread_count
from synthdp.inference.model import FitStatus, LevelWeights, Model, State, check_slice
from synthdp.inference.products.array_backend import ArrayBackend
from synthdp.inference.products.product_components import ProductComponents, attribute_rows
from synthdp.inference.rows.constraint_repair import RowRules
from synthdp.inference.rows.partial_records import Given, complete_possibly, slice_constraints
from synthdp.inference.saving import constraints_from_state, constraints_to_state
from synthdp.inference.value_drawing import draw_each, draw_values

_RULED_OUT = -1e6
"""In place of the logarithm of 0: beside it the logarithm of any probability above 0, at least
-745, is nothing.
"""
_BLOCK_CELLS = 1 << 20
"""Cells of marginals that are worked out together: more need more memory and are no quicker."""
_CHUNK_CELLS = 1 << 21
"""Scores of records by components held at once: 16 MB."""


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
        # Copied: nobody may change a model through the arrays that it was given.
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
        return self.marginals([clique])[0]

    def marginals(self, cliques: Sequence[Sequence[str]]) -> list[Factor]:
        """Many marginals: those that share attributes are one matrix product."""
        checked = check_cliques(self._domain, cliques)
        shares: dict[Clique, Array] = {}
        # Questions repeat, and a matrix product of a thousand components is what costs.
        asked = list(dict.fromkeys(checked))
        for block in blocks_of(self._domain, asked, max_cells=_BLOCK_CELLS):
            products = ProductComponents(self._domain, block, ArrayBackend("numpy"))
            flat = products.marginals(self._levels, self._weights)
            ends = list(accumulate(map(self._domain.size, block)))
            for names, start, end in zip(block, [0, *ends], ends, strict=False):
                shape = tuple(self._domain[name] for name in names)
                shares[names] = flat[start:end].reshape(shape)
        return [self._in_counts(names, shares[names]) for names in checked]

    def sample(
        self, n_rows: int, *, seed: int | None = None, rounding: bool = True, n_jobs: int = 1
    ) -> Codes:
        """Draw records; see `Model.sample`.

        With rounding, the size of each component and each attribute's levels in it are within one
        of what is expected. How two attributes' levels meet in a component is left to chance.
        """
        check_rows(self._domain, n_rows)
        thread_count(n_jobs)  # one draws, and what is no number is refused all the same
        generator = seeded(seed)
        no_groups = np.zeros(n_rows, dtype=np.int64)
        # First a component for each row, rounded as well: attributes are independent within it.
        members = draw_values(
            self._weights[None], no_groups, generator=generator, rounding=rounding
        )
        columns = self._draw(members, generator, rounding=rounding)
        if not self._constraints:
            return columns
        return self._rules.repaired(
            columns,
            # The component is kept, or components whose rows are seldom possible would vanish.
            redraw=lambda rows: self._draw(members[rows], generator, rounding=False),
            generator=generator,
        )

    def complete(
        self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None
    ) -> Codes:
        """Complete partial records exactly: a component given what is known, then its other levels.

        What all components rule out is completed by those that rule out the fewest of its given
        levels. Records that break a constraint are drawn again, see `repaired`.
        """
        generator = seeded(seed)

        def draw(part: Given) -> Mapping[str, Column]:
            missing = [name for name in self._domain.attributes if name not in part]
            return self._drawn(
                self._components_of(part, generator), missing, generator, rounding=False
            )

        return complete_possibly(
            draw,
            given,
            rules=self._rules,
            generator=generator,
        )

    def _components_of(self, given: Given, generator: np.random.Generator) -> IntArray:
        """A component for each record, drawn given the levels that are known of it."""
        logs = {name: _log(self._levels[self._rows[name]], _RULED_OUT) for name in given}
        prior = _log(self._weights, -np.inf)
        n_records = len(next(iter(given.values())))
        members = np.empty(n_records, dtype=np.int64)
        chunk = max(1, _CHUNK_CELLS // len(prior))
        for start in range(0, n_records, chunk):
            here = slice(start, start + chunk)
            # Bayes: the component's share times the probability of all that is known, in
            # logarithms.
            scores = np.repeat(prior[None], len(members[here]), axis=0)
            for name, codes in given.items():
                scores += logs[name][codes[here]]
            # Products of many small probabilities underflow, their logarithms do not.
            scores -= scores.max(axis=1, keepdims=True)
            members[here] = draw_each(np.exp(scores), generator=generator)
        return members

    def sample_where(
        self, wanted: Mapping[str, LevelWeights], n_rows: int, *, seed: int | None = None
    ) -> Codes:
        """Draw records of a slice exactly, however rare it is; see `Model.sample_where`.

        What all components rule out is drawn by those that rule out the fewest of the restricted
        attributes.
        """
        checked = check_slice(self._domain, wanted)
        constraints = slice_constraints(self._domain, self._constraints, checked)
        levels = self._levels.copy()
        log_weights = _log(self._weights, -np.inf)
        for name, scale in checked.items():
            inside = levels[self._rows[name]] * scale[:, None]
            shares = inside.sum(axis=0)
            # A component that rules out all wanted levels draws them by how much they are wanted,
            # and its weight says how unlikely that is.
            levels[self._rows[name]] = np.where(shares > 0, inside, scale[:, None])
            levels[self._rows[name]] /= levels[self._rows[name]].sum(axis=0)
            log_weights += _log(shares, _RULED_OUT)
        weights = np.exp(log_weights - log_weights.max())
        part = MixtureModel(
            domain=self._domain,
            levels=levels,
            weights=weights / weights.sum(),
            total=self._total,
            status=self._status,
            constraints=constraints,
        )
        return part.sample(n_rows, seed=seed)

    def _draw(
        self, members: NDArray[np.integer], generator: np.random.Generator, *, rounding: bool
    ) -> tuple[Column, ...]:
        """Rows of given components."""
        return tuple(
            self._drawn(members, self._domain.attributes, generator, rounding=rounding).values()
        )

    def _drawn(
        self,
        members: NDArray[np.integer],
        names: Iterable[str],
        generator: np.random.Generator,
        *,
        rounding: bool,
    ) -> dict[str, Column]:
        """Codes of some attributes for rows of given components."""
        columns = {}
        for name in names:
            # Rows of the table are what is drawn from: they must lie together in memory.
            table = np.ascontiguousarray(self._levels[self._rows[name]].T)
            values = draw_values(table, members, generator=generator, rounding=rounding)
            columns[name] = compact(values, self._domain[name])
        return columns

    @property
    def _rules(self) -> RowRules:
        return RowRules(domain=self._domain, constraints=self._constraints, one_way=self._one_way)

    def _one_way(self, name: str) -> Array:
        return self._levels[self._rows[name]] @ self._weights

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Total, status and constrained cliques; levels, weights and what is allowed as arrays."""
        cliques, arrays = constraints_to_state(self._constraints)
        state: State = {**self._fit_to_state(), "constraints": cliques}
        return state, arrays | {"levels": self._levels, "weights": self._weights}

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
    ) -> Self:
        """Rebuild a saved model."""
        return cls(
            domain=domain,
            levels=arrays["levels"],
            weights=arrays["weights"],
            **cls._fit_from_state(state),
            constraints=constraints_from_state(state, arrays, domain),
        )


def _check_proper(levels: Array, weights: Array, domain: Domain) -> None:
    if levels.shape != (sum(domain.shape), len(weights)):
        raise ParameterError(
            f"levels have shape {levels.shape}; give one row a level ({sum(domain.shape)}), "
            f"one column a component ({len(weights)})"
        )
    # A saved model comes from a file that anybody may have written.
    sums = [levels[rows].sum(axis=0) for rows in attribute_rows(domain).values()] + [
        weights.sum(keepdims=True)
    ]
    proper = all(np.allclose(total, 1.0, rtol=0, atol=1e-9) for total in sums)
    if not proper or (levels < 0).any() or (weights < 0).any():
        raise ParameterError(
            "levels and weights: give probabilities that sum to 1 in each attribute and component"
        )


def _log(shares: Array, of_zero: float) -> Array:
    return np.log(shares, out=np.full(shares.shape, of_zero), where=shares > 0)
