"""What a person has who wants a synthetic table: a file, and a declaration of its columns."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.crude_checks import Reading


@dataclass(frozen=True)
class Export:
    """A table as some system writes it, and what a person says of it."""

    name: str
    file: str
    """Its name, with the ending that says what kind of file it is."""
    write: Callable[[Path], None]
    """Writes the file."""
    declaration: Mapping[str, Any]
    """A kinds file, or a schema if it has ``fields``."""
    options: tuple[str, ...] = ()
    """Further options of ``synthdp run``, such as a dialect."""
    reading: Reading = field(default_factory=Reading)
    """What is true of the file."""

    @property
    def is_schema(self) -> bool:
        return isinstance(self.declaration.get("fields"), list)

    def fields(self) -> dict[str, Any]:
        """What is said of each column that is to be synthesised, by its name; generated ones left
        out.
        """
        if self.is_schema:
            ignored = self.declaration.get("synthdp", {}).get("ignore", [])
            fields = {
                each["name"]: each
                for each in self.declaration["fields"]
                if each["name"] not in ignored
            }
        else:
            fields = {name: kind for name, kind in self.declaration.items() if name != "synthdp"}
        return {name: each for name, each in fields.items() if _kind(each) not in GENERATED}

    def missing(self, name: str) -> list[str]:
        """Texts that are declared to mean "missing" in a column."""
        said = self.fields()[name]
        own = said.get("missingValues") if isinstance(said, dict) else None
        return list(
            own or self.declaration.get("missingValues") or [""] if self.is_schema else own or [""]
        )

    def has_levels(self, name: str) -> bool:
        """Whether a column is declared to have levels."""
        return _kind(self.fields()[name]) in ("categorical", "string")

    def has_bounds(self, name: str) -> bool:
        """Whether a minimum or a maximum of a column is declared."""
        said = self.fields()[name]
        limits = said.get("constraints", {}) if isinstance(said, dict) else {}
        return bool({"minimum", "maximum"} & limits.keys())

    def cells(self) -> dict[str, int]:
        """About how many levels or bins each column has, "missing" included."""
        sizes = {"boolean": 3, "categorical": 20, "string": 20}
        return {name: sizes.get(_kind(each), 33) for name, each in self.fields().items()}

    def write_declaration(self, path: Path) -> None:
        path.write_text(json.dumps(self.declaration))


GENERATED = (
    "ignore",
    "id",
    "name",
    "first_name",
    "last_name",
    "email",
    "phone",
    "address",
    "company",
)


def _kind(said: Any) -> str:
    """The kind of a column in a kinds file or a field."""
    if isinstance(said, str):
        return said
    return str(said.get("synthdp", {}).get("kind") or said.get("type") or "categorical")
