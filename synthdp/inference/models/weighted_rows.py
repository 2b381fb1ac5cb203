"""A distribution on the rows of a public table: distinct rows, each with a weight."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.cliques import Clique
from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arrays import Array, Codes, cell_numbers, compact
from synthdp.inference.drawing import draw_counts, round_counts
from synthdp.inference.model import (
    FitStatus,
    Model,
    State,
    Wanted,
    check_clique,
    check_columns,
    check_sample_size,
    check_slice,
)
from synthdp.inference.models.public_support import SupportReport
from synthdp.inference.rows.partial_records import complete_from_rows, weights_inside
from synthdp.inference.rows.record_moves import Records
from synthdp.inference.saving import constraints_from_state, constraints_to_state


@final
class WeightedRowsModel(Model):
    """Weights on distinct rows; every row that it samples is one of them, every one it completes nearly.

    Parameters
    ----------
    domain
        The attributes and their sizes.
    columns
        For each attribute the codes of the rows, shape ``(n_distinct,)``.
    weights
        Share of each row, at least 0, adding up to 1.
    total
        Number of records that marginals add up to.
    status
        How the fit ended.
    support
        How well the rows can express what was measured.
    log_potentials
        For each measured clique what a cell adds to the logarithm of the weight of its rows: where
        a later fit starts.
    constraints
        What completed records keep to; the rows obey it already.

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
        columns: Sequence[NDArray[np.integer]],
        weights: Array,
        total: float,
        status: FitStatus,
        support: SupportReport,
        log_potentials: Mapping[Clique, Array],
        constraints: Sequence[Constraint] = (),
    ) -> None:
        super().__init__(domain=domain, total=total, status=status)
        check_columns(domain, columns)
        if weights.shape != columns[0].shape or not (weights >= 0).all() or not abs(weights.sum() - 1.0) < 1e-9:
            raise ParameterError("weights: give one for each row, at least 0, adding up to 1")
        self._columns = tuple(compact(column, size) for column, size in zip(columns, domain.shape, strict=True))
        self._weights = weights
        self._support = support
        self._log_potentials = dict(log_potentials)
        self._constraints = tuple(constraints)

    @property
    def support(self) -> SupportReport:
        """How well the rows can express what was measured."""
        return self._support

    @property
    def columns(self) -> Codes:
        """For each attribute the codes of the distinct rows, shape ``(n_distinct,)``."""
        return self._columns

    @property
    def weights(self) -> Array:
        """Share of each distinct row, shape ``(n_distinct,)``; they add up to 1."""
        return self._weights

    @property
    def log_potentials(self) -> Mapping[Clique, Array]:
        """For each measured clique what a cell adds to the logarithm of the weight of its rows."""
        return self._log_potentials

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Expected counts of the cells of one marginal, axes in the order of ``clique``."""
        names = check_clique(self._domain, clique)
        part = self._domain.project(names)
        cells = cell_numbers(self._domain, self._columns, names)
        shares = np.asarray(np.bincount(cells, self._weights, minlength=part.size()), dtype=np.float64)
        return Factor(part, self._total * shares.reshape(part.shape))

    def sample(self, n_rows: int, *, seed: int | None = None, rounding: bool = True) -> Codes:
        """Draw records; see `Model.sample`. With ``rounding`` each distinct row is within one of its expectation."""
        check_sample_size(n_rows)
        generator = np.random.default_rng(seed)
        draw = round_counts if rounding else draw_counts
        counts = draw(self._weights[None, :], np.array([n_rows]), generator=generator)[0]
        return self._rows(generator.permutation(np.repeat(np.arange(len(counts)), counts)))

    def complete(self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None) -> Codes:
        """Complete partial records by rows that agree with them, drawn in proportion to weight.

        A record that no row of any weight agrees with is completed by one that differs from it in
        fewest of the given attributes, and drawn again should that break a constraint (`repaired`).
        """
        return complete_from_rows(
            self._columns,
            self._weights,
            given,
            domain=self._domain,
            constraints=self._constraints,
            one_way=lambda name: self.marginal((name,)).values,
            seed=seed,
        )

    def sample_where(self, wanted: Mapping[str, Wanted], n_rows: int, *, seed: int | None = None) -> Codes:
        """Draw records of a slice exactly, however rare it is; see `Model.sample_where`."""
        checked = check_slice(self._domain, wanted)
        part = WeightedRowsModel(
            domain=self._domain,
            columns=self._columns,
            weights=weights_inside(self._domain, self._columns, self._weights, checked),
            total=self._total,
            status=self._status,
            support=self._support,
            log_potentials={},
        )
        return part.sample(n_rows, seed=seed)

    def _rows(self, positions: NDArray[np.int64]) -> Codes:
        return tuple(column[positions] for column in self._columns)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Cliques of potentials and constraints, total, status and support; rows, weights and tables as arrays."""
        cliques = list(self._log_potentials)
        constrained, arrays = constraints_to_state(self._constraints)
        state: State = {
            "cliques": [list(clique) for clique in cliques],
            "total": self._total,
            "status": asdict(self._status),
            "support": asdict(self._support),
            "constraints": constrained,
        }
        arrays |= {f"potential-{i}": self._log_potentials[clique] for i, clique in enumerate(cliques)}
        arrays["rows"] = np.stack(self._columns).astype(np.float64)
        arrays["weights"] = self._weights
        return state, arrays

    @classmethod
    def from_state(cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Self:
        """Rebuild a saved model."""
        cliques = [tuple(clique) for clique in cast("list[list[str]]", state["cliques"])]
        return cls(
            domain=domain,
            columns=tuple(arrays["rows"].astype(np.int64)),
            weights=arrays["weights"],
            total=float(cast("float", state["total"])),
            status=FitStatus(**cast("dict[str, object]", state["status"])),  # type: ignore[arg-type]
            support=SupportReport(**cast("dict[str, float]", state["support"])),
            log_potentials={clique: arrays[f"potential-{i}"] for i, clique in enumerate(cliques)},
            constraints=constraints_from_state(state, arrays),
        )


@final
class RecordModel(Model):
    """The distribution of the records of a synthetic table, each with a weight.

    Parameters
    ----------
    domain
        The attributes and their sizes.
    records
        Codes, shape ``(n_attributes, n_records)``, at least one record.
    weights
        Share of each record, shape ``(n_records,)``, summing to 1.
    total
        Number of records that marginals add up to.
    status
        How the fit ended.
    constraints
        What completed records keep to; the records obey it already.
    """

    kind: ClassVar[str] = "records"

    def __init__(
        self,
        *,
        domain: Domain,
        records: Records,
        weights: Array,
        total: float,
        status: FitStatus,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        super().__init__(domain=domain, total=total, status=status)
        self._records = np.array(records, dtype=np.int32)
        self._weights = weights
        self._constraints = tuple(constraints)

    @property
    def records(self) -> Records:
        """A copy of the records' codes, shape ``(n_attributes, n_records)``."""
        return self._records.copy()

    def with_status(self, status: FitStatus) -> "RecordModel":
        """The same records with another account of the fit."""
        return self._reweighted(self._weights, status)

    def _reweighted(self, weights: Array, status: FitStatus) -> "RecordModel":
        return RecordModel(
            domain=self._domain,
            records=self._records,
            weights=weights,
            total=self._total,
            status=status,
            constraints=self._constraints,
        )

    def marginal(self, clique: Sequence[str]) -> Factor:
        """Weighted counts of the records, scaled to the total."""
        names = check_clique(self._domain, clique)
        part = self._domain.project(names)
        cells = np.zeros(self._records.shape[1], dtype=np.int64)
        for name in names:
            cells *= self._domain[name]
            cells += self._records[self._domain.index(name)]
        shares = np.bincount(cells, weights=self._weights, minlength=part.size())
        return Factor(part, np.asarray(shares.reshape(part.shape) * self._total, dtype=np.float64))

    def sample(self, n_rows: int, *, seed: int | None = None, rounding: bool = True) -> Codes:
        """Draw records; see `Model.sample`. With ``rounding`` each is drawn within one of its expectation."""
        check_sample_size(n_rows)
        generator = np.random.default_rng(seed)
        counts = (round_counts if rounding else draw_counts)(
            self._weights[None, :], np.array([n_rows]), generator=generator
        )
        drawn = generator.permutation(np.repeat(np.arange(self._weights.size), counts[0]))
        return tuple(
            compact(column[drawn], size) for column, size in zip(self._records, self._domain.shape, strict=True)
        )

    def complete(self, given: Mapping[str, NDArray[np.integer]], *, seed: int | None = None) -> Codes:
        """Complete partial records by records that agree with them, drawn in proportion to weight.

        What no record agrees with is completed by one that differs from it in fewest of the given
        attributes, and drawn again should that break a constraint (`repaired`).
        """
        return complete_from_rows(
            tuple(self._records),
            self._weights,
            given,
            domain=self._domain,
            constraints=self._constraints,
            one_way=lambda name: self.marginal((name,)).values,
            seed=seed,
        )

    def sample_where(self, wanted: Mapping[str, Wanted], n_rows: int, *, seed: int | None = None) -> Codes:
        """Draw records of a slice exactly; see `Model.sample_where`. Some record must lie in it."""
        checked = check_slice(self._domain, wanted)
        inside = weights_inside(self._domain, tuple(self._records), self._weights, checked)
        return self._reweighted(inside, self._status).sample(n_rows, seed=seed)

    def to_state(self) -> tuple[State, dict[str, Array]]:
        """Total, status and constrained cliques; records, weights and what is allowed as arrays."""
        cliques, arrays = constraints_to_state(self._constraints)
        state: State = {"total": self._total, "status": asdict(self._status), "constraints": cliques}
        return state, arrays | {"records": self._records.astype(np.float64), "weights": self._weights}

    @classmethod
    def from_state(cls, state: Mapping[str, object], arrays: Mapping[str, Array], domain: Domain) -> Self:
        """Rebuild a saved model."""
        return cls(
            domain=domain,
            records=arrays["records"].astype(np.int32),
            weights=arrays["weights"],
            total=float(cast("float", state["total"])),
            status=FitStatus(**cast("dict[str, object]", state["status"])),  # type: ignore[arg-type]
            constraints=constraints_from_state(state, arrays),
        )
