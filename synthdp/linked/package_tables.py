"""The tables of a package, opened for reading: in files or in memory."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.data.rows import (
    Here,
    engine_frame,
    header_of,
    opened_here,
    opened_source,
    streamed_rows,
    whole_frame,
    zones_of,
)
from synthdp.linked.linking.linked_rows import check_header
from synthdp.linked.package.linked_table import LinkedTable, refuse_package
from synthdp.linked.package.package import Package
from synthdp.schema.words.headers import listed

if TYPE_CHECKING:
    from synthdp.data.engines.engine_frame import EngineFrame

Tables = Mapping[str, Any]
Opened = Mapping[str, Here]


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
        if engine_frame(tables[name]) is not None:
            return rows_in_engine(tables[name])
        return whole_frame(tables[name], name=f"tables[{name!r}]")

    return Package.from_dict(package, lookup), None


def database_tables(address: str, stack: ExitStack) -> Callable[[str], Any]:
    """What opens the table of a database that has a name, until the stack ends; raises as
    `opened_source`.
    """
    return lambda name: stack.enter_context(opened_source(address, name)).given.to_native()


def rows_in_engine(table: Any) -> pd.DataFrame:
    """All rows of a public table in an engine."""
    frame = engine_frame(table)
    assert frame is not None
    names = list(frame.columns)
    return streamed_rows(frame, names, used=names, keys=()).whole()


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
    here: dict[str, Here] = {}
    for table in package.tables:
        given = None if tables is None else tables.get(table.name)
        if given is None and (folder is None or tables is not None or not table.path):
            raise ParameterError(
                f"tables: there is no {table.name!r}, which the package has; give it"
            )
        # Its rows stay where they are until they are counted; there is nothing to open or close.
        if (elsewhere := engine_frame(given)) is not None:
            check_header(table, list(elsewhere.columns))
            here[table.name] = _streamed(table, elsewhere)
            continue
        place = given if given is not None else Path(folder or "", table.path)
        opened = opened_here(place, table.dialect, name=f"tables[{table.name!r}]")
        here[table.name] = stack.enter_context(opened)
        check_header(table, list(header_of(here[table.name])))
    return here


def in_zones_of(package: Package, opened: Opened) -> Package:
    """The package with its moments in the time zones that the types of its tables' files name."""
    return package.in_zones({name: zones_of(table) for name, table in opened.items()})


def _streamed(table: LinkedTable, frame: "EngineFrame") -> Here:
    """The rows of a table in an engine, by its columns in the package."""
    own = () if table.declared is None else table.declared.names
    keys = dict.fromkeys([*table.row_key, *table.parent_key])
    names = [name for name in table.fields if name in frame.columns]
    try:
        return streamed_rows(frame, names, used=list(dict.fromkeys([*keys, *own])), keys=keys)
    except SchemaError as error:
        refuse_package(str(error), table.name)
