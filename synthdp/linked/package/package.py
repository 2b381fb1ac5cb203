"""Packages of linked tables, as a Frictionless Data Package describes them, with additions under
``synthdp``.

``{"root": "households", "constraints": [..]}`` stands at the top, ``{"max_children": 4, "order":
"date", "limits": [..]}`` in a resource, and ``{"public": true}`` in one that is a look-up table.
See docs/linked.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, Self, final

import pandas as pd

from synthdp.core.files.json_files import load_json
from synthdp.data.tables import open_table
from synthdp.linked.package.joined import (
    Joined,
    Lookup,
    joined_columns,
    looked_up,
    rule_on_sources,
    with_rows,
)
from synthdp.linked.package.linked_table import LinkedTable, in_package, refuse_package
from synthdp.linked.package.links import Links
from synthdp.linked.package.resources import linked_table, with_levels_of


@final
@dataclass(frozen=True, kw_only=True)
class Package:
    """Tables that form a tree, and public tables beside them.

    Parameters
    ----------
    tables
        The protected tables: the root first, parents before children.
    lookups
        File of each public table.
    rules
        Rules between columns of several tables, which are named ``table.column``.
    joined
        Columns of public tables, by the names that rules and marginals have for them.
    content
        The description as JSON values, from which `from_dict` makes the same package without
        look-up tables.
    """

    tables: tuple[LinkedTable, ...]
    lookups: Mapping[str, str]
    rules: tuple[Mapping[str, Any], ...]
    content: Mapping[str, Any]
    joined: Mapping[str, Joined] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, content: Any, lookup: Lookup | None = None) -> Self:
        """The package that a description says.

        Parameters
        ----------
        content
            A Data Package as JSON values.
        lookup
            Gives the rows of public tables; needed where a column that refers to one declares no
            levels, and where rules or marginals are on columns of public tables. Rows may stand in
            their resources instead, as ``data``.

        Raises
        ------
        SchemaError
            If it is no such description; links form a circle, there are several roots, or a table
            has two protected parents; it names the table and what to change.

        >>> people = {
        ...     "fields": [{"name": "id"}, {"name": "sex", "type": "boolean"}],
        ...     "primaryKey": "id",
        ... }
        >>> package = Package.from_dict({"resources": [{"name": "people", "schema": people}]})
        >>> package.root.name, package.root.key, package.root.attributes
        ('people', ('id',), ('people.sex',))
        """
        links = Links.from_dict(content)
        rows = looked_up(links, lookup)
        settled = with_levels_of(links, rows)
        settled = {
            name: {**resource, "path": _path(resource, name)} for name, resource in settled.items()
        }
        tables = tuple(linked_table(settled, links, name) for name in links.order)
        lookups = {name: settled[name]["path"] for name in links.public}
        declared = in_package(content, None)["synthdp"]["constraints"].default(())
        rules = [rule.mapping() for rule in declared.entries("a list of rules")]
        for table in tables:
            if table.schema is not None and table.schema.relatives is not None:
                table.schema.relatives.check_table(table.name, rules, table.order)
        joined = joined_columns(tables, links, rows)
        columns = {
            f"{table.name}.{column.name}": column
            for table in tables
            for column in (() if table.schema is None else table.schema.columns)
        }
        whole = with_rows(settled, links, rows)
        plain = {**content, "resources": [whole[name] for name in links.names]}
        return cls(
            tables=tables,
            lookups=lookups,
            rules=tuple(rule_on_sources(rule, joined, columns) for rule in rules),
            content=plain,
            joined=joined,
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a ``datapackage.json``, and the public tables beside it; raises as `from_dict`, and
        `DataFileError`.
        """
        content, folder = load_json(path, "package"), Path(path).parent
        links = Links.from_dict(content, folder)

        def lookup(name: str) -> pd.DataFrame:
            with open_table(folder / _path(links[name], name)) as table:
                return table.whole()

        return cls.from_dict(
            {**content, "resources": [links[name] for name in links.names]}, lookup
        )

    @property
    def root(self) -> LinkedTable:
        """The table whose rows are protected, each with everything below it."""
        return self.tables[0]

    def __getitem__(self, name: str) -> LinkedTable:
        """The protected table of that name."""
        return next(table for table in self.tables if table.name == name)

    def children(self, name: str) -> tuple[LinkedTable, ...]:
        """The tables that hang on one."""
        return tuple(table for table in self.tables if table.parent == name)

    def ancestors(self, name: str) -> tuple[LinkedTable, ...]:
        """The tables that one hangs on, the root first."""
        parent = self[name].parent
        return () if parent is None else (*self.ancestors(parent), self[parent])


def _path(resource: Mapping[str, Any], name: str) -> str:
    """The file of a resource, inside of its package's folder."""
    path = resource.get("path", "")
    if isinstance(path, Sequence) and not isinstance(path, str) and len(path) == 1:
        (path,) = path
    path = in_package(path, name, "path").text("the name of one file; put its parts together")
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts or "\\" in path or "://" in path:
        refuse_package(
            f"path is {path!r}; give a file in the folder of the package, or below it", name
        )
    return path
