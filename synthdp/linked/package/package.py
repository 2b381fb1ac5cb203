"""Packages of linked tables, as a Frictionless Data Package describes them, with additions under
``synthdp``.

``{"root": "households", "constraints": [..]}`` stands at the top, ``{"max_children": 4, "order":
"date", "limits": [..]}`` in a resource, and ``{"public": true}`` in one that is a look-up table.
See docs/linked.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any, Self, final

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.core.files.json_files import load_json
from synthdp.core.imports import import_named
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
from synthdp.linked.package.opened import closed_fields, columns_of_rules, joint_schema
from synthdp.linked.package.parted_tables import conditions_of, parted_table
from synthdp.linked.package.resources import fields_with_open_bins, linked_table, with_levels_of
from synthdp.schema.columns.column import Column
from synthdp.schema.declared_columns import FIELDS_IN_ZONES
from synthdp.schema.open_schema import OpenSchema

ONE_TABLE = "synthdp-history"
"""The profile of packages that stand for one table, so that their releases are known for what they
are.
"""


@final
@dataclass(frozen=True, kw_only=True)
class Package:
    """Tables that form a tree, and public tables beside them."""

    tables: tuple[LinkedTable, ...]
    """The protected tables: the root first, parents before children."""
    lookups: Mapping[str, str]
    """File of each public table."""
    rules: tuple[Mapping[str, Any], ...]
    """Rules between columns of several tables, which are named ``table.column``."""
    content: Mapping[str, Any]
    """The description as JSON values, from which `from_dict` makes the same package without
    look-up tables.
    """
    joined: Mapping[str, Joined] = field(default_factory=dict)
    """Columns of public tables, by the names that rules and marginals have for them."""

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
        rules = [rule_on_sources(rule, joined, columns) for rule in rules]
        conditions = conditions_of(rules)
        tables = tuple(
            parted_table(table, settled[table.name]["schema"]["fields"], conditions)
            for table in tables
        )
        whole = with_rows(settled, links, rows)
        plain = {**content, "resources": [whole[name] for name in links.names]}
        package = cls(
            tables=tables,
            lookups=lookups,
            rules=tuple(rules),
            content=plain,
            joined=joined,
        )
        if package.is_open:
            _ = package.joint_schema  # refuses rules on what nobody knows before the run
        return package

    @classmethod
    def load(cls, path: str | PathLike[str], elsewhere: Lookup | None = None) -> Self:
        """Read a ``datapackage.json``, and the public tables beside it; raises as `from_dict`, and
        `DataFileError`.

        ``elsewhere`` gives the rows of public tables that have no path.
        """
        content = load_json(path, "package")
        folder = Path(path).parent
        links = Links.from_dict(content, folder)

        def lookup(name: str) -> pd.DataFrame:
            place = _path(links[name], name)
            if not place:
                if elsewhere is None:
                    raise ParameterError(f"package: table {name!r} has no path; give it one")
                return elsewhere(name)
            with open_table(folder / place) as table:
                return table.whole()

        return cls.from_dict(
            {**content, "resources": [links[name] for name in links.names]}, lookup
        )

    @property
    def root(self) -> LinkedTable:
        """The table whose rows are protected, each with everything below it."""
        return self.tables[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of all tables, called ``table.column``."""
        return self.joint_schema.names

    @property
    def is_of_one_table(self) -> bool:
        """Whether it stands for one table of persons with several rows."""
        return self.content.get("profile") == ONE_TABLE

    def to_dict(self) -> dict[str, Any]:
        """The description as JSON values; see ``content``."""
        return dict(self.content)

    @property
    def is_open(self) -> bool:
        """Whether anything of its columns is to be learnt."""
        return any(table.is_open for table in self.tables)

    def check_closed(self) -> None:
        """Raise `SchemaError` if it is, where levels are needed and nothing may be learnt."""
        if self.is_open:
            column = self.joint_schema.open_columns[0].name
            refuse_package(
                f"column {column!r} is open; give the description beside the synthetic tables, or the package of "
                "the release, in which it is declared as it was learnt"
            )

    @cached_property
    def joint_schema(self) -> OpenSchema:
        """What is declared of the columns of all tables, called ``table.column``."""
        return joint_schema(self.tables, self.rules)

    def with_open_bins(self) -> "Package":
        """The package as a run takes it: bins of columns that declare bounds and no bins are left
        open, as those of one table are; not of keys, and of columns whose levels a rule or a limit
        on the rows of a parent needs before the run, or whose decimals a rule does.
        """
        settled, spoken_of = columns_of_rules(self.tables, self.rules)
        fields = {
            resource["name"]: fields_with_open_bins(
                resource, self[resource["name"]], settled, spoken_of
            )
            for resource in self.content["resources"]
            if resource["name"] not in self.lookups
        }
        return self._with_fields(fields) if any(fields.values()) else self

    def closed(self, learnt: Mapping[str, Column]) -> "Package":
        """The package in which open columns are declared as they were learnt.

        ``learnt`` has columns by their names in `joint_schema`, which are also their own. Raises
        `SchemaError` if one is none of these.
        """
        joint = self.joint_schema.partly_closed(learnt)
        joint = joint.parted(learnt, conditions_of(self.rules))
        return self._with_fields({table.name: closed_fields(table, joint) for table in self.tables})

    def in_zones(self, zones: Mapping[str, Mapping[str, str]]) -> "Package":
        """The package with moments of some tables' own columns written in time zones, which the
        public types of files name; see `fields_in_zones`.
        """
        changed: dict[str, dict[str, Any]] = {}
        fields_of = {each["name"]: each.get("schema") for each in self.content["resources"]}
        for table in self.tables:
            names = () if table.declared is None else table.declared.names
            given = zones.get(table.name, {})
            own = {name: given[name] for name in names if name in given}
            if own:
                fields = import_named(FIELDS_IN_ZONES)(fields_of[table.name]["fields"], own)
                changed[table.name] = {field["name"]: field for field in fields}
        return self._with_fields(changed) if changed else self

    def _with_fields(self, fields: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> "Package":
        """The package with other fields of some tables, by their names."""
        resources = [
            _with_fields(resource, fields.get(resource["name"], {}))
            for resource in self.content["resources"]
        ]
        return Package.from_dict({**self.content, "resources": resources})

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


def _with_fields(
    resource: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A resource with other fields in place of those of their names."""
    schema = resource["schema"]
    changed = [fields.get(field["name"], field) for field in schema["fields"]]
    return {**resource, "schema": {**schema, "fields": changed}}


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
