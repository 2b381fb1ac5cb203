"""How the tables of a package hang together: a tree of protected ones, and public ones that they
refer to.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, final

from synthdp.core.files.json_files import load_json
from synthdp.linked.package.linked_table import refuse_package
from synthdp.schema.words.headers import listed
from synthdp.schema.words.texts import meant_key

_OF_PACKAGES = {"root": ("top", "unit"), "constraints": ("rules",), "note": ()}
_OF_RESOURCES: dict[str, tuple[str, ...]] = {
    "max_children": ("most_children", "max_rows"),
    "min_children": ("least_children", "min_rows"),
    "order": ("order_by", "ordered", "sort"),
    "limits": ("limit",),
    "public": ("lookup",),
}
"""What ``synthdp`` can have at the top and in a resource, and what else that is called."""

_MARKS = frozenset(".`\"'\n\r\t")
"""Characters that names of tables cannot have: columns are named ``table.column`` beside others."""


@final
class Links:
    """The resources of a package by name, and what refers to what.

    Parameters
    ----------
    resources
        Each as a JSON object, its schema in it.
    root
        The root that is named, if one is.
    """

    def __init__(self, resources: Mapping[str, Mapping[str, Any]], root: object) -> None:
        self._resources = dict(resources)
        self.public = tuple(
            name for name, resource in resources.items() if own_of(resource, name).get("public")
        )
        self._parents = {name: self._parent(name) for name in resources if name not in self.public}
        self.order = tuple(self._below(self._root(root)))
        """The protected tables, parents before children."""
        if far := [name for name in self._parents if name not in self.order]:
            self._refuse_far(far)

    @classmethod
    def from_dict(cls, content: Any, folder: Path | None = None) -> Self:
        """The links of a description; schemas that are files are read if its folder is known."""
        listed_ = content.get("resources") if isinstance(content, Mapping) else None
        if not isinstance(listed_, Sequence) or isinstance(listed_, str) or not listed_:
            refuse_package(
                "it has no list 'resources'; list the tables there, each with name, path and schema"
            )
        own = content.get("synthdp", {})
        _check_keys(own, _OF_PACKAGES, None)
        tables: dict[str, Mapping[str, Any]] = {}
        for resource in listed_:
            name = resource.get("name") if isinstance(resource, Mapping) else None
            if not isinstance(name, str) or not name or _MARKS & set(name) or name != name.strip():
                refuse_package(
                    f"the name of a table is {name!r}; give each a name without dots, quotes and tabs"
                )
            if name in tables:
                refuse_package("two resources have this name; give each its own", name)
            tables[name] = {**resource, "schema": _schema(resource, name, folder)}
        return cls(tables, own.get("root"))

    @property
    def names(self) -> tuple[str, ...]:
        """All tables in the order of the description."""
        return tuple(self._resources)

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        """One resource."""
        return self._resources[name]

    def parent(self, name: str) -> str | None:
        """The protected table that one hangs on."""
        return self._parents[name]

    def references(self, name: str) -> Iterator[tuple[tuple[str, ...], str, tuple[str, ...]]]:
        """Of each foreign key of a table its columns, the table that it refers to, and the columns
        there.
        """
        keys = self._resources[name]["schema"].get("foreignKeys") or []
        if not isinstance(keys, Sequence) or isinstance(keys, str):
            refuse_package("foreignKeys is not a list; list the keys there", name)
        for key in keys:
            reference = key.get("reference") if isinstance(key, Mapping) else None
            if (
                not isinstance(reference, Mapping)
                or "fields" not in key
                or "fields" not in reference
            ):
                way_out = 'write {"fields": "household", "reference": {"resource": "households", "fields": "id"}}'
                refuse_package(f"a foreign key is not complete; {way_out}", name)
            own, there = names_of(key["fields"], name), names_of(reference["fields"], name)
            other = reference.get("resource") or name
            if other not in self._resources:
                refuse_package(
                    f"a foreign key refers to {other!r}; there are {listed(self.names)}", name
                )
            if len(own) != len(there):
                refuse_package(
                    f"the foreign key to {other!r} has {len(own)} columns and refers to {len(there)}",
                    name,
                )
            yield own, other, there

    def _parent(self, name: str) -> str | None:
        parents = []
        for own, other, _ in self.references(name):
            if other == name:
                refuse_package(
                    f"{listed(own)} refers to rows of the table itself, which no tree can hold",
                    name,
                )
            if other not in self.public:
                parents.append(other)
        if len(parents) > 1:
            way_out = 'a row can belong to one of them only; make the other public ("synthdp": {"public": true})'
            refuse_package(
                f"it has two protected parents, {listed(parents)}; {way_out} or leave that key out",
                name,
            )
        return parents[0] if parents else None

    def _root(self, named: object) -> str:
        roots = [name for name, parent in self._parents.items() if parent is None]
        if named is not None:
            if named not in self._parents:
                refuse_package(
                    f"synthdp.root is {named!r}, which is no protected table; name one of them"
                )
            if (parent := self._parents[str(named)]) is not None:
                refuse_package(
                    f"it is the root, but refers to {parent!r}; name the table at the top",
                    str(named),
                )
            return str(named)
        if not roots:
            refuse_package(
                "every table refers to another: the links form a circle; one table must refer to none"
            )
        if len(roots) > 1:
            way_out = 'one may be the root; make others public ("synthdp": {"public": true}), or link them'
            refuse_package(f"{listed(roots)} refer to no other; {way_out}")
        return roots[0]

    def _below(self, name: str) -> Iterator[str]:
        level = [name]
        while level:
            yield from level
            level = [child for child, parent in self._parents.items() if parent in level]

    def _refuse_far(self, far: Sequence[str]) -> None:
        roots = [name for name in far if self._parents[name] is None]
        if roots:
            refuse_package(
                "it is not linked to the root; link it, make it public, or leave it out", roots[0]
            )
        refuse_package(
            f"the links of {listed(far)} form a circle, or hang on one; one table must refer to none"
        )


def names_of(given: Any, table: str) -> tuple[str, ...]:
    """The columns of a key, which may be one text or a list."""
    names = (given,) if isinstance(given, str) else given
    if (
        not isinstance(names, Sequence)
        or not names
        or not all(isinstance(n, str) and n for n in names)
    ):
        refuse_package(f"a key is {given!r}; give the name of a column, or a list of names", table)
    if len(set(names)) < len(names):
        refuse_package(f"a key names {listed(names)}; name each column once", table)
    return tuple(names)


def own_of(resource: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """What stands under ``synthdp`` in a resource."""
    own = resource.get("synthdp", {})
    _check_keys(own, _OF_RESOURCES, name)
    if not isinstance(own.get("public", False), bool):
        refuse_package(f"synthdp.public is {own['public']!r}; write true or false", name)
    result: Mapping[str, Any] = own
    return result


def _check_keys(own: Any, allowed: Mapping[str, tuple[str, ...]], table: str | None) -> None:
    if not isinstance(own, Mapping):
        refuse_package(f"synthdp is {own!r}; write an object in braces", table)
    for key in own:
        if key not in allowed:
            meant = meant_key(str(key), allowed)
            refuse_package(
                f"synthdp.{key} is not known; "
                + (f"did you mean {meant!r}?" if meant else f"there is {listed(allowed)}"),
                table,
            )


def _schema(resource: Mapping[str, Any], name: str, folder: Path | None) -> Mapping[str, Any]:
    schema = resource.get("schema")
    if isinstance(schema, str) and folder is not None:
        schema = load_json(folder / schema, f"schema of table {name!r}")
    if not isinstance(schema, Mapping) or not isinstance(schema.get("fields"), Sequence):
        refuse_package("it has no schema with a list of fields; describe its columns there", name)
    own_of(resource, name)
    result: Mapping[str, Any] = schema
    return result
