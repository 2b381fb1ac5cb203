"""What schemas have in common, whether their columns are closed or open."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from synthdp.core.files.json_files import load_json
from synthdp.core.imports import import_named
from synthdp.schema.hierarchy import HierarchyLevel, hierarchy_property
from synthdp.schema.weights import with_mark

if TYPE_CHECKING:
    from synthdp.schema.columns.column import Column
    from synthdp.schema.dialect import Dialect
    from synthdp.schema.made_up.generated import Generated
    from synthdp.schema.open_column import OpenColumn
    from synthdp.schema.relative_fields import Relatives

FIELDS_IN_ZONES = "synthdp.schema.words.zone_names:fields_in_zones"
"""What gives fields the time zones of a file's types: loaded where there are any."""


class DeclaredColumns(ABC):
    """The columns of a table, as a schema file declares them."""

    columns: "Sequence[Column | OpenColumn]"
    missing_values: tuple[str, ...]
    dialect: "Dialect"
    generated: "Generated"
    relatives: "Relatives | None"
    hierarchy: tuple[HierarchyLevel, ...]
    weight: str | None

    @classmethod
    @abstractmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Read a JSON object; raises `SchemaError`, naming the column and what to change."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """This schema as JSON values; `from_dict` reads them."""

    def _written(
        self, columns: "Iterable[Column | OpenColumn]", rules: Iterable[Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Columns and rules as `to_dict` has them, with all else that is declared.

        A column names its missing values where they are not the schema's.
        """
        fields = []
        for column in columns:
            field = column.field()
            if column.missing_values != self.missing_values:
                field["missingValues"] = list(column.missing_values)
            fields.append(field)
        if self.relatives is not None:
            fields = self.relatives.added_to(fields)
        schema: dict[str, Any] = {
            "fields": with_mark(fields, self.weight),
            "missingValues": list(self.missing_values),
            **self.dialect.as_property(),
        }
        own = hierarchy_property(self.hierarchy)
        if constraints := [dict(rule) for rule in rules]:
            own = {"constraints": constraints, **own}
        if own:
            schema["synthdp"] = own
        return self.generated.added_to(schema)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file in UTF-8; raises `DataFileError` or, if it is no schema, `SchemaError`."""
        return cls.from_dict(load_json(path, "schema"))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all attributes in order, without ignored and generated columns."""
        return tuple(column.name for column in self.columns)

    def in_zones(self, zones: Mapping[str, str]) -> Self:
        """This schema with some moments in time zones that a file names; see `fields_in_zones`."""
        if not zones:
            return self
        content = self.to_dict()
        fields = import_named(FIELDS_IN_ZONES)(content["fields"], zones)
        return self if fields == content["fields"] else self.from_dict(content | {"fields": fields})

    def measured(
        self, frame: pd.DataFrame, plain: Callable[[pd.Series, str], pd.Series]
    ) -> pd.DataFrame:
        """A table as the model has it: itself, or with distances; see `Relatives.measured`."""
        return frame if self.relatives is None else self.relatives.measured(frame, plain)
