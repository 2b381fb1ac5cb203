"""Independent: every column on its own. The baseline that keeps no dependence at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, final

from synthdp.constraint import Constraint
from synthdp.inference.estimator import Estimator, Model
from synthdp.mechanism import Mechanism, Report
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class Independent(Mechanism):
    """Measure all one-way marginals with equal shares of the budget.

    Columns are right one by one and unrelated to each other: a baseline, or a choice for tables
    of which only the columns' distributions are wanted.
    """

    name: ClassVar[str] = "independent"
    reference: ClassVar[str] = "all one-way marginals, equal shares"

    def release(
        self, table: PrivateTable, *, engine: Estimator, constraints: Sequence[Constraint] = (), report: Report
    ) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        attributes = table.domain.attributes
        rho = table.ledger.remaining / len(attributes)
        for done, name in enumerate(attributes):
            report("measuring columns", done, len(attributes))
            table.measure((name,), rho=rho)
        fitting = partial(report, "fitting")
        return engine.estimate(table.domain, table.released, constraints=constraints, progress=fitting)
