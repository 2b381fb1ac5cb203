"""The public-data engine: weights on the rows of a public table of the same schema (PMW-pub)
[LVSUW21].

It finds the maximum-likelihood distribution among those that live on the rows of a public table,
as potentials on the measured cells: a row weighs as often as it occurs times
``exp(sum of the potentials of the cells it falls into)``, which is also, of all weightings with
these marginals, the closest to the public table. What was not measured is taken from that table.
A fit costs time in proportion to rows times measured cliques, whatever the cliques' graph.

Where the public table lacks what the measurements show, no weights help: the fit is then refused
(`public_support` says how that is decided), and short of it reported as strained.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.measurement import Coarsening, estimate_total
from synthdp.inference.arrays import Array, Codes, distinct_rows
from synthdp.inference.engine import Engine, FitProblem, check_warm_start, concluded
from synthdp.inference.loss import MarginalLoss
from synthdp.inference.model import Model, check_columns
from synthdp.inference.models.public_support import SupportReport, judge_support
from synthdp.inference.models.row_marginals import RowMarginals
from synthdp.inference.models.weighted_rows import WeightedRowsModel
from synthdp.inference.optimisers.mirror_descent import MirrorDescent
from synthdp.inference.optimisers.multipliers import minimise

_NEGLIGIBLE_LOSS = 1e-3
"""A loss per cell that a better fit could not lower by anything that matters; the noise's own size
is one half.
"""


@final
@dataclass(frozen=True, kw_only=True)
class PublicDataEngine(Engine):
    """Maximum-likelihood weights on the rows of a public table [LVSUW21].

    Raises
    ------
    ParameterError
        If the columns are no integer arrays of one length, or there is no row.

    >>> from synthdp.core.measurement import LinearMeasurement
    >>> public = (np.array([0, 0, 1, 1]), np.array([0, 1, 0, 0]))
    >>> engine = PublicDataEngine(columns=public)
    >>> domain = Domain(("a", "b"), (2, 2))
    >>> model = engine.estimate(domain, [LinearMeasurement(("a",), np.array([20.0, 60.0]), 1.0)])
    >>> model.marginal(("a", "b")).values.round(1).tolist(), model.support.verdict
    ([[10.0, 10.0], [60.0, 0.0]], 'fits')
    """

    name: ClassVar[str] = "public-data"
    columns: tuple[NDArray[np.integer], ...] = field(compare=False, hash=False, repr=False)
    """The public table: for each attribute of the domain an integer array of codes, shape
    ``(n_rows,)``. It must not hold anybody's secrets: rows of it end up in every sample. It
    takes no part in comparisons, and is not shown.
    """
    driver: MirrorDescent = field(default_factory=MirrorDescent)
    """The optimiser and its stopping rule."""
    max_missed_share: float = 0.1
    """Refuse when more than this share of the records certainly lies where no weighting of the
    public rows puts it, 0 to 1.
    """

    def __post_init__(self) -> None:
        columns = tuple(np.asarray(column) for column in self.columns)
        object.__setattr__(self, "columns", columns)
        for position, column in enumerate(columns):
            if column.ndim != 1 or column.dtype.kind not in "iu":
                raise ParameterError(
                    f"columns: number {position} is {column.ndim}-D {column.dtype}; give 1-D integers"
                )
        if len({len(column) for column in columns}) != 1 or len(columns[0]) == 0:
            raise ParameterError("columns: give as many codes in each, and one row or more")
        if not 0.0 <= self.max_missed_share <= 1.0:
            raise ParameterError(
                f"max_missed_share is {self.max_missed_share}; give a share, 0 to 1"
            )

    def over_merged(self, domain: Domain, coarsening: Coarsening) -> Self:
        """The engine with the levels of its public rows merged; see `Engine.over_merged`."""
        check_columns(domain, self.columns)
        groups = coarsening.groups
        merged = [
            groups[name][column] if name in groups else column
            for name, column in zip(domain.attributes, self.columns, strict=True)
        ]
        return replace(self, columns=tuple(merged))

    def fit(self, problem: FitProblem) -> WeightedRowsModel:
        """Fit the weights. Public rows that break a constraint are left out.

        Raises
        ------
        ParameterError
            Also if the public table does not fit the domain, no row of it obeys the constraints,
            or it cannot express the measurements.
        """
        domain = problem.domain
        measurements = problem.measurements
        constraints = problem.constraints
        columns, counts = self._support(domain, constraints)
        loss = MarginalLoss(domain, measurements)
        total = estimate_total(measurements)
        # Distinct rows, with how often each occurs as its start weight: a million public rows may
        # be a few thousand distinct ones.
        rows = RowMarginals(domain, columns, counts.astype(np.float64), loss.cliques)

        def marginals(theta: Array) -> Array:
            return total * loss.flatten(rows.marginals(rows.weights(loss.split(theta))))

        start = loss.flatten(_earlier_potentials(domain, problem.warm_start, loss))

        # The best single record is the best public row: the same bound as for other engines, over
        # the support.
        def least_slope(by_cell: Array) -> float:
            return float(rows.by_row(loss.split(by_cell)).min())

        theta, status = minimise(
            self.driver,
            marginals,
            loss,
            start,
            total=total,
            least=least_slope,
            progress=problem.progress,
        )
        covered = loss.flatten(rows.marginals(np.ones(len(counts)))) > 0
        # Cells without rows pull their potentials without end and without effect.
        # They would also be saved, and look like something that was learnt.
        tables = loss.split(np.where(covered, theta, 0.0))
        report, worst = judge_support(
            loss, marginals(theta), covered, total=total, least_slope=least_slope
        )
        self._check_support(report, worst)
        # A fit that is neither good nor provably short of support has only stalled.
        if (
            report.least_chi_squared < -2 * loss.n_cells
            and status.loss > _NEGLIGIBLE_LOSS * loss.n_cells
        ):
            status = replace(status, ended="stalled" if status.ended == "optimal" else status.ended)
        return WeightedRowsModel(
            domain=domain,
            columns=columns,
            weights=rows.weights(tables),
            total=total,
            status=concluded(self.name, status),
            support=report,
            log_potentials={
                clique: table.copy() for clique, table in zip(loss.cliques, tables, strict=True)
            },
            constraints=constraints,
        )

    def _support(
        self, domain: Domain, constraints: Sequence[Constraint]
    ) -> tuple[Codes, NDArray[np.int64]]:
        """The distinct public rows that obey the constraints, and how often each occurs."""
        check_columns(domain, self.columns)
        columns, counts = distinct_rows(domain, self.columns)
        possible = np.ones(len(counts), dtype=np.bool_)
        for constraint in constraints:
            constraint.check_fits(domain)
            # Rows that break a rule are left out before anything is fitted: no weight could make
            # them right.
            possible &= constraint.allowed[
                tuple(columns[domain.index(name)] for name in constraint.clique)
            ]
        if not possible.any():
            raise ParameterError(
                "constraints: no row of the public table obeys them all; give other public rows"
            )
        return tuple(column[possible] for column in columns), counts[possible]

    def _check_support(self, report: SupportReport, worst: Clique) -> None:
        if report.certain_share() <= self.max_missed_share:
            return
        raise ParameterError(
            f"public-data: the public rows cannot express the measurements: at least {report.missed_share:.1%} of the "
            f"records lie where no weights on them can reach, at least {report.uncovered_share:.1%} in cells without "
            f"any public row (mostly of {worst}); {self.max_missed_share:.1%} is allowed. Add public rows of the "
            "missing kind, use engine='graphical-model', or raise max_missed_share"
        )


def _earlier_potentials(
    domain: Domain, warm_start: Model | None, loss: MarginalLoss
) -> list[Array]:
    """The potentials of each measured clique in an earlier fit, on whatever rows, or zeros."""
    earlier = check_warm_start(warm_start, WeightedRowsModel, domain)
    potentials = earlier.log_potentials if earlier else {}
    return [
        potentials.get(clique, np.zeros(shape))
        for clique, shape in zip(loss.cliques, loss.shapes, strict=True)
    ]
