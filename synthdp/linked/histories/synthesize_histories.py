"""The door for one table of persons with several rows in an order: `synthesize_histories`."""

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, silent
from synthdp.data.rows import engine_frame, header_of, opened_here
from synthdp.inference.estimator import Estimator
from synthdp.linked.histories.history_release import HistoryRelease
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.mechanisms.shared.mechanism import Mechanism
from synthdp.privacy.accounting import Accounting
from synthdp.release.keeping.forgetting import forgetful
from synthdp.release.keeping.keeping import Keeping
from synthdp.release.run_settings import RunSettings
from synthdp.release.synthesize import warn_of
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import as_schema
from synthdp.schema.schema import Schema

if TYPE_CHECKING:
    from synthdp.release.keeping.budget import Budget


@forgetful
def synthesize_histories(
    data: Any,
    schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str],
    *,
    unit: str,
    max_rows_per_unit: int,
    order: str,
    epsilon: float,
    delta: float,
    dialect: str | Mapping[str, Any] | None = None,
    mechanism: str | Mechanism = "auto",
    engine: str | Estimator | None = None,
    accounting: str | Accounting | None = None,
    about: Mapping[str, Any] | str | PathLike[str] | None = None,
    journal: str | PathLike[str] | None = None,
    budget: "Budget | str | PathLike[str] | None" = None,
    budget_note: str = "",
    report: Report = silent,
    rescue: Callable[[HistorySynthesis], object] | None = None,
) -> HistorySynthesis:
    """Learn a synthetic version of a table in which persons have several rows, which come in an
    order.

    Protected as one is a person with all rows, as by `synthesize` with ``unit``; but here synthetic
    rows carry a fresh key of their person, and how rows of one person follow each other is kept.
    See ``docs/persons.md``.

    Parameters
    ----------
    data
        The sensitive table, in a file, in memory or in partitions, as in `synthesize`; not in an
        engine.
    schema
        What is public about it, as in `synthesize`; it declares all columns but ``unit``, and
        leaves nothing open.
    unit
        Column that tells persons apart.
    max_rows_per_unit
        Most rows of a person that are used, the first ones by ``order``: 1 to 1,000.
    order
        Column by which rows of one person are ordered; it may not be missing.
    epsilon, delta
        The guarantee: epsilon above 0; delta above 0 and far below 1 / (number of persons).
    dialect, mechanism, engine, accounting, about, journal, budget, budget_note, report
        As in `synthesize`.
    rescue
        Called with what was released so far if the run fails or is interrupted after something was
        paid for; save it, or the budget is lost.

    Warns
    -----
    CautionWarning
        As `synthesize`.

    Raises
    ------
    ParameterError
        If rows cannot be ordered by ``order``, something is left open, or another argument is out
        of range.
    BudgetExceededError, PrivacyError, DataFileError, MissingExtraError, SchemaError, SourceError
        As `synthesize`.

    >>> import numpy as np
    >>> import pandas as pd
    >>> persons = np.repeat(np.arange(500), 2)
    >>> table = pd.DataFrame({"person": persons, "year": [1, 2] * 500, "ill": persons % 2 == 0})
    >>> year = {"minimum": 1, "maximum": 2, "required": True}
    >>> schema = {
    ...     "fields": [
    ...         {"name": "year", "type": "integer", "constraints": year},
    ...         {"name": "ill", "type": "boolean", "constraints": {"required": True}},
    ...     ]
    ... }
    >>> whose = {"unit": "person", "max_rows_per_unit": 2, "order": "year"}
    >>> synthesis = synthesize_histories(
    ...     table, schema, **whose, epsilon=10, delta=1e-6, mechanism="independent"
    ... )
    >>> synthesis.sample(2, seed=0).to_dict("list")["person"]
    [1, 1, 2, 2]
    """
    settings = RunSettings(
        epsilon=epsilon,
        delta=delta,
        mechanism=mechanism,
        engine=engine,
        accounting=accounting,
        unit=unit,
        max_rows_per_unit=max_rows_per_unit,
        order=order,
        about=about,
    )
    keeping = Keeping(journal=journal, budget=budget, budget_note=budget_note)
    if engine_frame(data) is not None:
        raise ParameterError(
            "data stays in an engine, which cannot put rows in an order yet; give a file, or a frame"
        )
    declared = as_schema(schema, dialect=dialect)
    with opened_here(data, declared.dialect) as table:
        run = HistoryRelease(schema=declared, header=header_of(table), settings=settings)
        with run.kept(keeping):
            synthesis = run.of(table, report=report, rescue=rescue)
    warn_of(synthesis, synthesis.cautions, rescue, replay=run.run.replay)
    return synthesis
