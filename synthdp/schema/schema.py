"""The schema: what is public about the sensitive table, declared and never read off the data."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.constraint import Constraint
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import write_json
from synthdp.core.imports import import_named
from synthdp.core.json_value import JsonValue
from synthdp.schema.columns.column import DEFAULT_MISSING_VALUES, Column
from synthdp.schema.columns.with_parts import with_parts
from synthdp.schema.declared_columns import DeclaredColumns
from synthdp.schema.dialect import USUAL, Dialect, with_dialect
from synthdp.schema.frictionless import parse_schema
from synthdp.schema.generated_fields import without_generated
from synthdp.schema.hierarchy import HierarchyLevel, hierarchy_in
from synthdp.schema.made_up.generated import NOTHING_GENERATED, Generated
from synthdp.schema.relatives import without_relative
from synthdp.schema.rules.conditions import CONDITIONS, is_condition, narrowed
from synthdp.schema.rules.rules import Rule
from synthdp.schema.value_rules import (
    parse_rules,
    parted_without_bins,
    system_of,
    with_exact_decimals,
)
from synthdp.schema.weights import without_weight
from synthdp.schema.words.headers import check_names, listed

if TYPE_CHECKING:
    from synthdp.schema.relative_fields import Relatives
    from synthdp.schema.rules.system import System


@final
@dataclass(frozen=True)
class Schema(DeclaredColumns):
    """The columns of a table, each with its public levels or bounds and bins.

    Parameters
    ----------
    columns
        The columns; their order is the order of codes and of written tables. Parts of dates are
        put after their dates; see `synthdp.schema.columns.dates`.
    missing_values
        Texts that mean "missing" in a file, unless a column has its own.
    rules
        Combinations of values that are impossible; see `synthdp.schema.rules.rules`.
    dialect
        How CSV and Excel files of the table are written. How numbers are, each column knows.
    generated
        Further columns of the table, whose values are made up for the output.
    relatives
        Columns of which the model has the distance from another one.
    hierarchy
        Coarser levels of columns, by which totals may be published.
    weight
        The column that says how many of a population a row stands for.

    Raises
    ------
    SchemaError
        If there is no column, a name repeats, or a generated column or the key does not fit the
        others.

    >>> schema = Schema.from_dict(
    ...     {
    ...         "fields": [
    ...             {
    ...                 "name": "sex",
    ...                 "type": "string",
    ...                 "constraints": {"enum": ["f", "m"], "required": True},
    ...             },
    ...             {
    ...                 "name": "age",
    ...                 "type": "integer",
    ...                 "constraints": {"minimum": 0, "maximum": 99},
    ...             },
    ...         ]
    ...     }
    ... )
    >>> schema.domain
    Domain(attributes=('sex', 'age'), shape=(2, 33))
    """

    columns: tuple[Column, ...]
    missing_values: tuple[str, ...] = DEFAULT_MISSING_VALUES
    rules: tuple[Rule, ...] = ()
    dialect: Dialect = USUAL
    generated: Generated = NOTHING_GENERATED
    relatives: "Relatives | None" = None
    hierarchy: tuple[HierarchyLevel, ...] = ()
    weight: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", with_parts(self.columns))
        object.__setattr__(self, "missing_values", tuple(self.missing_values))
        if not self.columns:
            raise SchemaError("schema: 'fields' is empty; list at least one column")
        repeated = [name for name, count in Counter(self.names).items() if count > 1]
        if repeated:
            raise SchemaError(
                f"schema: column {repeated[0]!r} appears twice; give every column its own name"
            )
        self.generated.check([column.name for column in self.table_columns])

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Read a JSON object: Frictionless Table Schema, or Private-PGM's ``{"column": size}``.

        Raises `SchemaError`, naming the column and what to change.
        """
        plain, generated = without_generated(mapping)
        plain, relatives = without_relative(plain)
        plain, weight = without_weight(plain)
        columns, missing_values, dialect = parse_schema(plain)
        own = mapping.get("synthdp") if "fields" in mapping else {}
        rules = JsonValue(own, "schema", "synthdp")["constraints"].default(()).value
        exact = with_exact_decimals(columns, rules)
        exact = parted_without_bins(exact, plain.get("fields"), rules)
        rules = parse_rules(rules, exact)
        hierarchy = hierarchy_in(own, [column.name for column in exact])
        return cls(exact, missing_values, rules, dialect, generated, relatives, hierarchy, weight)

    @staticmethod
    def draft(frame: pd.DataFrame) -> dict[str, Any]:
        """A schema to be filled in, from names and dtypes; see `draft.draft_from_frame`."""
        draft: dict[str, Any] = import_named("synthdp.schema.draft:draft_from_frame")(frame)
        return draft

    def to_dict(self) -> dict[str, Any]:
        """This schema as Frictionless Table Schema, every default written out; `from_dict` reads
        it.
        """
        return self._written(self.table_columns, [rule.text for rule in self.rules])

    def in_dialect(self, dialect: str | Mapping[str, Any]) -> Self:
        """This schema for files of another dialect, its numbers written as that says, if it says
        anything of them.

        Raises `SchemaError` if the dialect is none, or cannot be distinguished from a column's
        numbers.
        """
        schema = with_dialect(self.to_dict(), dialect)
        if {"decimalChar", "groupChar"} & schema["dialect"].keys():
            for field in schema["fields"]:
                field.pop("decimalChar", None)
                field.pop("groupChar", None)
        return type(self).from_dict(schema)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write this schema as JSON, whole or not at all.

        Raises `DataFileError` if the file exists and ``force`` is not set, or cannot be written.
        """
        write_json(path, self.to_dict(), force=force)

    @property
    def table_columns(self) -> tuple[Column, ...]:
        """The columns of the model that a table has: all but parts of dates."""
        return tuple(column for column in self.columns if column.source == column.name)

    @property
    def table_names(self) -> tuple[str, ...]:
        """The names in a table's header, in order, generated columns included."""
        return self.generated.header(column.name for column in self.table_columns)

    @cached_property
    def types(self) -> dict[str, str]:
        """The field type of each of a table's columns."""
        return {column.name: column.field()["type"] for column in self.table_columns}

    @cached_property
    def domain(self) -> Domain:
        """Names and numbers of level codes, which of them are no neighbours of others, and whose
        are in order.
        """
        special = {column.name: codes for column in self.columns if (codes := column.special_codes)}
        ordered = frozenset(column.name for column in self.columns if column.axis is not None)
        return Domain(self.names, tuple(column.size for column in self.columns), special, ordered)

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The rules as constraints on level codes; of checks, what engines are to know of them."""
        return tuple(constraint for rule in self.rules for constraint in rule.constraints)

    @cached_property
    def checks(self) -> "System | None":
        """All rules that compare values; None if there is none."""
        return system_of(self.rules, self.columns)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical JSON of this schema, in hexadecimal."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return sha256(canonical.encode()).hexdigest()

    def __getitem__(self, name: str) -> Column:
        """The column of that name; raises `SchemaError` if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f"schema: there is no column {name!r}; it has {listed(self.names)}")

    def _repr_html_(self) -> str:
        rows = [
            (
                column.name,
                column.field()["type"],
                column.n_levels,
                "no" if column.required else "yes",
            )
            for column in self.table_columns
        ]
        table = pd.DataFrame(rows, columns=["column", "type", "levels or bins", "may be missing"])
        made_up = f", {len(self.generated.names)} generated" if self.generated.names else ""
        title = f"Schema of {len(self.table_names)} columns{made_up}, {len(self.rules)} rules"
        return f"<p><strong>{title}</strong></p>\n{table.to_html(index=False, border=0)}"

    def with_unread_places(self, names: Iterable[str] | None = None) -> Self:
        """This schema with places for values that cannot be read, in all columns or in some, by
        which rows are read.

        What is drawn, and what people see, is by the schema as it was declared; see
        `synthdp.schema.columns.column`.
        """
        return self._placed(names, lambda column: column.with_unread_place())

    def with_all_places(self, names: Iterable[str] | None = None) -> Self:
        """The same with places for values beyond the bounds of columns as well, of all or of some."""
        return self._placed(names, lambda column: column.with_all_places())

    def _placed(self, names: Iterable[str] | None, placed: Callable[[Column], Column]) -> Self:
        chosen = self.names if names is None else frozenset(names)
        columns = [placed(each) if each.name in chosen else each for each in self.columns]
        return replace(self, columns=tuple(columns))

    def counted_by(self, sizes: Mapping[str, int]) -> Self:
        """The same with the places by which some columns have so many codes."""
        placed = [
            {
                each.size: each
                for each in (column.with_all_places(), column.with_unread_place(), column)
            }
            for column in self.columns
        ]
        columns = [
            by_size.get(sizes.get(column.name, column.size), column)
            for by_size, column in zip(placed, self.columns, strict=True)
        ]
        return replace(self, columns=tuple(columns))

    def without_unread_places(self) -> Self:
        """This schema as it was declared."""
        return replace(
            self, columns=tuple(column.without_unread_place() for column in self.columns)
        )

    def reordered(self, names: Iterable[str]) -> Self:
        """This schema with its columns in the order of a table's header.

        Raises `SchemaError` with the names that only one of the two has.
        """
        header = tuple(names)
        self.check_header(header)
        columns = tuple(self[name] for name in header if name not in self.generated.names)
        return replace(self, columns=columns, generated=self.generated.reordered(header))

    def check_header(self, names: Iterable[object]) -> None:
        """Raise `SchemaError` unless a table's header holds this schema's names, each once, in any
        order.

        Generated columns may be there or not.
        """
        modelled = tuple(column.name for column in self.table_columns)
        check_names(tuple(names), modelled, besides=self.generated.names)


