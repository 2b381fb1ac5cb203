"""How the tables of a package hang together: a tree of protected ones, and public ones that they
refer to.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, final

from synthdp.core.files.json_files import load_json
from synthdp.core.json_value import JsonValue
from synthdp.linked.package.linked_table import in_package, refuse_package
from synthdp.schema.words.headers import listed

_OF_PACKAGES: dict[str, tuple[str, ...]] = {
    "root": ("top", "unit"),
    "constraints": ("rules",),
    "note": (),
    "certificate": (),
}
_OF_RESOURCES: dict[str, tuple[str, ...]] = {
    "max_children": ("most_children", "max_rows"),
    "min_children": ("least_children", "min_rows"),
    "order": ("order_by", "ordered", "sort"),
    "limits": ("limit",),
    "increasing": ("strictly_increasing", "ascending"),
    "unique": ("distinct",),
    "orphans": ("placeholder", "placeholders"),
    "public": ("lookup",),
}
"""What ``synthdp`` can have at the top and in a resource, and what else that is called."""

_NAMES = "the name of a column, or a list of names"
_LINK = 'for instance {"fields": "home", "reference": {"resource": "homes", "fields": "id"}}'

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

    def __init__(self, resources: Mapping[str, Mapping[str, Any]], root: str | None) -> None:
        self._resources = dict(resources)
        self.public = tuple(
            name
            for name, resource in resources.items()
            if synthdp_part(resource, name)["public"].value
        )
        self._parents = {name: self._parent(name) for name in resources if name not in self.public}
        self.order = tuple(self._below(self._root(root)))
        """The protected tables, parents before children."""
        # Rows of a table that no root leads to are in no family, which is what a guarantee is of.
        if far := [name for name in self._parents if name not in self.order]:
            self._refuse_far(far)

    @classmethod
    def from_dict(cls, content: Any, folder: Path | None = None) -> Self:
        """The links of a description; schemas that are files are read if its folder is known."""
        package = in_package(content, None)
        words = "a list of tables, each with name, path and schema"
        resources = package["resources"].entries(words, least=1)
        own = package["synthdp"].default({})
        own.check_keys(_OF_PACKAGES)
        tables: dict[str, Mapping[str, Any]] = {}
        for resource in resources:
            name = resource["name"].text(words := "a name without dots, quotes and tabs")
            if not name or _MARKS & set(name) or name != name.strip():
                resource["name"].expect(words)
            if name in tables:
                refuse_package("two resources have this name; give each its own", name)
            content = resource.mapping()
            tables[name] = {**content, "schema": _schema(content, name, folder)}
        root = own["root"]
        return cls(tables, root.text() if root.is_given else None)

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
        keys = in_package(
            self._resources[name]["schema"].get("foreignKeys") or [], name, "foreignKeys"
        )
        for key in keys.entries():
            key.mapping(_LINK)
            reference = key["reference"]
            reference.mapping('an object such as {"resource": "households", "fields": "id"}')
            own = names_of(key["fields"])
            there = names_of(reference["fields"])
            other = reference["resource"].default("").text() or name
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
                    f"{listed(own)} refers to rows of the table itself, which no tree can hold; give each level a "
                    "table of its own, or leave that key out",
                    name,
                )
            if other not in self.public:
                parents.append(other)
        if len(parents) > 1:
            way_out = (
                'a row can belong to one of them only; make the other public ("synthdp": {"public": true}) if it is, '
                "or leave that key out and put what matters of that table into columns of this one"
            )
            refuse_package(
                f"it has two protected parents, {listed(parents)}; {way_out}",
                name,
            )
        return parents[0] if parents else None

    def _root(self, named: str | None) -> str:
        roots = [name for name, parent in self._parents.items() if parent is None]
        if named is not None:
            if named not in self._parents:
                refuse_package(
                    f"synthdp.root is {named!r}, which is no protected table; name one of them"
                )
            if (parent := self._parents[named]) is not None:
                refuse_package(
                    f"it is the root, but refers to {parent!r}; name the table at the top",
                    named,
                )
            return named
        if not roots:
            refuse_package(
                "every table refers to another: the links form a circle; one table must refer to none"
            )
        if len(roots) > 1:
            way_out = 'one may be the root; make others public ("synthdp": {"public": true}), or link them'
            refuse_package(f"{listed(roots)} refer to no other; {way_out}")
        return roots[0]

    def _below(self, name: str) -> Iterator[str]:
        # Level by level, so that each table comes after the one that it hangs on.
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


def names_of(key: JsonValue) -> tuple[str, ...]:
    """The columns of a key, which may be one text or a list."""
    names = (key.value,) if isinstance(key.value, str) else key.texts(_NAMES, least=1)
    if not all(names):
        key.expect(_NAMES)
    if len(set(names)) < len(names):
        key.refuse(f"names {listed(names)}; name each column once")
    return names


def synthdp_part(resource: Mapping[str, Any], name: str) -> JsonValue:
    """What stands under ``synthdp`` in a resource."""
    own = in_package(resource, name)["synthdp"].default({})
    own.check_keys(_OF_RESOURCES)
    own["public"].default(False).flag()
    return own


def _schema(resource: Mapping[str, Any], name: str, folder: Path | None) -> Mapping[str, Any]:
    schema = resource.get("schema")
    if isinstance(schema, str) and folder is not None:
        schema = load_json(folder / schema, f"schema of table {name!r}")
    declared = in_package(schema, name, "schema")
    declared.mapping("an object with a list of fields")
    declared["fields"].sequence("a list of fields")
    synthdp_part(resource, name)
    return declared.mapping()
