"""Planned: a mechanism that asks for what a public plan says, and leaves the fit to whoever
combines.
"""

from dataclasses import InitVar, dataclass
from typing import ClassVar, final

from synthdp.core.domain import Domain
from synthdp.core.reporting import steps
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.mechanisms.shared.task import Task
from synthdp.privacy.accounting import Accounting
from synthdp.privacy.private_table import PrivateTable
from synthdp.release.sites.measuring_plan import MeasuringPlan


@final
@dataclass(frozen=True, kw_only=True)
class Planned(Mechanism):
    """MEASURE the marginals of a plan, and nothing else; what is asked depends on no answer."""

    name: ClassVar[str] = "plan"
    reference: ClassVar[str] = "docs/sites.md"
    is_gaussian: ClassVar[bool] = True
    default_accounting: ClassVar[Accounting] = Accounting.GDP
    plan: str
    """The hash of the plan."""
    measuring: InitVar[MeasuringPlan]
    """The plan itself. It is in a certificate by its hash and its events."""

    def __post_init__(self, measuring: MeasuringPlan) -> None:
        object.__setattr__(self, "_measuring", measuring)

    @classmethod
    def by(cls, plan: MeasuringPlan) -> "Planned":
        """The mechanism that measures by a plan."""
        return cls(plan=plan.fingerprint, measuring=plan)

    def share_of_columns(self, domain: Domain) -> float:  # noqa: ARG002
        """None: the plan says all that a site is asked, and no look is part of it."""
        return 0.0

    def release(self, table: PrivateTable, task: Task) -> None:
        """Measure all of the plan."""
        plan: MeasuringPlan = self._measuring  # type: ignore[attr-defined]
        planned = list(zip(plan.marginals, plan.costs, strict=True))
        for marginal, rho in steps(task.report, "measuring the plan", planned):
            table.measure(marginal.clique, rho=rho, coarsening=marginal.coarsening)
