"""A run over one table of persons with several rows each."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report
from synthdp.data.rows import Here, engine_frame, header_of, opened_here, zones_of
from synthdp.linked.histories.history_release import HistoryRelease
from synthdp.linked.histories.history_rows import history_rows
from synthdp.linked.histories.history_synthesis import HistorySynthesis
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.run_settings import RunSettings
from synthdp.release.table_run import Finished, finished
from synthdp.schema.declared import FROM_DTYPES, Declared, settled_schema
from synthdp.schema.open_schema import OpenSchema


def release_history(
    data: Any,
    declared: Declared,
    settings: RunSettings,
    persistence: Persistence,
    *,
    report: Report,
    rescue: Callable[[HistorySynthesis | LearntDomain], object] | None,
) -> Finished:
    """One run over one table of persons whose rows hang together; parameters are those of
    `synthdp.synthesize`, which raises as this does.

    Protected as one is a person with all rows; but synthetic rows carry a fresh key of their
    person, and how rows of one person hang together is kept.
    """
    if isinstance(declared.kinds, str) and declared.kinds == FROM_DTYPES:
        raise ParameterError(
            f"kinds is {FROM_DTYPES!r}, which does not go with {settings.kept_by}; name the kind of each column"
        )
    schema, _ = settled_schema(declared, None, unit=settings.unit)
    with _opened(data, schema, settings.unit) as table:
        zoned = schema.in_zones(zones_of(table))
        run = HistoryRelease(schema=zoned, header=header_of(table), settings=settings)
        with run.kept(persistence):
            synthesis = run.of(table, report=report, rescue=rescue)
    return finished(synthesis, run.run.replay)


def _opened(data: Any, schema: OpenSchema, unit: str | None) -> AbstractContextManager[Here]:
    """The table, open to the end of the block."""
    frame = engine_frame(data)
    if frame is None or unit is None:
        return opened_here(data, schema.dialect)
    return nullcontext(history_rows(frame, schema, unit))
