"""Independent: every column on its own. The baseline that keeps no dependence at all."""

from dataclasses import dataclass
from typing import ClassVar, final

from synthdp.core.reporting import steps
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class Independent(Mechanism):
    """Measure all one-way marginals, with more of the budget for large ones that the workload asks
    for.

    Columns are right one by one and unrelated to each other: a baseline, or a choice for tables
    of which only the columns' distributions are wanted.
    """

    name: ClassVar[str] = "independent"
    reference: ClassVar[str] = "all one-way marginals, closed-form shares"
    is_gaussian: ClassVar[bool] = True

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        attributes = table.domain.attributes
        budget = table.ledger.remaining
        weights = task.workload.relative_weights(
            task.engine.unknown((name,) for name in attributes)
        )
        shares = measurement_shares(table.domain, weights)
        for clique, share in steps(task.report, "measuring columns", shares.items()):
            table.measure(clique, rho=budget * share)
        return task.fit(table.domain)(table.released)