def narrowed_schema(
    schema: Schema, where: Mapping[str, object]
) -> tuple[Schema, dict[str, NDArray[np.float64]]]:
    """A schema that decodes to what meets conditions, and how much of each code of their columns
    does.

    Raises
    ------
    ParameterError
        If something else than conditions was given, or a column has no value that meets its own.
    SchemaError
        If a column is unknown, or a condition does not fit its column.
    """
    given = JsonValue(where, "where", error=ParameterError)
    columns = {column.name: column for column in schema.columns}
    wanted: dict[str, NDArray[np.float64]] = {}
    for name, condition in given.mapping(words := f"conditions such as {CONDITIONS}").items():
        if name in schema.generated.names:
            raise ParameterError(
                f"where: the values of {name!r} are generated, not drawn; leave it out"
            )
        if name not in columns:
            raise SchemaError(
                f"where: there is no column {name!r}; there are {listed(schema.names)}"
            )
        if not is_condition(condition):
            given[name].expect(words)
        try:
            columns[name], wanted[name] = narrowed(columns[name], condition)
        except SchemaError as error:
            raise SchemaError(f"where: {str(error).removeprefix('schema: ')}") from None
        if not wanted[name].any():
            raise ParameterError(
                f"where: no value of column {name!r} meets its condition; widen it"
            )
    narrow = replace(schema, columns=tuple(columns.values()))
    if narrow.checks is not None:
        present = [  # where a column can be missing nothing needs to be compared with it
            name
            for name, column in narrow.checks.columns.items()
            if column.required or (name in wanted and not wanted[name][-1])
        ]
        if blame := narrow.checks.blamed_for(present):
            raise ParameterError(
                f"where: no row that meets it keeps to the check {blame.line}; widen it"
            )
    return narrow, wanted
