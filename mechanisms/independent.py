"""Independent: every column on its own. The baseline that keeps no dependence at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, final

from synthdp.core.constraint import Constraint
from synthdp.core.reporting import Report, steps
from synthdp.core.workload import Workload
from synthdp.inference.engine import Engine
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.allocation import measurement_shares
from synthdp.mechanisms.shared.mechanism import Mechanism
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

    def release(
        self,
        table: PrivateTable,
        *,
        workload: Workload,
        engine: Engine,
        constraints: Sequence[Constraint] = (),
        report: Report,
    ) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        attributes = table.domain.attributes
        budget = table.ledger.remaining
        weights = workload.relative_weights(engine.unknown((name,) for name in attributes))
        shares = measurement_shares(table.domain, weights)
        for clique, share in steps(report, "measuring columns", shares.items()):
            table.measure(clique, rho=budget * share)
        fitting = partial(report, "fitting")
        return engine.estimate(
            table.domain, table.released, constraints=constraints, progress=fitting
        )
