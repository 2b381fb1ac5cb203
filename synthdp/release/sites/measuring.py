"""Asking one table for what a plan says."""

import warnings
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, final

from synthdp.core.errors import CautionWarning, ParameterError
from synthdp.core.reporting import Report, silent
from synthdp.core.workload import Workload
from synthdp.data.rows import GivenTable, OpenedTable, header_of, rows_of
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.persistence.scrubbing import scrub_tracebacks
from synthdp.release.release import Release
from synthdp.release.rows import Rows
from synthdp.release.run_settings import AboutLike, RunSettings
from synthdp.release.sites.measuring_plan import MeasuringPlan
from synthdp.release.sites.planned import Planned
from synthdp.release.synthesis import Synthesis
from synthdp.release.table_run import finished
from synthdp.schema.public_files import as_schema

if TYPE_CHECKING:
    from synthdp.release.persistence.budget import Budget

PlanLike: TypeAlias = MeasuringPlan | Mapping[str, Any] | str | PathLike[str]


@scrub_tracebacks
def measure(
    data: Any,
    plan: PlanLike,
    *,
    dialect: str | Mapping[str, Any] | None = None,
    about: AboutLike = None,
    journal: str | PathLike[str] | None = None,
    budget: "Budget | str | PathLike[str] | None" = None,
    budget_note: str = "",
    report: Report = silent,
    rescue: Callable[[Any], object] | None = None,
) -> Synthesis:
    """Ask the sensitive table of one site for exactly what a plan says, under the plan's guarantee.

    Parameters
    ----------
    data
        The sensitive table, as in `synthesize`.
    plan
        The plan: a `MeasuringPlan`, its JSON as a mapping, or its file.
    dialect, about, journal, budget, budget_note, report, rescue
        As in `synthesize`; the budget is that of the people at this site.

    Returns
    -------
    Synthesis
        The noisy marginals with a certificate of their own, to be saved and handed to whoever
        combines. A model is fitted only if it is asked for.

    Raises
    ------
    SchemaError
        If the plan is none, or the table has other columns than it says.
    BudgetExceededError, PrivacyError, DataFileError, MissingExtraError, SourceError, ParameterError
        As `synthesize`.

    >>> import pandas as pd
    >>> from synthdp import plan_measurements
    >>> plan = plan_measurements({"sex": 2, "town": 3}, epsilon=1.0, delta=1e-9)
    >>> site = measure(pd.DataFrame({"sex": [0, 1, 1] * 50, "town": [2, 0, 1] * 50}), plan)
    >>> site.n_measured, site.certificate["guarantee"]
    (1, '(1, 1e-09)-differential privacy')
    """
    public = as_plan(plan)
    persistence = Persistence(journal=journal, budget=budget, budget_note=budget_note)
    table = GivenTable(data)
    declared = as_schema(public.schema, dialect=dialect)
    with table.opened(declared.dialect) as source:
        site = SiteRelease(public, about=about)
        rows = site.rows(source, dialect=dialect)
        with site.release.kept(persistence):
            synthesis = site.of(rows(), report=report, rescue=rescue)
    for caution in finished(synthesis, site.release.run.replay).cautions:
        warnings.warn(caution, CautionWarning, stacklevel=2)
    return synthesis


@final
class SiteRelease:
    """The release of one site by a plan, with everything public settled.

    Parameters
    ----------
    plan
        What is measured, and for which guarantee.
    about
        What the curator says of it.
    """

    def __init__(self, plan: MeasuringPlan, *, about: AboutLike = None) -> None:
        self._plan = plan
        wanted = dict.fromkeys(
            (marginal.clique for marginal in plan.marginals if marginal.clique), 1.0
        )
        self._settings = RunSettings(
            epsilon=plan.epsilon,
            delta=plan.delta,
            mechanism=Planned.by(plan),
            workload=Workload(wanted) if wanted else None,
            adjacency=plan.adjacency,
            accounting=plan.accounting,
            unit=plan.unit,
            max_rows_per_unit=plan.max_rows_per_unit,
            quality_share=0.0,
            # What is asked depends on no answer, and all sites ask the same.
            anyway=True,
            about=about,
        )
        stated = {"plan": {"sha256": plan.fingerprint}}
        self.release = Release(schema=plan.schema, settings=self._settings, stated=stated)

    def rows(
        self, source: OpenedTable, *, dialect: str | Mapping[str, Any] | None = None
    ) -> Callable[[], Rows]:
        """What reads the rows of an opened table when it is called; all else is checked now."""
        schema = as_schema(self._plan.schema, dialect=dialect)
        # Of the header only that it has these columns: all sites have them in the plan's order.
        schema.check_header(header_of(source), unit=self._plan.unit)
        return rows_of(source, schema, unit=self._plan.unit, max_rows=self._settings.max_rows)

    def of(
        self,
        rows: Rows,
        *,
        report: Report = silent,
        rescue: Callable[[Any], object] | None = None,
    ) -> Synthesis:
        """Measure the rows; complete without a model, which is fitted to all sites together."""
        measured = self.release.of(rows, report=report, rescue=rescue)
        return Synthesis(
            schema=measured.schema,
            measurements=measured.measurements,
            model=None,
            certificate=measured.certificate | {"complete": True},
        )


def as_plan(plan: PlanLike) -> MeasuringPlan:
    """The plan itself, or the one that a mapping or a file says; raises as `MeasuringPlan`."""
    if isinstance(plan, MeasuringPlan):
        return plan
    if isinstance(plan, Mapping):
        return MeasuringPlan.from_dict(plan)
    if isinstance(plan, str | PathLike):
        return MeasuringPlan.load(plan)
    raise ParameterError(
        f"plan is a {type(plan).__name__}; give a MeasuringPlan, its JSON as a mapping, or its file"
    )
