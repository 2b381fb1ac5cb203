"""The GUM engine: a table of records, updated step by step until it matches the marginals [PrivSyn].

The noisy marginals are first made consistent (`LocalConsistencyEstimator`; the paper averages
them attribute by attribute instead). A table drawn from a tree of them is then moved towards all
of them (`RecordMoves`). Unlike pseudo-marginals, the result is a distribution: the table's own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import ParameterError
from synthdp.factor import Factor
from synthdp.inference.arithmetic import Array
from synthdp.inference.estimator import (
    Codes,
    Estimator,
    Model,
    State,
    Wanted,
    check_clique,
    check_sample_size,
    check_slice,
)
from synthdp.inference.local_consistency import LocalConsistencyEstimator
from synthdp.inference.local_polytope import DualNewton
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.mirror_descent import FitStatus, Progress
from synthdp.inference.partial_records import complete_from_rows, weights_inside
from synthdp.inference.pseudo_marginals import PseudoMarginalModel
from synthdp.inference.record_moves import RecordMoves, Records
from synthdp.inference.sampling import compact, draw_counts, round_counts
from synthdp.inference.store import constraints_from_state, constraints_to_state
from synthdp.measurement import LinearMeasurement

_FEWEST_RECORDS, _MOST_RECORDS = 20_000, 1_000_000


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


@final
@dataclass(frozen=True, kw_only=True)
class RecordUpdateEstimator(Estimator):
    """A table of records whose marginals come close to the noisy ones.

    Parameters
    ----------
    seed
        Of the draws and moves: the same measurements and seed give the same records. It costs no privacy.
    newton
        What makes the noisy marginals consistent.
    shrinkage
        Whether noisy counts are first drawn to what smaller tables say (see `LocalConsistencyEstimator`).
    moves
        How records are moved, and when to stop.
    n_records
        Number of records, at least 1; None: the estimated total, but 20,000 to 1,000,000.
    max_cells
        Refuse region graphs with more cells than this; a fit needs about 100 bytes a cell.
    """

    name: ClassVar[str] = "gum"
    seed: int = 0
    newton: DualNewton = field(default_factory=DualNewton)
    shrinkage: bool = True
    moves: RecordMoves = field(default_factory=RecordMoves)
    n_records: int | None = None
    max_cells: int = 50_000_000

    def estimate(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        *,
        constraints: Sequence[Constraint] = (),
        warm_start: Model | None = None,
        progress: Progress | None = None,
    ) -> RecordModel:
        """Fit the model; see `Estimator.estimate`. A warm start's records are moved on."""
        consistency = LocalConsistencyEstimator(newton=self.newton, shrinkage=self.shrinkage, max_cells=self.max_cells)
        wanted = consistency.estimate(domain, measurements, constraints=constraints)
        generator = np.random.default_rng(self.seed)
        records = self._start(wanted, warm_start, generator)
        n_iterations, converged = self.moves.move(
            records,
            wanted.targets(),
            domain=domain,
            constraints=constraints,
            generator=generator,
            progress=progress,
        )
        status = FitStatus(converged=converged and wanted.status.converged, n_iterations=n_iterations, loss=0.0)
        weights = np.full(records.shape[1], 1.0 / records.shape[1])
        model = RecordModel(
            domain=domain,
            records=records,
            weights=weights,
            total=wanted.total,
            status=status,
            constraints=constraints,
        )
        return model.with_status(replace(status, loss=_loss(model, measurements)))

    def _start(self, wanted: PseudoMarginalModel, warm_start: Model | None, generator: np.random.Generator) -> Records:
        if self.n_records is not None and self.n_records < 1:
            raise ParameterError(f"n_records is {self.n_records}; give 1 or more")
        n_records = self.n_records or int(np.clip(round(wanted.total), _FEWEST_RECORDS, _MOST_RECORDS))
        if not isinstance(warm_start, RecordModel):
            return wanted.tree_records(n_records, generator=generator)
        if warm_start.domain != wanted.domain:
            raise ParameterError(
                "warm_start: it is over another domain; give a model over the same attributes and sizes"
            )
        return wanted.possible_records(
            warm_start.sample(n_records, seed=int(generator.integers(1 << 62))), generator=generator
        )


def _loss(model: Model, measurements: Sequence[LinearMeasurement]) -> float:
    loss = MarginalLoss(model.domain, measurements)
    marginals = [model.marginal(clique).values for clique in loss.cliques]
    return loss.of_residual(loss.residual(loss.flatten(marginals)))
