"""A run over the tables of a package, in files and in memory."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from os import PathLike

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, finishing, silent
from synthdp.data.loading import chunks_of
from synthdp.linked.linked_release import LinkedRelease
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.linking.linked_rows import LinkedRows, LinkedTableReader
from synthdp.linked.package_tables import Opened, Tables, in_zones_of, opened_tables, package_of
from synthdp.release.learnt_domain import LearntDomain
from synthdp.release.persistence.persistence import Persistence
from synthdp.release.run_settings import RunSettings
from synthdp.release.table_run import Finished, finished
from synthdp.schema.declared import Declared


def release_package(
    data: Tables | str | PathLike[str],
    declared: Declared,
    settings: RunSettings,
    persistence: Persistence,
    *,
    report: Report,
    rescue: Callable[[LinkedSynthesis | LearntDomain], object] | None,
) -> Finished:
    """One run over the tables of a package; parameters are those of `synthdp.synthesize`, which
    raises as this does.

    Protected as one is a row of the root table with all rows below it.
    """
    is_file = isinstance(data, str | PathLike)
    schema = declared.schema
    others = {"kinds": declared.kinds, "dialect": declared.dialect}
    others |= {"schema": schema if is_file else None}
    settings.check_combined("package", others)
    tables = None if is_file else _named(data, schema)
    described, folder = package_of(data if is_file else schema, tables)
    with ExitStack() as stack:
        opened = opened_tables(described, tables, folder, stack)
        run = LinkedRelease(package=in_zones_of(described, opened), settings=settings)
        with run.kept(persistence):
            synthesis = run.of(lambda: read_sources(run, opened), report=report, rescue=rescue)
    return finished(synthesis, run.run.replay)


def _named(data: object, schema: object) -> Tables:
    """Tables by name; raises `ParameterError` if these, or the package that they are of, are not
    there.
    """
    if not isinstance(data, Mapping):
        raise ParameterError(
            "data is one table, and schema a package; give its tables by name, as a mapping, or the path of its "
            "datapackage.json as data"
        )
    if schema is None:
        raise ParameterError(
            "data is a mapping, that is tables by name, and no package says how they are linked; give it as schema, or "
            "one table as data"
        )
    return data


def read_sources(run: LinkedRelease, tables: Opened, report: Report = silent) -> LinkedRows:
    """Read all tables, and link their rows."""
    readers: dict[str, LinkedTableReader] = {}
    with finishing(report) as progress:
        for table in run.package.tables:
            progress(f"reading {table.name}", len(readers), len(run.package.tables))
            readers[table.name] = LinkedTableReader(table)
            for chunk in chunks_of(tables[table.name]):
                readers[table.name].add(chunk)
                del chunk  # as in `held_rows`
    return LinkedRows(run.package.tables, readers, run.unit)
