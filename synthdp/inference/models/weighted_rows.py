"""A distribution on the rows of a table: each row with a weight."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.factor import Factor
from synthdp.core.requests import check_cliques, check_rows, seeded
from synthdp.inference.arrays import Array, CodeColumn, Codes, IntArray, cell_counts, compact
from synthdp.inference.jobs import thread_count
from synthdp.inference.model import (
    FitStatus,
    LevelWeights,
    Model,
    State,
    check_columns,
    check_slice,
)
from synthdp.inference.models.public_support import SupportReport
from synthdp.inference.rows.constraint_repair import RowRules
from synthdp.inference.rows.partial_records import (
    complete_from_rows,
    drawn_inside,
    weights_nearest,
    with_wanted_levels,
)
from synthdp.inference.saving import constraints_from_state, constraints_to_state, tables_from_state
from synthdp.inference.value_drawing import draw_counts, order_of_alike, round_counts


@final
class WeightedRowsModel(Model):
    """Weights on rows; every row that it samples is one of them, every one it completes or finds
    for a slice nearly.

    Parameters
    ----------
    domain
        The attributes and their sizes.
    columns
        For each attribute the codes of the rows, shape ``(n_rows,)``, at least one row.
    weights
        Share of each row, at least 0, adding up to 1.
    total
        Number of records that marginals add up to.
    status
        How the fit ended.
    constraints
        What completed records keep to; the rows obey it already.
    support
        For the rows of a public table, how well they can express what was measured.
    log_potentials
        For each measured clique what a cell adds to the logarithm of the weight of its rows: where
        a later fit starts. Empty if the weights were not fitted.

    Raises
    ------
    ParameterError
        If columns or weights do not fit together.
    """

    kind: ClassVar[str] = "weighted-rows"

    def __init__(
        self,
        *,
        domain: Domain,
        columns: Sequence[CodeColumn],
        weights: Array,
        total: float,
        status: FitStatus,
        constraints: Sequence[Constraint] = (),
        support: SupportReport | None = None,
        log_potentials: Mapping[Clique, Array] | None = None,
    ) -> None:
        super().__init__(domain=domain, total=total, status=status)
        check_columns(domain, columns)
        if (
            weights.shape != columns[0].shape
            or not (weights >= 0).all()
            or not abs(weights.sum() - 1.0) < 1e-9
        ):
            raise ParameterError("weights: give one for each row, at least 0, adding up to 1")
        # A public table may have millions of rows: codes take as few bytes as the levels allow.
        self._columns = tuple(
            compact(column, size) for column, size in zip(columns, domain.shape, strict=True)
        )
        self._weights = weights
        self._constraints = tuple(constraints)
        self._support = support
        self._log_potentials = dict(log_potentials or {})

    @property
    def support(self) -> SupportReport | None:
        """How well the rows can express what was measured; None if they are no public table's."""
        return self._support

    @property
    def columns(self) -> Codes:
        """For each attribute the codes of the rows, shape ``(n_rows,)``."""
        return self._columns

    @property
    def weights(self) -> Array:
        """Share of each row, shape ``(n_rows,)``; they add up to 1."""
        return self._weights

    @property
    def log_potentials(self) -> Mapping[Clique, Array]:
        """For each measured clique what a cell adds to the logarithm of the weight of its rows."""
        return self._log_potentials

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, axes in the order of ``clique``."""
        (names,) = check_cliques(self._domain, [clique])
        return self._in_counts(
            names, cell_counts(self._domain, names, self._columns, self._weights)
        )

    def sample(
        self, n_rows: int, *, seed: int | None = None, rounding: bool = True, n_jobs: int = 1
    ) -> Codes:
        """Draw records; see `Model.sample`. With ``rounding`` each row is within one of its
        expectation.
        """
        check_rows(self._domain, n_rows)
        thread_count(n_jobs)  # one draws, and what is no number is refused all the same
        return self._drawn(self._weights, n_rows, seeded(seed), rounding=rounding)

    def complete(
        self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None
    ) -> Codes:
        """Complete partial records by rows that agree with them, drawn in proportion to weight.

        A record that no row of any weight agrees with is completed by one that differs from it in
        fewest of the given attributes, and drawn again should that break a constraint (`repaired`).
        """
        return complete_from_rows(self._columns, self._weights, given, rules=self._rules, seed=seed)

    def sample_where(
        self, wanted: Mapping[str, LevelWeights], n_rows: int, *, seed: int | None = None
    ) -> Codes:
        """Draw records of a slice exactly, however rare it is; see `Model.sample_where`.

        If no row lies in it, those that do in most attributes get wanted levels in the others,
        drawn by the levels' own shares, and are drawn again should that break a constraint
        (`repaired`).
        """
        checked = check_slice(self._domain, wanted)
        check_rows(self._domain, n_rows)
        generator = seeded(seed)
        weights, n_outside = weights_nearest(self._domain, self._columns, self._weights, checked)
        if not n_outside:
            return self._drawn(weights, n_rows, generator, rounding=True)

        def draw(count: int) -> Codes:
            nearest = self._drawn(weights, count, generator, rounding=True)
            return with_wanted_levels(
                nearest, checked, domain=self._domain, one_way=self._one_way, generator=generator
            )

        return drawn_inside(draw, checked, n_rows, rules=self._rules, generator=generator)

    @property
    def _rules(self) -> RowRules:
        return RowRules(domain=self._domain, constraints=self._constraints, one_way=self._one_way)

    def _one_way(self, name: str) -> Array:
        return self.marginal((name,)).values

    @cached_property
    def _order(self) -> IntArray:
        return order_of_alike(self._columns, self._weights)

    def _drawn(
        self, weights: Array, n_rows: int, generator: np.random.Generator, *, rounding: bool
    ) -> Codes:
        """Rows by their weights; rounding goes through them in order, so that it also keeps close
        what many share.
        """
        draw = round_counts if rounding else draw_counts
        # Rounding hands what is left of a row on to the next one, and neighbours in this order are
        # alike: so sums over alike rows are right, too.
        counts = draw(weights[None, self._order], np.array([n_rows]), generator=generator)[0]
        # Shuffled, or the order of the rows would show which are copies of one.
        positions = generator.permutation(np.repeat(self._order, counts))
        return tuple(column[positions] for column in self._columns)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Cliques of potentials and constraints, total, status and support; rows, weights and
        tables as arrays.
        """
        cliques = list(self._log_potentials)
        constrained, arrays = constraints_to_state(self._constraints)
        state: State = {
            "cliques": [list(clique) for clique in cliques],
            **self._fit_to_state(),
            "support": asdict(self._support) if self._support else None,
            "constraints": constrained,
        }
        arrays |= {
            f"potential-{i}": self._log_potentials[clique] for i, clique in enumerate(cliques)
        }
        arrays["rows"] = np.stack(self._columns).astype(np.float64)
        arrays["weights"] = self._weights
        return state, arrays

    @classmethod
    def from_state(
        cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain
    ) -> Self:
        """Rebuild a saved model; those of kind "records" have no potentials, and their rows another
        name.
        """
        cliques = [tuple(clique) for clique in cast("list[list[str]]", state.get("cliques", []))]
        rows = arrays["rows"] if "rows" in arrays else arrays["records"]
        support = cast("dict[str, float] | None", state.get("support"))
        return cls(
            domain=domain,
            columns=tuple(rows.astype(np.int64)),
            weights=arrays["weights"],
            **cls._fit_from_state(state),
            constraints=constraints_from_state(state, arrays, domain),
            support=SupportReport(**support) if support else None,
            log_potentials=tables_from_state(domain, cliques, arrays, "potential"),
        )
