"""A run over the tables of a package, in files and in memory."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.reporting import Report, finishing, silent
from synthdp.data.loading import chunks_of
from synthdp.data.rows import Here, engine_frame, header_of, opened_here, whole_frame
from synthdp.linked.linked_release import LinkedRelease
from synthdp.linked.linked_synthesis import LinkedSynthesis
from synthdp.linked.linking.linked_rows import LinkedTableReader, check_header, linked_sources
from synthdp.linked.package.package import Package
from synthdp.privacy.private_table import CountSource
from synthdp.release.keeping.keeping import Keeping
from synthdp.release.run_settings import RunSettings
from synthdp.release.table_run import Finished, finished
from synthdp.schema.words.headers import listed

if TYPE_CHECKING:
    pass

Tables = Mapping[str, Any]
Opened = Mapping[str, Here]


def release_package(
    data: Tables | str | PathLike[str],
    schema: Package | Mapping[str, Any] | str | PathLike[str] | None,
    settings: RunSettings,
    keeping: Keeping,
    *,
    kinds: object,
    dialect: object,
    report: Report,
    rescue: Callable[[LinkedSynthesis], object] | None,
) -> Finished:
    """One run over the tables of a package; parameters are those of `synthdp.synthesize`, which
    raises as this does.

    Protected as one is a row of the root table with all rows below it.
    """
    is_file = isinstance(data, str | PathLike)
    others = {"kinds": kinds, "dialect": dialect, "schema": schema if is_file else None}
    settings.check_combined("package", others)
    tables = None if is_file else _named(data, schema)
    described, folder = package_of(data if is_file else schema, tables)
    run = LinkedRelease(package=described, settings=settings)
    with ExitStack() as stack:
        found = opened_tables(described, tables, folder, stack)
        with run.kept(keeping):
            synthesis = run.of(lambda: read_sources(run, found), report=report, rescue=rescue)
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


def package_of(package: Any, tables: Tables | None) -> tuple[Package, Path | None]:
    """A package, as an object, a mapping or a file, and the folder of its file if it is in one."""
    if isinstance(package, Package):
        return package, None
    if isinstance(package, str | PathLike):
        return Package.load(package), Path(package).parent

    def lookup(name: str) -> pd.DataFrame:
        if tables is None or name not in tables:
            raise ParameterError(
                f"tables: there is no {name!r}, a public table to which others refer; give it"
            )
        return whole_frame(tables[name], name=f"tables[{name!r}]")

    return Package.from_dict(package, lookup), None


def opened_tables(
    package: Package, tables: Tables | None, folder: Path | None, stack: ExitStack
) -> Opened:
    """The protected tables, open for reading, their headers checked.

    Raises
    ------
    ParameterError, DataFileError, SchemaError
        If one is missing, cannot be opened, or has other columns than the package says; no row is
        read.
    """
    names = [table.name for table in package.tables]
    if tables is not None and (
        unknown := [name for name in tables if name not in {*names, *package.lookups}]
    ):
        raise ParameterError(
            f"tables: {unknown[0]!r} is no table of the package; there are {listed(names)}"
        )
    found: dict[str, Here] = {}
    for table in package.tables:
        given = None if tables is None else tables.get(table.name)
        if given is None and (folder is None or tables is not None or not table.path):
            raise ParameterError(
                f"tables: there is no {table.name!r}, which the package has; give it"
            )
        if engine_frame(given) is not None:
            raise ParameterError(
                f"tables[{table.name!r}] stays in an engine; of a package give tables in memory, or files"
            )
        place = given if given is not None else Path(folder or "", table.path)
        opened = opened_here(place, table.dialect, name=f"tables[{table.name!r}]")
        found[table.name] = stack.enter_context(opened)
        check_header(table, list(header_of(found[table.name])))
    return found


def read_sources(
    run: LinkedRelease, tables: Opened, report: Report = silent
) -> dict[str, CountSource]:
    """Read all tables, and link their rows."""
    readers: dict[str, LinkedTableReader] = {}
    with finishing(report) as told:
        for table in run.package.tables:
            told(f"reading {table.name}", len(readers), len(run.package.tables))
            readers[table.name] = LinkedTableReader(table)
            for chunk in chunks_of(tables[table.name]):
                readers[table.name].add(chunk)
                del chunk  # as in `held_rows`
    return dict(linked_sources(run.all_views, readers, run.unit))
