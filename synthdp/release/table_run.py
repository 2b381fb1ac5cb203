"""A run over one table of any kind, from its first byte to a `Synthesis`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from synthdp.core.cautions import grouped
from synthdp.core.reporting import Report
from synthdp.data.rows import GivenTable, header_of, rows_of, zones_of
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.release import Release
from synthdp.release.result import Released
from synthdp.release.run_settings import RunSettings
from synthdp.release.synthesis import Synthesis
from synthdp.schema.declared import Declared, settled_schema

if TYPE_CHECKING:
    from synthdp.release.learnt_domain import LearntDomain

DTYPES_ARE_PUBLIC = "dtypes of the table, which were taken to be public knowledge"
"""What a certificate says of kinds that are dtypes."""


@final
@dataclass(frozen=True)
class Finished:
    """What a run released, and what whoever called the door is to be warned of."""

    release: Any
    cautions: tuple[str, ...]


def finished(release: Released, replay: str, *, but: str = "") -> Finished:
    """A run that has ended: of its cautions those of many columns are one; ``but`` was said before.

    ``replay`` is a caution of the call only: that all answers came from a journal.
    """
    new = [caution for caution in release.cautions if caution != but]
    return Finished(release, (*([replay] if replay else []), *grouped(new)))


def release_table(
    data: Any,
    declared: Declared,
    settings: RunSettings,
    persistence: Persistence,
    *,
    report: Report,
    rescue: "Callable[[Synthesis | LearntDomain], object] | None",
) -> Finished:
    """One run over one table; parameters are those of `synthdp.synthesize`, which raises as this
    does.
    """
    table = GivenTable(data)
    schema, public_dtypes = settled_schema(
        declared, table.dtypes, unit=settings.unit, learns_bins=table.learns_bins
    )
    with table.opened(schema.dialect) as source:
        public = schema.reordered(header_of(source), unit=settings.unit)
        public = public.in_zones(zones_of(source))
        stated = {"kinds": DTYPES_ARE_PUBLIC} if public_dtypes else {}
        run = Release(schema=public, settings=settings, stated=stated)
        rows = rows_of(source, public, unit=settings.unit, max_rows=settings.max_rows)
        with run.kept(persistence):
            result = run.of(rows(), report=report, rescue=rescue)
    synthesis = result.in_form(table.form(public_dtypes, result.schema.table_columns))
    fitting = (
        synthesis.existing_model.status.caution if synthesis.existing_model is not None else ""
    )  # what a fit says of itself, when it ends
    return finished(synthesis, run.run.replay, but=fitting)
