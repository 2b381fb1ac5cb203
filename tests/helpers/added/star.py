"""A mechanism that is added from outside of the package: every column, and its dependence on one."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.core.workload import Workload
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.mechanism import Mechanism, check_shares
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.private_table import PrivateTable


@final
@dataclass(frozen=True, kw_only=True)
class Star(Mechanism):
    """Every column, and its dependence on one of them."""

    name: ClassVar[str] = "star"
    reference: ClassVar[str] = "an example of synthdp's own"
    is_gaussian: ClassVar[bool] = True  # no `select`, whose noise is not Gaussian
    centre: str | None = None
    """Column that every other one is measured with; None: the first one."""
    one_way_share: float = 0.3
    """Share of the budget for the columns by themselves, between 0 and 1."""

    def __post_init__(self) -> None:
        check_shares(self, "one_way_share")

    def check(self, domain: Domain, workload: Workload) -> None:  # noqa: ARG002 - it serves none
        """Refuse a centre that is no column."""
        if self.centre is not None and self.centre not in domain.attributes:
            raise ParameterError(
                f"star: centre {self.centre!r} is no column; name one of the schema's"
            )

    def release(self, table: PrivateTable, task: Task) -> Model:
        """Spend what is left of the table's budget and return a model of the table."""
        names = table.domain.attributes
        budget = table.ledger.remaining
        centre = self.centre or names[0]
        pairs = [(centre, name) for name in names if name != centre]
        share = Fraction(self.one_way_share) if pairs else Fraction(1)
        for done, name in enumerate(names):
            task.report("measuring columns", done, len(names))
            table.measure((name,), rho=budget * share / len(names))
        for done, pair in enumerate(pairs):
            task.report("measuring pairs", done, len(pairs))
            table.measure(pair, rho=budget * (1 - share) / len(pairs))
        return task.fit(table.domain)(table.released)
