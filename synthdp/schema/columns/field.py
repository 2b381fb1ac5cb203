"""One field of a schema as JSON values: what types of columns read of it, each by its own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from synthdp.core.json_value import JsonValue
from synthdp.schema.words.texts import checked_name, in_column


@final
@dataclass(frozen=True, eq=False)
class Field:
    """A field, and the missing values of its schema.

    What is not of the type that it should be is a `SchemaError`, which names the column.
    """

    mapping: Mapping[str, Any]
    missing_values: tuple[str, ...]

    @cached_property
    def name(self) -> str:
        """Name of the column."""
        return checked_name(self.mapping.get("name"))

    @property
    def type(self) -> Any:
        """The field type of Frictionless Table Schema."""
        return self.mapping.get("type")

    def get(self, key: str) -> Any:
        """The value under a key; None if there is none."""
        return self.mapping.get(key)

    def __getitem__(self, key: str) -> JsonValue:
        """The value under a key, with its place in the schema."""
        return self._declared[key]

    @cached_property
    def _declared(self) -> JsonValue:
        return in_column(self.name, "", self.mapping)

    @cached_property
    def constraints(self) -> Mapping[str, Any]:
        """The value under ``constraints``."""
        return self["constraints"].default({}).mapping()

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What a column of any type is made of."""
        return {
            "name": self.name,
            "required": self["constraints"]["required"].default(False).flag(),
            "missing_values": self["missingValues"].default(self.missing_values).texts(),
            "title": self["title"].default("").text(),
            "description": self["description"].default("").text(),
        }

    @cached_property
    def levels(self) -> tuple[Any, ...] | None:
        """The enumerated levels: ``constraints.enum``, or ``categories`` of version 2."""
        enum = self["constraints"]["enum"]
        categories = self["categories"]
        if enum.is_given:
            return enum.sequence("a list of levels")
        if not categories.is_given:
            return None
        levels = categories.sequence("a list of levels")
        return tuple(
            level.get("value") if isinstance(level, Mapping) else level for level in levels
        )

    def own(self, allowed: Sequence[str]) -> Mapping[str, Any]:
        """Our own properties; a misspelt one must not pass silently."""
        own = self["synthdp"].default({})
        if own["derive"].is_given:
            own["derive"].refuse(
                "leaves something open, which a Schema cannot; read it as an OpenSchema"
            )
        own.check_keys(allowed, " for this kind of column")
        return own.mapping()

    def listed(self, key: str, things: str) -> tuple[Any, ...] | None:
        """A list among our own properties; None if it is not there."""
        given = self["synthdp"][key]
        return given.sequence(f"a list of {things}") if given.is_given else None

    def parts_of(self, key: str, lists: tuple[str, str]) -> dict[str, tuple[Any, ...]] | None:
        """One of our own properties that is an object of two lists; None if it is not there."""
        given = self["synthdp"][key]
        if not given.is_given:
            return None
        words = f"an object of {' and '.join(lists)}, each a list"
        if set(given.mapping(words)) != set(lists):
            given.expect(words)
        return {part: given[part].sequence() for part in lists}
