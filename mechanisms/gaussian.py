"""Gaussian: the whole workload, measured at once with the noise that suits it best [2305.08175]."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, final

import numpy as np

from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import steps
from synthdp.core.workload import MIN_USE
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.measurement_plan import planned_shares
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.mechanisms.shared.residuals import best_linear_estimates
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class Gaussian(Mechanism):
    """No selection: MEASURE marginals that hold the whole workload, and GENERATE.

    Which marginals, and with what shares of the budget, follows from the workload alone: those that
    give the least expected L1 error of unbiased estimates (`planned_shares`). Columns that the
    workload leaves out are measured a little.

    For budgets that are large for the workload, or where known noise matters more than little
    error: `synthdp.mechanisms.shared.residuals.best_linear_estimates` makes unbiased estimates with
    exact noise of all marginals of the workload out of the measurements. The model, which has no
    negative counts, is usually nearer to the truth.

    ``findings`` of the model hold the standard deviation of these estimates, in records, which is
    the same for all cells of a marginal, or at most that where records lie beyond declared bounds.
    """

    name: ClassVar[str] = "gaussian"
    reference: ClassVar[str] = (
        "Xiao, He, Zhang, Kifer 2023, arXiv:2305.08175, with whole marginals for residuals"
    )
    is_gaussian: ClassVar[bool] = True
    measures_whole_workload: ClassVar[bool] = True

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        self.check(table.domain, task.workload)
        domain = table.domain
        budget = table.ledger.remaining
        weights = dict(task.workload.weights)
        # A column that no marginal holds would be drawn evenly over its levels, which is worse than
        # noise.
        little = MIN_USE * max(weights.values())
        weights |= {
            (name,): little for name in domain.attributes if name not in task.workload.importance
        }
        # What is published costs nothing, so its share goes to the others.
        weights = {clique: weights[clique] for clique in task.engine.unknown(weights)}
        shares = planned_shares(domain, weights) if weights else {}
        if not shares:  # Of published shares nobody knows how many records they are of.
            shares = dict.fromkeys(task.engine.unknown([()]), Fraction(1))
        # Nothing is selected, so no answer decides what is asked next: order is of no account.
        for clique, share in steps(task.report, "measuring the workload", shares.items()):
            table.measure(clique, rho=budget * share)
        model = task.fit(domain)(table.released)
        model.findings["unbiased_estimates"] = [
            {"columns": list(estimate.clique), "stddev_records": estimate.stddev}
            for estimate in best_linear_estimates(
                domain,
                [_with_one_scale(measurement) for measurement in table.released],
                task.engine.unknown(task.workload.cliques),
            )
        ]
        return model


def _with_one_scale(measurement: LinearMeasurement) -> LinearMeasurement:
    """A measurement as if all its cells had the noise of the noisiest.

    Outermost bins have more than others where records beyond the bounds were added to them.
    Estimates are linear in the counts, so that what is stated of their noise is then too much,
    never too little.
    """
    if np.ndim(measurement.stddev) == 0:
        return measurement
    stddev = float(np.max(measurement.stddev))
    return replace(measurement, stddev=stddev)
