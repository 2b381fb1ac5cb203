"""Hierarchies: coarser levels of columns, declared once, such as the region of a district."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue


@final
@dataclass(frozen=True)
class HierarchyLevel:
    """A coarser level: each of its groups is made of levels of a column, or of a level below it."""

    name: str
    """What published tables call it."""
    of: str
    """The column, or the level below, that it groups."""
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """For each group its name, and what lies in it."""

    def as_property(self) -> dict[str, Any]:
        """The level as a schema has it."""
        return {"of": self.of, "groups": {name: list(members) for name, members in self.groups}}


def hierarchy_in(own: object, columns: Collection[str]) -> tuple[HierarchyLevel, ...]:
    """The levels of a hierarchy under ``synthdp`` of a schema, each after the one that it groups.

    Parameters
    ----------
    own
        What stands under ``synthdp``.
    columns
        Names of the columns that may be grouped.

    Raises `SchemaError` if a level groups what is not there, or names something twice.

    >>> own = {"hierarchy": {"region": {"of": "town", "groups": {"north": ["a"], "south": ["b"]}}}}
    >>> hierarchy_in(own, ["town"])[0].groups
    (('north', ('a',)), ('south', ('b',)))
    """
    given = JsonValue(own, "schema", "synthdp")
    if not isinstance(own, Mapping) or not given["hierarchy"].is_given:
        return ()
    declared = given["hierarchy"]
    left = dict(declared.mapping("an object of levels"))
    known = set(columns)
    levels: list[HierarchyLevel] = []
    while left:
        ready = [name for name in left if declared[name]["of"].text("a column or level") in known]
        if not ready:
            name = next(iter(left))
            declared[name]["of"].refuse(
                f"is {left[name]['of']!r}, which is no column and no level; correct the name"
            )
        for name in ready:
            levels.append(_level(declared[name], name, columns))
            known.add(name)
            del left[name]
    return tuple(levels)


def _level(given: JsonValue, name: str, columns: Collection[str]) -> HierarchyLevel:
    given.check_keys(("of", "groups"))
    if name in columns:
        raise SchemaError(
            f"schema: synthdp.hierarchy has a level {name!r}, but a column has that name; "
            "give the level another one, or keep the column and leave the level out"
        )
    groups = []
    placed: set[str] = set()
    for label in given["groups"].mapping("an object of groups"):
        members = given["groups"][label].sequence("a list of what lies in the group")
        texts = tuple(map(str, members))
        if twice := placed.intersection(texts):
            given["groups"].refuse(f"has {min(twice)!r} in two groups; put it into one")
        placed.update(texts)
        groups.append((str(label), texts))
    return HierarchyLevel(name, given["of"].text(), tuple(groups))


def hierarchy_property(levels: Sequence[HierarchyLevel]) -> dict[str, Any]:
    """What a schema has under ``synthdp`` for these levels; empty if there is none."""
    return {"hierarchy": {level.name: level.as_property() for level in levels}} if levels else {}
