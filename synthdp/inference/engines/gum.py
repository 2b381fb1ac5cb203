"""The GUM engine: a table of records, updated step by step until it matches the marginals
[PrivSyn].

The noisy marginals are first made consistent (`LocalConsistencyEngine`; the paper averages
them attribute by attribute instead). A table drawn from a tree of them is then moved towards all
of them (`RecordMoves`). Unlike pseudo-marginals, the result is a distribution: the table's own.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar, final

import numpy as np

from synthdp.core.errors import ParameterError
from synthdp.inference.arrays import cell_counts
from synthdp.inference.engine import Engine, FitProblem, check_warm_start, concluded
from synthdp.inference.engines.local_consistency import LocalConsistencyEngine
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import Ending, FitStatus, Model
from synthdp.inference.models.pseudo_marginals import PseudoMarginalModel
from synthdp.inference.models.weighted_rows import WeightedRowsModel
from synthdp.inference.optimisers.dual_newton import DualNewton
from synthdp.inference.rows.record_moves import RecordMoves, Records

_MIN_RECORDS, _MAX_RECORDS = 20_000, 1_000_000
"""Fewer could not express a share of 1e-4; more take time and memory, and are below any noise that
matters.
"""


@final
@dataclass(frozen=True, kw_only=True)
class RecordUpdateEngine(Engine):
    """A table of records whose marginals come close to the noisy ones."""

    name: ClassVar[str] = "gum"
    seed: int = 0
    """Of the draws and moves: the same measurements and seed give the same records. It costs no
    privacy.
    """
    newton: DualNewton = field(default_factory=DualNewton)
    """What makes the noisy marginals consistent."""
    shrinkage: bool = True
    """Whether noisy counts are first drawn to what smaller tables say (see
    `LocalConsistencyEngine`).
    """
    moves: RecordMoves = field(default_factory=RecordMoves)
    """How records are moved, and when to stop."""
    n_records: int | None = None
    """Number of records, at least 1; None: the estimated total, but 20,000 to 1,000,000."""
    max_cells: int = 50_000_000
    """Refuse region graphs with more cells than this; a fit needs about 100 bytes a cell."""

    def fit(self, problem: FitProblem) -> WeightedRowsModel:
        """Fit the model; a warm start's records are moved on."""
        domain = problem.domain
        consistency = LocalConsistencyEngine(
            newton=self.newton, shrinkage=self.shrinkage, max_cells=self.max_cells
        )
        # Records are moved towards tables that agree; noisy ones that contradict each other would
        # drive them in circles.
        wanted = consistency.fit(replace(problem, warm_start=None, progress=None))
        generator = np.random.default_rng(self.seed)
        # A table drawn from a tree of the strongest tables, or the earlier fit's rows: both are far
        # closer than independent columns.
        records = self._start(wanted, problem.warm_start, generator)
        n_iterations, has_settled = self.moves.move(
            records, wanted.wanted, progress=problem.progress
        )
        ended: Ending = "stalled" if has_settled else "stopped"
        columns = tuple(records)
        weights = np.full(records.shape[1], 1.0 / records.shape[1])
        loss = MarginalLoss(domain, problem.measurements)
        fitted = [
            wanted.total * cell_counts(domain, clique, columns, weights) for clique in loss.cliques
        ]
        reached = FitStatus(ended=ended, n_iterations=n_iterations, loss=loss.of_tables(fitted))
        status = concluded(self.name, reached, wanted="stalled")
        # Moving well towards the wrong tables is no good fit.
        if wanted.status.caution:  # what the records were moved to is not what it should be
            cautions = filter(None, (wanted.status.caution, status.caution))
            status = replace(status, ended="stopped", caution=". ".join(cautions))
        return WeightedRowsModel(
            domain=domain,
            columns=columns,
            weights=weights,
            total=wanted.total,
            status=status,
            constraints=problem.constraints,
        )

    def _start(
        self, wanted: PseudoMarginalModel, warm_start: Model | None, generator: np.random.Generator
    ) -> Records:
        if self.n_records is not None and self.n_records < 1:
            raise ParameterError(f"n_records is {self.n_records}; give 1 or more")
        n_records = self.n_records or int(np.clip(round(wanted.total), _MIN_RECORDS, _MAX_RECORDS))
        earlier = check_warm_start(warm_start, WeightedRowsModel, wanted.domain)
        if earlier is None:
            return wanted.rough_records(n_records, generator=generator)
        columns = earlier.sample(n_records, seed=int(generator.integers(1 << 62)))
        return wanted.possible_records(columns, generator=generator)
