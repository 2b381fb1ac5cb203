"""From a resource of a package to what is public of its table."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue
from synthdp.linked.package.key_form import KeyForm, constraints_of
from synthdp.linked.package.limits import limits_of
from synthdp.linked.package.linked_table import (
    MAX_CHILDREN,
    Limit,
    LinkedTable,
    in_package,
    refuse_package,
)
from synthdp.linked.package.links import Links, names_of, synthdp_part
from synthdp.schema.columns.reading import is_missing, plain_text
from synthdp.schema.dialect import dialect_of
from synthdp.schema.open_parts import are_without_bins
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.rules.rules import levels_where
from synthdp.schema.schema import Schema
from synthdp.schema.words.headers import listed

_OF_CHILDREN = frozenset(
    ("max_children", "min_children", "order", "limits", "increasing", "unique", "orphans")
)
"""What is said of the rows of a table below another."""

Resources = Mapping[str, Mapping[str, Any]]


def with_levels_of(
    links: Links, lookup: Callable[[str], pd.DataFrame] | None
) -> dict[str, dict[str, Any]]:
    """All resources, columns that refer to public tables with the keys of these as levels, unless
    they have levels.
    """
    fields = {}
    for name in links.names:
        schema = dict(links[name]["schema"])
        for own, other, there in () if name in links.public else links.references(name):
            if other not in links.public:
                continue
            if len(own) > 1:
                refuse_package(
                    f"the key to the public table {other!r} has several columns; use one", name
                )
            # Levels by which rows are ordered stay in the order of the keys themselves.
            is_order = synthdp_part(links[name], name)["order"].value == own[0]
            besides = [] if is_order else links[other]["schema"]["fields"]
            schema["fields"] = [
                _with_levels(field, own[0], other, there[0], besides, lookup)
                for field in schema["fields"]
            ]
        fields[name] = {**links[name], "schema": schema}
    for name in links.order:
        _check_key_of_parent(links, name)
    return fields


def _with_levels(
    field: Any,
    name: str,
    other: str,
    there: str,
    besides: Collection[Any],
    lookup: Callable[[str], pd.DataFrame] | None,
) -> Any:
    """A field that refers to a public table, with levels; ``besides`` are the fields of that table
    by which they are sorted.
    """
    constraints = field.get("constraints") or {} if isinstance(field, Mapping) else {}
    if not isinstance(field, Mapping) or field.get("name") != name or constraints.get("enum"):
        return field
    if lookup is None:
        refuse_package(
            f"column {name!r} refers to it, and its rows are not given; give them, or list levels",
            other,
        )
    rows = lookup(other)
    if there not in rows.columns:
        refuse_package(f"it has no column {there!r}, to which {name!r} refers", other)
    texts = _keys_in_order(rows, there, besides)
    try:
        levels: list[Any] = sorted(map(int, texts)) if field.get("type") == "integer" else texts
    except ValueError:
        refuse_package(
            f"column {there!r} does not hold integers, and {name!r} refers to it; make that a string",
            other,
        )
    known = {**field, "constraints": {**constraints, "enum": levels}}
    if constraints.get("required") is True:  # then nothing is left to be learnt of it
        own = {key: value for key, value in (field.get("synthdp") or {}).items() if key != "derive"}
        known["synthdp"] = own
    return known


def _keys_in_order(rows: pd.DataFrame, there: str, fields: Any) -> list[str]:
    """The keys of a public table by its other columns, those of few values first, and then by
    themselves.

    Mechanisms that merge levels merge those that stand side by side: so towns of one state go
    together, and what the state says of other columns is seen before each town is.
    """
    keys = [plain_text(str(value)) for value in rows[there]]
    distinct = sorted({*keys} - {""})
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    known: dict[str, list[Any]] = {}
    for each in fields:
        if isinstance(each, Mapping) and each.get("name") in rows.columns and each["name"] != there:
            values = rows[each["name"]].iloc[[first[key] for key in distinct]]
            known[each["name"]] = _ranks(values, is_number=each.get("type") in _NUMBERS)
    columns = sorted(known.values(), key=lambda ranks: len({*ranks}))
    return [key for *_, key in sorted(zip(*columns, distinct, strict=True))]


_NUMBERS = ("integer", "number", "year")


def _ranks(values: pd.Series, *, is_number: bool) -> list[Any]:
    """By what values are sorted, of one type: those that are none come last."""
    texts = ["" if is_missing(value) else plain_text(str(value)) for value in values]
    if not is_number:
        return texts
    numbers = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").astype(float)
    return [float(number) for number in numbers.fillna(np.inf)]


def _check_key_of_parent(links: Links, name: str) -> None:
    """Refuse references to other columns than the key of the parent."""
    parent = links.parent(name)
    for own, other, there in links.references(name):
        if other == parent and not _key(links, other):
            refuse_package(
                "other tables refer to it, but it has no primaryKey; name the columns that tell rows apart",
                other,
            )
        if other == parent and set(there) != set(_key(links, other)):
            problem = f"{listed(own)} refers to {listed(there)} of {other!r}, whose primaryKey is not that"
            refuse_package(f"{problem}; refer to its primaryKey", name)


def _key(links: Links, name: str) -> tuple[str, ...]:
    return _primary_key(links[name]["schema"], name)


def _primary_key(schema: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return names_of(declared) if (declared := in_package(schema, name)["primaryKey"]).value else ()


def _parent_key(links: Links, name: str) -> tuple[str, ...]:
    """The columns that refer to the parent, in the order of its key: a description may name them in
    any order.
    """
    parent_key = tuple[str, ...]()
    for columns, other, there in links.references(name):
        if other == links.parent(name):
            by_name = dict(zip(there, columns, strict=True))
            parent_key = tuple(by_name[key] for key in _key(links, other))
    return parent_key


def linked_table(resources: Resources, links: Links, name: str) -> LinkedTable:
    """What is public of one protected table; raises `SchemaError` if its resource contradicts
    itself.
    """
    resource = resources[name]
    schema = resources[name]["schema"]
    own = synthdp_part(resources[name], name)
    parent = links.parent(name)
    parent_key = _parent_key(links, name)
    key = _primary_key(schema, name)
    types = _types(schema, name)
    if unknown := [column for column in (*key, *parent_key) if column not in types]:
        refuse_package(
            f"a key names {unknown[0]!r}, which is no column; it has {listed(types)}", name
        )
    # A key is made afresh and is no column of the model, unless it says something of its row.
    drawn_keys = _drawn_keys(schema, key, parent_key, own, name)
    fields = _own_fields(schema, {*key, *parent_key}, drawn_keys)
    declared, ignored = _declared_of(resource, schema, fields, name)
    if declared is not None:
        limited = _conditions_in_limits(own["limits"].value)
        names = are_without_bins(schema["fields"], declared.closed_columns) if limited else ()
        declared = declared.parted(names, limited)
    # Open columns stand in it by an example, so that all else can be checked before a budget is
    # spent.
    columns_ = None if declared is None else outline_of(declared)
    opened = [] if declared is None else [column.name for column in declared.open_columns]
    if parent is None and own.mapping().keys() & _OF_CHILDREN:
        refuse_package(
            "it is the root, which has no parent: bounds, an order and limits are for other tables",
            name,
        )
    # It bounds what one family can change, so it has no default.
    most = 1 if parent is None else own["max_children"].whole(1, MAX_CHILDREN)
    order = _order(own["order"], columns_, name)
    if order in opened and columns_ is not None and columns_[order].axis is None:
        refuse_package(
            f"column {order!r} orders rows, and its levels are derived; declare them, in their order",
            name,
        )
    once = _columns_once(own, columns_, order, opened, name)
    table = LinkedTable(
        name=name,
        path=str(resource.get("path", "")),
        fields=types,
        schema=columns_,
        declared=declared,
        ignored=ignored,
        key=key,
        has_tables_below=any(links.parent(other) == name for other in links.order),
        parent=parent,
        parent_key=parent_key,
        max_children=most,
        min_children=own["min_children"].default(0).whole(0, most),
        has_orphans=_has_orphans(own["orphans"], links, name),
        order=order,
        limits=(*_limits(own["limits"], columns_, opened, name), *once),
        key_forms=_key_forms(schema, {*key} - {*parent_key, *drawn_keys}, name),
        missing_values=tuple(schema.get("missingValues", [""])),
        dialect=dialect_of({"dialect": resource.get("dialect")}),
    )
    _check_limits(table)
    if parent is None and not key:
        refuse_package(
            "it is the root, and has no primaryKey; name the column that tells its rows apart", name
        )
    return table


def fields_with_open_bins(
    resource: Mapping[str, Any],
    table: LinkedTable,
    settled: Collection[str],
    spoken_of: Collection[str],
) -> dict[str, dict[str, Any]]:
    """The fields of a table, by name, that declare bounds and no bins, with these left open.

    Not those of keys, of columns of which it is said how many rows have a level, and of ``settled``
    ones, which are called ``table.column``; of those that are ``spoken_of`` not decimals besides,
    which say what values there are.
    """
    schema = resource["schema"]
    own = _own_fields(schema, table.keys, table.drawn_keys)
    declared, _ = _declared_of(resource, schema, own, table.name, learns_bins=True)
    if declared is None or table.declared is None:
        return {}
    closed = {column.name for column in table.declared.closed_columns}
    closed -= {*table.keys, *(limit.column for limit in table.limits)}
    fields = {field["name"]: field for field in schema["fields"]}
    found = {}
    for column in declared.open_columns:
        name = f"{table.name}.{column.name}"
        is_known = name not in spoken_of or column.open_parts == {"bins"}
        if column.name in closed and name not in settled and is_known:
            found[column.name] = _opened(fields[column.name], column.open_parts)
    return found


def _opened(field: Mapping[str, Any], parts: Collection[str]) -> dict[str, Any]:
    return {**field, "synthdp": {**(field.get("synthdp") or {}), "derive": sorted(parts)}}


def _conditions_in_limits(limits: Any) -> list[dict[str, Any]]:
    """The conditions in limits on the rows of a parent, as far as these are well-formed."""
    listed = limits if isinstance(limits, list) else []
    return [{"forbid": each.get("where")} for each in listed if isinstance(each, Mapping)]


def _own_fields(
    schema: Mapping[str, Any], keys: Collection[str], drawn_keys: Collection[str]
) -> list[Any]:
    """The fields of a table that are columns of the model."""
    return [
        _as_column(field) if field["name"] in drawn_keys else field
        for field in schema["fields"]
        if field["name"] not in keys or field["name"] in drawn_keys
    ]


def _types(schema: Mapping[str, Any], name: str) -> dict[str, str]:
    """Type of each field by name, in order."""
    types: dict[str, str] = {}
    for field in schema["fields"]:
        declared = in_package(field, name, "a field")
        column = declared["name"].text(words := "a name, without backticks")
        if not column or "`" in column:
            declared["name"].expect(words)
        if column in types:
            refuse_package(f"column {column!r} appears twice; give every column its own name", name)
        types[column] = str(field.get("type", "any"))
    return types


def _declared_of(
    resource: Mapping[str, Any],
    schema: Mapping[str, Any],
    fields: list[Any],
    name: str,
    *,
    learns_bins: bool = False,
) -> tuple[OpenSchema | None, tuple[str, ...]]:
    """What is declared of the columns that are no keys, and those that are left out; ``learns_bins``
    as `OpenSchema.from_dict` takes it.
    """
    own = schema.get("synthdp", {})
    ignored = own.get("ignore", ()) if isinstance(own, Mapping) else ()
    fields = [field for field in fields if field["name"] not in ignored]
    if not fields:
        return None, tuple(ignored)
    plain = {key: schema[key] for key in ("missingValues", "synthdp") if key in schema}
    if "dialect" in resource:
        plain |= {"dialect": resource["dialect"]}
    try:
        declared = OpenSchema.from_dict({**plain, "fields": fields}, learns_bins=learns_bins)
        return replace(declared, ignored=()), declared.ignored
    except SchemaError as error:
        text = str(error)
        if text.startswith("package: "):
            raise
        refuse_package(text.removeprefix("schema: "), name)


def outline_of(declared: OpenSchema) -> Schema:
    """The schema with open columns closed by findings that are made up, as wide as can be."""
    return declared.resolved({column.name: column.template for column in declared.open_columns})


def _check_closed(key: str, column: str, opened: Collection[str], name: str) -> None:
    """Refuse bounds on rows by levels that nobody knows before the run."""
    if column in opened:
        refuse_package(
            f"{key} names {column!r}, whose domain is derived; declare the column, without synthdp.derive",
            name,
        )


def _drawn_keys(
    schema: Mapping[str, Any],
    key: tuple[str, ...],
    parent_key: tuple[str, ...],
    own: JsonValue,
    name: str,
) -> tuple[str, ...]:
    """The columns of a composite key that are measured and drawn as others are: those of which
    levels are listed, and those by which rows are ordered, limited or told apart.

    The others are fresh, and make rows unique. If there is none, one that rows of a parent have
    once has to do so.
    """
    columns = [column for column in key if column not in parent_key]
    if len(key) < 2 or not columns:
        return ()
    once = {
        column for each in ("increasing", "unique") for column in own[each].default(()).texts(_LIST)
    }
    order = own["order"].value
    named = once | _limited(own["limits"]) | ({order} if isinstance(order, str) else set())
    listed_ = {
        field["name"]
        for field in schema["fields"]
        if constraints_of(field).get("enum") or field.get("type") == "boolean"
    }
    # Not all: what is drawn may repeat, and a key may not.
    is_unique = bool(parent_key) and set(parent_key) <= set(key) and not once.isdisjoint(columns)
    if named.issuperset(columns) and not is_unique:
        refuse_package(
            f"all of its key {listed(columns)} is drawn, so that keys may repeat; if no two rows of a parent have the "
            f'same {columns[-1]!r}, say "unique": ["{columns[-1]}"]',
            name,
        )
    drawn = named if (named | listed_).issuperset(columns) and not is_unique else named | listed_
    return tuple(column for column in columns if column in drawn)


def _limited(limits: JsonValue) -> set[str]:
    return {Limit.from_dict(each).column for each in limits.default(()).entries("a list of limits")}


def _as_column(field: Mapping[str, Any]) -> dict[str, Any]:
    """The field of a column of a key as that of one that is drawn: no part of a key is missing."""
    constraints = {**constraints_of(field), "required": True}
    if not constraints.get("enum") and field.get("type") != "boolean":
        return {**field, "constraints": constraints}
    # Nothing is left to be learnt of it, whatever a draft says of all columns.
    own = field.get("synthdp")
    kept = {k: v for k, v in own.items() if k != "derive"} if isinstance(own, Mapping) else own
    rest = {key: value for key, value in field.items() if key != "synthdp"}
    return {**rest, "constraints": constraints, **({"synthdp": kept} if kept else {})}


def _key_forms(
    schema: Mapping[str, Any], columns: Collection[str], name: str
) -> dict[str, KeyForm]:
    """How keys of a table are written that are fresh: those of its parent come from there."""
    try:
        return {
            field["name"]: KeyForm.from_field(field)
            for field in schema["fields"]
            if field["name"] in columns
        }
    except SchemaError as error:
        refuse_package(str(error).removeprefix("schema: "), name)


def _has_orphans(declared: JsonValue, links: Links, name: str) -> bool:
    """Whether rows without a parent are kept, which only their key can say whose they are."""
    has_orphans: bool = declared.default(False).flag()
    parent = links.parent(name)
    if has_orphans and parent is not None and links.parent(parent) is not None:
        refuse_package(
            f"synthdp.orphans is true, and it hangs on {parent!r}, which is not the root: nobody can tell whose family "
            "its orphans are, so that nothing would protect them; leave it out",
            name,
        )
    return has_orphans


def _order(declared: JsonValue, schema: Schema | None, name: str) -> str | None:
    if not declared.is_given:
        return None
    order = declared.value
    names = () if schema is None else tuple(column.name for column in schema.table_columns)
    if order not in names:
        refuse_package(
            f"synthdp.order is {order!r}, which is no column besides keys; it has {listed(names)}",
            name,
        )
    if schema is None or not schema[order].required:
        refuse_package(
            f"column {order!r} orders rows, but may be missing; set constraints.required", name
        )
    return str(order)


_LIST = "a list of columns"

MAX_LEVELS_ONCE = 64
"""Levels of a column of which each may be of one row of a parent: each is a limit to be kept to."""


def _columns_once(
    own: JsonValue, schema: Schema | None, order: str | None, opened: Collection[str], name: str
) -> tuple[Limit, ...]:
    """One limit a level of the columns that are unique, or increasing, within the parent.

    Rows that are ordered by a column of which no two are the same increase in it.
    """
    unlike: dict[str, None] = {}
    for key in ("increasing", "unique"):
        for column in own[key].default(()).texts(_LIST):
            if schema is None or column not in schema.names:
                refuse_package(
                    f"synthdp.{key} names {column!r}, which is no column besides keys", name
                )
            _check_closed(f"synthdp.{key}", column, opened, name)
            if key == "increasing" and column != order:
                refuse_package(
                    f"synthdp.increasing names {column!r}, by which rows are not ordered; name it in synthdp.order",
                    name,
                )
            unlike[column] = None
    return tuple(
        Limit(column=column, levels=[level], at_most=1)
        for column in unlike
        for level in _single_levels(column, schema, name)
    )


def _single_levels(column: str, schema: Schema | None, name: str) -> list[Any]:
    """The levels of a column, each of one value."""
    assert schema is not None
    levels = schema[column]
    if levels.axis is not None and levels.axis.n_values != levels.n_levels:
        refuse_package(
            f"column {column!r} is to be unique or increasing, and its bins hold several values; give each its own bin",
            name,
        )
    if levels.n_levels > MAX_LEVELS_ONCE:
        refuse_package(
            f"column {column!r} is to be unique or increasing, and has {levels.n_levels} levels; it may have "
            f"{MAX_LEVELS_ONCE}",
            name,
        )
    labels = levels.labels.to_list()[: levels.n_levels]
    return [label.item() if isinstance(label, np.generic) else label for label in labels]


def _limits(
    declared: JsonValue, schema: Schema | None, opened: Collection[str], name: str
) -> tuple[Limit, ...]:
    limits = tuple(
        Limit.from_dict(each) for each in declared.default(()).entries("a list of limits")
    )
    for limit in limits:
        if schema is None or limit.column not in schema.names:
            refuse_package(f"a limit names {limit.column!r}, which is no column besides keys", name)
        _check_closed("a limit", limit.column, opened, name)
        try:
            met = levels_where(schema[limit.column], limit.levels)
        except SchemaError as error:
            refuse_package(f"a limit: {str(error).removeprefix('schema: constraints: ')}", name)
        if not met.any() or met.all():
            refuse_package(
                f"a limit on {limit.column!r} is met by {'all' if met.any() else 'no'} levels", name
            )
    return limits


def _check_limits(table: LinkedTable) -> None:
    """Refuse limits that no rows can keep to."""
    for limits in limits_of(table):
        if limits.overlap:
            problem = f"limits on {limits.column!r} overlap, and none has all levels of the other"
            refuse_package(f"{problem}; give them levels that are nested or apart", table.name)
        numbers = {*range(max(table.min_children, 1), table.max_children + 1)}
        if numbers <= {*limits.impossible(table.max_children)}:
            refuse_package(
                f"limits on {limits.column!r} can be kept to by no number of rows; relax one",
                table.name,
            )
