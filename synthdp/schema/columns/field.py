"""One field of a schema as JSON values: what types of columns read of it, each by its own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from synthdp.core.errors import SchemaError
from synthdp.schema.words.texts import checked_name, refuse


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
        """What stands under a key; None if nothing does."""
        return self.mapping.get(key)

    @cached_property
    def constraints(self) -> Mapping[str, Any]:
        """What stands under ``constraints``."""
        return self._object("constraints")

    @cached_property
    def shared(self) -> dict[str, Any]:
        """What a column of any type is made of."""
        return {
            "name": self.name,
            "required": self._flag("required"),
            "missing_values": self.texts("missingValues", self.missing_values),
            "title": self._text("title"),
            "description": self._text("description"),
        }

    @cached_property
    def levels(self) -> tuple[Any, ...] | None:
        """The enumerated levels: ``constraints.enum``, or ``categories`` of version 2."""
        key, levels = "constraints.enum", self.constraints.get("enum")
        if levels is None and self.get("categories") is not None:
            key, levels = "categories", self.get("categories")
        if levels is None:
            return None
        if not isinstance(levels, Sequence) or isinstance(levels, str):
            refuse(self.name, f"{key} is {levels!r}; give a list of levels")
        if key == "categories":
            return tuple(
                level.get("value") if isinstance(level, Mapping) else level for level in levels
            )
        return tuple(levels)

    def own(self, allowed: Sequence[str]) -> Mapping[str, Any]:
        """Our own properties; a misspelt one must not pass silently."""
        own = self._object("synthdp")
        if "derive" in own:
            refuse(
                self.name,
                "synthdp.derive leaves something open, which a Schema cannot; read it as an OpenSchema",
            )
        for key in own:
            if key not in allowed:
                listed = ", ".join(allowed) if allowed else "nothing"
                refuse(
                    self.name,
                    f"{f'synthdp.{key}'!r} is not known for this kind of column; it may have {listed}",
                )
        return own

    def listed(self, own: Mapping[str, Any], path: str, things: str) -> tuple[Any, ...] | None:
        """A list among our own properties, by the last key of its path; None if it is not there."""
        entries = own.get(path.rpartition(".")[2])
        if entries is None:
            return None
        if not isinstance(entries, Sequence) or isinstance(entries, str):
            refuse(self.name, f"synthdp.{path} is {entries!r}; give a list of {things}")
        return tuple(entries)

    def parts_of(
        self, own: Mapping[str, Any], key: str, lists: tuple[str, str]
    ) -> dict[str, tuple[Any, ...]] | None:
        """One of our own properties that is an object of two lists; None if it is not there."""
        given = own.get(key)
        if given is None:
            return None
        if not isinstance(given, Mapping) or set(given) != set(lists):
            refuse(
                self.name,
                f"synthdp.{key} is not an object of {' and '.join(lists)}; write both, each a list",
            )
        return {part: self.listed(given, f"{key}.{part}", "values") or () for part in lists}

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """A list of texts."""
        return texts_in(self.mapping, key, default, column=self.name)

    def _object(self, key: str) -> Mapping[str, Any]:
        value = self.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            refuse(self.name, f"{key} is {value!r}; write an object in braces")
        return value

    def _flag(self, key: str) -> bool:
        value = self.constraints.get(key, False)
        if not isinstance(value, bool):
            refuse(self.name, f"constraints.{key} is {value!r}; write true or false")
        return value

    def _text(self, key: str) -> str:
        value = self.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            refuse(self.name, f"{key} is {value!r}; write a text")
        return value


def texts_in(
    mapping: Mapping[str, Any], key: str, default: tuple[str, ...], *, column: str = ""
) -> tuple[str, ...]:
    """A list of texts; ``column`` is empty for a property of the whole schema."""
    values = mapping.get(key, default)
    if (
        isinstance(values, str)
        or not isinstance(values, Sequence)
        or not all(isinstance(text, str) for text in values)
    ):
        where = f"column {column!r}: " if column else ""
        raise SchemaError(f"schema: {where}{key} is {values!r}; give a list of texts")
    return tuple(values)
