"""Open schemas: what is declared of a table of which something is still to be learnt under the budget."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import Any, Self, final

from synthdp.constraint import Constraint
from synthdp.domain import Domain
from synthdp.errors import SchemaError
from synthdp.table.columns import DEFAULT_MISSING_VALUES, Column
from synthdp.table.frictionless import parse_schema
from synthdp.table.jsonfiles import load_json
from synthdp.table.kinds import schema_of_kinds
from synthdp.table.open_columns import OpenColumn
from synthdp.table.open_fields import open_field, read_field
from synthdp.table.schema import Schema


@final
@dataclass(frozen=True)
class OpenSchema:
    """The columns of a table, each closed, or open: then its domain is derived under the budget.

    Parameters
    ----------
    columns
        The columns in the order of the schema; cyclical parts of dates are not among them.
    missing_values
        Texts that mean "missing" in a file, unless a column has its own.
    rules
        Combinations of values that are impossible, as in a schema file; on closed columns only.

    Raises
    ------
    SchemaError
        If there is no column, a name repeats, or a rule does not fit or names an open column.

    >>> schema = OpenSchema.from_kinds(
    ...     {"age": "integer", "smokes": {"type": "boolean", "constraints": {"required": True}}}
    ... )
    >>> [column.name for column in schema.open_columns], schema.largest_domain
    (['age'], Domain(attributes=('age', 'smokes'), shape=(33, 2)))
    >>> schema.closed({"age": schema.open_columns[0].closed(minimum=17, maximum=90)}).names
    ('age', 'smokes')
    """

    columns: tuple[Column | OpenColumn, ...]
    missing_values: tuple[str, ...] = DEFAULT_MISSING_VALUES
    rules: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    def __post_init__(self) -> None:
        for name in ("columns", "missing_values", "rules"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_rules()
        _ = self._outline  # refuses what no finding could close

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Read a JSON object: a schema as `Schema.from_dict` reads it, whose fields may be open.

        Raises `SchemaError`, naming the column and what to change.
        """
        fields = mapping.get("fields") if isinstance(mapping, Mapping) else None
        if not isinstance(fields, Sequence) or isinstance(fields, str) or not fields:
            return cls.of(Schema.from_dict(mapping))
        _, missing_values = parse_schema(dict(mapping) | {"fields": []})
        columns = tuple(read_field(entry, missing_values) for entry in fields)
        if not any(isinstance(column, OpenColumn) for column in columns):
            return cls.of(Schema.from_dict(mapping))
        own = mapping.get("synthdp", {})
        rules = own.get("constraints", []) if isinstance(own, Mapping) else own
        if not isinstance(rules, Sequence) or isinstance(rules, str):
            raise SchemaError("schema: constraints: 'constraints' is not a list; list the rules there")
        return cls(columns, missing_values, tuple(rules))

    @classmethod
    def of(cls, schema: Schema) -> Self:
        """A schema of which nothing is open."""
        return cls(schema.table_columns, schema.missing_values, tuple(rule.text for rule in schema.rules))

    @classmethod
    def from_kinds(cls, kinds: Mapping[str, Any]) -> Self:
        """Read ``{column: kind}``; see `kinds.schema_of_kinds`. Raises `SchemaError`."""
        return cls.from_dict(schema_of_kinds(kinds))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a schema file in UTF-8.

        Raises `DataFileError` if it cannot be read, `SchemaError` if it is no schema.
        """
        return cls.from_dict(load_json(path, "schema"))

    @classmethod
    def load_kinds(cls, path: str | PathLike[str]) -> Self:
        """Read a kinds file in UTF-8; see `from_kinds`. Raises as `load` does."""
        return cls.from_kinds(load_json(path, "kinds"))

    def to_dict(self) -> dict[str, Any]:
        """This schema as Frictionless Table Schema, every default written out; `from_dict` reads it."""
        return self._written(self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(column.name for column in self.columns)

    @property
    def open_columns(self) -> tuple[OpenColumn, ...]:
        """The columns of which something is to be derived."""
        return tuple(column for column in self.columns if isinstance(column, OpenColumn))

    @property
    def is_open(self) -> bool:
        """Whether anything is to be derived."""
        return bool(self.open_columns)

    @property
    def largest_domain(self) -> Domain:
        """The domain of the closed schema if every open column gets as many levels as it may."""
        most = {column.name: column.most_levels for column in self.open_columns}
        sizes = {column.name: most.get(column.name, column.size) for column in self._outline.columns}
        return Domain.from_sizes(sizes)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The rules as constraints on level codes; they are on closed columns only."""
        return self._outline.constraints

    def closed(self, found: Mapping[str, Column]) -> Schema:
        """The schema with each open column replaced by the closed one of its name.

        Raises `SchemaError` if one is lacking or does not fit the others.
        """
        schema = self.partly_closed(found)
        if lacking := schema.open_columns:
            raise SchemaError(f"schema: column {lacking[0].name!r} is still open; derive its domain, or declare it")
        return schema._outline

    def partly_closed(self, found: Mapping[str, Column]) -> Self:
        """This schema with some open columns replaced by the closed ones of their names.

        Raises `SchemaError` if a name is not that of an open column.
        """
        known = {column.name for column in self.open_columns}
        for name, column in found.items():
            if name not in known or column.name != name:
                raise SchemaError(f"schema: there is no open column {name!r} that {column.name!r} could close")
        return replace(self, columns=tuple(found.get(column.name, column) for column in self.columns))

    def without(self, name: str) -> Self:
        """This schema without a column that never reaches the model: the ids of persons.

        Raises `SchemaError` if a rule names the column, or it is the only one.
        """
        columns = tuple(column for column in self.columns if column.name != name)
        if not columns:
            raise SchemaError(f"schema: it has no column but {name!r}, which is left out; add the others")
        if any(name in _named(rule) for rule in self.rules):
            raise SchemaError(f"schema: constraints: a rule names {name!r}, which is left out; remove the rule")
        return replace(self, columns=columns)

    def reordered(self, names: Iterable[str], *, unit: str | None = None) -> Self:
        """This schema with its columns in the order of a table's header, without ``unit``.

        Raises `SchemaError` as `check_header` does.
        """
        header = tuple(names)
        self.check_header(header, unit=unit)
        by_name = {column.name: column for column in self.columns}
        return replace(self, columns=tuple(by_name[name] for name in header if name != unit))

    def check_header(self, names: Iterable[object], *, unit: str | None = None) -> None:
        """Raise `SchemaError` unless a table's header holds this schema's names, each once, in any order.

        ``unit`` names a further column, the ids of persons; it must be there, too.
        """
        header = tuple(names)
        if unit is None:
            return self._outline.check_header(header)
        if unit in self.names:
            return self.without(unit).check_header(header, unit=unit)
        self._outline.check_header([name for i, name in enumerate(header) if name != unit or i != header.index(unit)])
        if unit not in header:
            raise SchemaError(f"table: it has no column {unit!r}, which is to say whose each row is; correct the name")
        return None

    @cached_property
    def _outline(self) -> Schema:
        """This schema closed, open columns by findings that are made up."""
        closed = [column.template if isinstance(column, OpenColumn) else column for column in self.columns]
        return Schema.from_dict(self._written(closed))

    def _written(self, columns: Iterable[Column | OpenColumn]) -> dict[str, Any]:
        fields = []
        for column in columns:
            entry = open_field(column) if isinstance(column, OpenColumn) else column.field()
            if column.missing_values != self.missing_values:
                entry["missingValues"] = list(column.missing_values)
            fields.append(entry)
        schema: dict[str, Any] = {"fields": fields, "missingValues": list(self.missing_values)}
        return schema | ({"synthdp": {"constraints": [dict(rule) for rule in self.rules]}} if self.rules else {})

    def _check_rules(self) -> None:
        open_names = {column.name for column in self.open_columns}
        for rule in self.rules:
            if not isinstance(rule, Mapping):
                raise SchemaError('schema: constraints: a rule is not an object; write one, like {"forbid": ..}')
            for name in sorted(open_names.intersection(_named(rule))):
                way_out = "declare the column, without synthdp.derive, or remove the rule"
                raise SchemaError(f"schema: constraints: a rule names {name!r}, whose domain is derived; {way_out}")


def _named(rule: Mapping[str, Any]) -> set[str]:
    """The columns that a rule names, as far as it is well-formed; a part of a date names the date, too."""
    forbidden, allowed, determined = (rule.get(key) for key in ("forbid", "allow", "determines"))
    entries = [forbidden, *(allowed if isinstance(allowed, Sequence) else [])]
    names = [name for entry in entries if isinstance(entry, Mapping) for name in entry]
    names += determined if isinstance(determined, Sequence) and not isinstance(determined, str) else []
    texts = {name for name in names if isinstance(name, str)}
    return texts | {name.rpartition(":")[0] for name in texts}
