"""Open schemas: what is declared of a table of which something is still to be learnt under the
budget.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, final

from synthdp.core.domain import Domain
from synthdp.core.errors import SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.core.imports import import_named
from synthdp.core.json_value import JsonValue
from synthdp.schema.columns.column import DEFAULT_MISSING_VALUES, Column
from synthdp.schema.declared_columns import DeclaredColumns
from synthdp.schema.dialect import USUAL, Dialect, dialect_of
from synthdp.schema.frictionless import parse_schema
from synthdp.schema.generated_fields import without_generated
from synthdp.schema.hierarchy import HierarchyLevel, hierarchy_in
from synthdp.schema.keys import within_levels
from synthdp.schema.kinds import are_kinds, schema_of_kinds, without_ignored
from synthdp.schema.made_up.generated import NOTHING_GENERATED, Generated
from synthdp.schema.open_column import OpenColumn, closed_ones, open_ones
from synthdp.schema.open_fields import read_field
from synthdp.schema.relatives import without_relative
from synthdp.schema.rules.rules import check_cells, determined_names, is_check, names_of
from synthdp.schema.schema import Schema
from synthdp.schema.value_rules import parted_by_rules, parted_without_bins, parting_points
from synthdp.schema.weights import without_weight
from synthdp.schema.words.headers import check_names, listed
from synthdp.schema.words.texts import check_text, refuse

if TYPE_CHECKING:
    from synthdp.schema.relative_fields import Relatives


@final
@dataclass(frozen=True)
class OpenSchema(DeclaredColumns):
    """The columns of a table, each closed, or open: then its domain is derived under the budget.

    Parameters
    ----------
    columns
        The columns in the order of the schema; cyclical parts of dates are not among them.
    missing_values, dialect, generated, relatives, hierarchy, weight
        As `Schema` has them.
    rules
        As in a schema file. Checks may name open columns, other rules those of which bins alone, and
        decimals, are open.
    ignored
        Names of columns that the table has besides. They are no part of the model or the output:
        nothing in them is encoded, held, counted or paid for.

    Raises
    ------
    SchemaError
        If there is no column, a name repeats, a rule does not fit or names an ignored or generated
        column, or one whose levels or bounds are open and is no check, or the primary key cannot be
        promised to be unique.

    >>> schema = OpenSchema.from_kinds(
    ...     {"age": "integer", "smokes": {"type": "boolean", "constraints": {"required": True}}}
    ... )
    >>> [column.name for column in schema.open_columns], schema.largest_domain
    (['age'], Domain(attributes=('age', 'smokes'), shape=(33, 2)))
    >>> schema.resolved({"age": schema.open_columns[0].resolved(minimum=17, maximum=90)}).names
    ('age', 'smokes')
    """

    columns: tuple[Column | OpenColumn, ...]
    missing_values: tuple[str, ...] = DEFAULT_MISSING_VALUES
    rules: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    ignored: tuple[str, ...] = ()
    dialect: Dialect = USUAL
    generated: Generated = NOTHING_GENERATED
    relatives: "Relatives | None" = None
    hierarchy: tuple[HierarchyLevel, ...] = ()
    weight: str | None = None

    def __post_init__(self) -> None:
        for name in ("columns", "missing_values", "rules", "ignored"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        self._check_ignored()
        self.generated.check(self.names, ignored=self.ignored)
        if self.rules:
            _of_rules("check_names")(
                self.rules, self.columns, ignored=self.ignored, generated=self.generated.names
            )
        if self.relatives is not None:
            self.relatives.check(self.names)
        _ = self.outline, self._example  # refuse what no finding could close
        if self.rules and self.is_open:
            largest = self.largest_domain
            check_cells(self.rules, dict(zip(largest.attributes, largest.shape, strict=True)))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], *, learns_bins: bool = True) -> Self:
        """Read a JSON object: a schema as `Schema.from_dict` reads it, whose fields may be open.

        Beside the fields, ``"synthdp": {"ignore": [name, ..]}`` lists columns to leave out.
        Raises `SchemaError`, naming the column and what to change.

        Parameters
        ----------
        mapping
            The object.
        learns_bins
            Whether bins are open of columns that declare bounds and no bins, and of which no rule
            says what follows from each level; else they are equally wide. Either way a bin begins
            wherever a condition of a rule begins or ends.
        """
        fields = mapping.get("fields") if isinstance(mapping, Mapping) else None
        if not isinstance(fields, Sequence) or isinstance(fields, str):
            if are_kinds(mapping):
                way_out = "give it as kinds, not as the schema (in Python: kinds=)"
                raise SchemaError(
                    f"schema: it has no list 'fields', but kinds of columns; {way_out}"
                )
            return cls.from_schema(Schema.from_dict(mapping))
        ignored, whole = without_ignored(mapping)
        plain, generated = without_generated(whole)
        plain, relatives = without_relative(plain)
        plain, weight = without_weight(plain)
        _, missing_values, of_files = parse_schema(dict(plain) | {"fields": []})
        own = mapping.get("synthdp")
        constraints = own.get("constraints") if isinstance(own, Mapping) else None
        settled = determined_names(constraints)
        columns = within_levels(
            read_field(
                each, missing_values, learns_bins=learns_bins and _name_of(each) not in settled
            )
            for each in dialect_of(plain).fields(plain["fields"])
        )
        if columns and not ignored and not open_ones(columns):
            return cls.from_schema(Schema.from_dict(whole))
        declared = JsonValue(mapping, "schema")["synthdp"]["constraints"]
        rules = declared.default(()).sequence("a list of rules")
        hierarchy = hierarchy_in(own, [column.name for column in columns])
        parted = parted_without_bins(closed_ones(columns), plain["fields"], constraints)
        return cls(
            _with_others(columns, parted),
            missing_values,
            rules,
            ignored,
            of_files,
            generated,
            relatives,
            hierarchy,
            weight,
        )

    @classmethod
    def from_schema(cls, schema: Schema) -> Self:
        """A schema of which nothing is open."""
        rules = tuple(rule.text for rule in schema.rules)
        return cls(
            schema.table_columns,
            schema.missing_values,
            rules,
            dialect=schema.dialect,
            generated=schema.generated,
            relatives=schema.relatives,
            hierarchy=schema.hierarchy,
            weight=schema.weight,
        )

    @classmethod
    def from_kinds(cls, kinds: Mapping[str, Any] | str | PathLike[str]) -> Self:
        """Read names and kinds of columns; all else is left open.

        Parameters
        ----------
        kinds
            For each column a field type, ``"categorical"``, ``"ignore"`` for a column to leave out,
            ``"id"`` or a kind of fakes for one that is generated, or an object with the kind as
            ``type`` and anything else that a field can declare; or the path of a JSON file in UTF-8
            with that. In place of a kind a dtype of pandas, polars or Arrow, or a type such as
            ``int``, says what it holds.

        Raises
        ------
        DataFileError
            If the file cannot be read.
        SchemaError
            If a kind is not known, or what is declared contradicts itself; it names the column.

        >>> schema = OpenSchema.from_kinds({"age": "integer", "note": "ignore"})
        >>> schema.names, schema.ignored
        (('age',), ('note',))
        """
        if isinstance(kinds, str | PathLike):
            return cls.load_kinds(kinds)
        return cls.from_dict(schema_of_kinds(kinds))

    @classmethod
    def load_kinds(cls, path: str | PathLike[str]) -> Self:
        """Read a kinds file in UTF-8; see `from_kinds`. Raises as `load` does."""
        return cls.from_dict(schema_of_kinds(load_json(path, "kinds")))

    def to_dict(self) -> dict[str, Any]:
        """This schema as Frictionless Table Schema, every default written out; `from_dict` reads
        it.
        """
        schema = self._written(self.columns, self.rules)
        if self.ignored:
            schema["synthdp"] = schema.get("synthdp", {}) | {"ignore": list(self.ignored)}
        return schema

    @property
    def closed_columns(self) -> tuple[Column, ...]:
        """The columns of which nothing is to be derived."""
        return closed_ones(self.columns)

    @property
    def open_columns(self) -> tuple[OpenColumn, ...]:
        """The columns of which something is to be derived."""
        return open_ones(self.columns)

    @property
    def is_open(self) -> bool:
        """Whether anything is to be derived."""
        return bool(self.open_columns)

    @property
    def largest_domain(self) -> Domain:
        """The domain of the closed schema if every open column gets as many levels as it may."""
        most = {column.name: column.most_levels for column in self.open_columns}
        # Rules part bins, however many there will be.
        for name, points in self._parting_points.items():
            most[name] += len(points)
        return Domain.from_sizes(
            {column.name: most.get(column.name, column.size) for column in self.outline.columns}
        )

    def resolved(self, learnt: Mapping[str, Column]) -> Schema:
        """The schema with each open column replaced by the closed one of its name.

        Raises `SchemaError` if one is lacking or does not fit the others.
        """
        schema = self.partly_closed(learnt)
        if lacking := schema.open_columns:
            raise SchemaError(
                f"schema: column {lacking[0].name!r} is still open; derive its domain, or declare it"
            )
        return schema.outline

    def partly_closed(self, learnt: Mapping[str, Column]) -> Self:
        """This schema with some open columns replaced by the closed ones of their names.

        Where they leave no row that keeps to the checks, their bounds are widened; at worst they
        become examples. Raises `SchemaError` if a name is not that of an open column.
        """
        names = {column.name for column in self.open_columns}
        for name, column in learnt.items():
            if name not in names or column.name != name:
                raise SchemaError(
                    f"schema: there is no open column {name!r} that {column.name!r} could close"
                )
        if self.relatives is not None:
            others = [*self.closed_columns, *(each.template for each in self.open_columns)]
            learnt = self.relatives.reconciled(learnt, {each.name: each for each in others})
        if not self.rules:
            return replace(self, columns=_with_others(self.columns, learnt.values()))
        problem: SchemaError | None = None
        for columns in _of_rules("closed_columns")(self.columns, learnt, self.rules, self._example):
            try:
                return replace(self, columns=tuple(columns))
            except SchemaError as error:
                problem = problem or error
        assert problem is not None
        raise problem

    def parted(self, names: Iterable[str], rules: Sequence[Mapping[str, Any]]) -> Self:
        """This schema, of whose columns some, as far as they are closed, have bins that also begin
        and end where conditions of rules do, which need not be its own.
        """
        parted = parted_by_rules(self.closed_columns, rules, {*names})
        columns = _with_others(self.columns, parted)
        return self if columns == self.columns else replace(self, columns=columns)

    def without(self, name: str) -> Self:
        """This schema without a column that never reaches the model: the ids of persons.

        Raises `SchemaError` if a rule names the column, or it is the only one.
        """
        columns = tuple(column for column in self.columns if column.name != name)
        if not columns:
            raise SchemaError(
                f"schema: it has no column but {name!r}, which is left out; add the others"
            )
        if any(name in names_of(rule, self.names) for rule in self.rules):
            raise SchemaError(
                f"schema: constraints: a rule names {name!r}, which is left out; remove the rule"
            )
        return replace(self, columns=columns)

    def reordered(self, names: Iterable[str], *, unit: str | None = None) -> Self:
        """This schema with its columns in the order of a table's header, without ``unit``; ignored
        ones stay so.

        Raises `SchemaError` as `check_header` does.
        """
        header = tuple(names)
        self.check_header(header, unit=unit)
        by_name = {column.name: column for column in self.columns if column.name != unit}
        columns = tuple(by_name[name] for name in header if name in by_name)
        return replace(self, columns=columns, generated=self.generated.reordered(header))

    def check_header(self, names: Iterable[object], *, unit: str | None = None) -> None:
        """Raise `SchemaError` unless a table's header holds this schema's names, each once, in any
        order.

        The names of ignored columns must be there, too, and so must ``unit``, the ids of persons,
        which may be one of all these or a further column. Generated columns may be there or not.
        """
        header = tuple(names)
        if unit is not None and unit in self.names:
            return self.without(unit).check_header(header, unit=unit)
        allowed = (*self.names, *self.ignored)
        if unit is not None and unit not in header:
            # What has no header shows a record.
            check_names(header, allowed, besides=tuple(map(str, header)))
            raise SchemaError(
                f"unit (--unit) is {unit!r}: the table has no such column; it has {listed(header)}"
            )
        check_names(
            header, allowed, besides={*self.generated.names, *([] if unit is None else [unit])}
        )
        return None

    @cached_property
    def outline(self) -> Schema:
        """This schema closed, open columns by findings that are made up, without what rules say of
        values that nobody knows before the run.
        """
        templates = [column.template for column in self.columns]
        names = self._parting_points.keys()
        parted = parted_by_rules(templates, self._public_rules, names)
        return Schema.from_dict(self._written(parted, self._public_rules))

    @cached_property
    def _parting_points(self) -> dict[str, list[int]]:
        """Where conditions begin or have ended in the open columns that rules may speak of."""
        templates = [column.template for column in self.columns]
        names = [column.name for column in self.open_columns if column.has_known_range]
        return parting_points(templates, self._public_rules, names)

    @property
    def _public_rules(self) -> list[dict[str, Any]]:
        """The rules but those on what nobody knows before the run: checks on open columns, and
        others on columns of which more than bins is open.
        """
        opened = {column.name for column in self.open_columns}
        unknown = {column.name for column in self.open_columns if not column.has_known_range}
        return [
            dict(rule)
            for rule in self.rules
            if not names_of(rule, self.names) & (opened if is_check(rule) else unknown)
        ]

    @cached_property
    def _example(self) -> tuple[Column, ...]:
        """All columns, open ones closed so that some row keeps to all rules."""
        if not self.rules:
            return tuple(column.template for column in self.columns)
        example: tuple[Column, ...] = _of_rules("example_columns")(self.columns, self.rules)
        return example

    def _check_ignored(self) -> None:
        if self.ignored and not self.columns:
            raise SchemaError(
                "schema: all columns are to be ignored; declare at least one, or derive its domain"
            )
        for i, name in enumerate(self.ignored):
            check_text(name, name, "the name in synthdp.ignore")
            if name in (*self.names, *self.generated.names, *self.ignored[:i]):
                if name in self.ignored[:i]:
                    again = "stands there twice"
                else:
                    again = "has a kind or a field as well"
                refuse(name, f"it is to be ignored, but {again}; remove one of the two")


def _with_others(
    columns: Iterable[Column | OpenColumn], others: Iterable[Column]
) -> tuple[Column | OpenColumn, ...]:
    """The columns with others in place of those of their names."""
    by_name = {column.name: column for column in others}
    return tuple(by_name.get(column.name, column) for column in columns)


def _of_rules(name: str) -> Any:
    """A function of `open_rules`, which no schema without rules needs."""
    return import_named(f"synthdp.schema.open_rules:{name}")


def _name_of(field: object) -> str | None:
    """The name of a field; None if it has none that could be one."""
    name = field.get("name") if isinstance(field, Mapping) else None
    return name if isinstance(name, str) else None
