"""Bins of columns that rules of a package name: where nobody declared them they begin and end where
conditions do, in the views before anything is learnt and in the tables afterwards.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from synthdp.linked.package.linked_table import LinkedTable
from synthdp.linked.package.qualified import OTHER
from synthdp.schema.columns.column import Column
from synthdp.schema.open_parts import are_without_bins
from synthdp.schema.rules.rules import conjunctions
from synthdp.schema.schema import Schema
from synthdp.schema.value_rules import parted_by_rules

Conditions = Sequence[Mapping[str, Any]]
"""Conditions on columns called ``table.column``, one at a time, as rules have them."""


def conditions_of(rules: Iterable[Mapping[str, Any]]) -> Conditions:
    """The conditions in rules, also those on rows beside.

    >>> conditions_of([{"forbid": {"people.age": {"maximum": 17}, "other people.role": ["head"]}}])
    [{'forbid': {'people.age': {'maximum': 17}}}, {'forbid': {'people.role': ['head']}}]
    """
    return [
        {"forbid": {name.removeprefix(OTHER): condition}}
        for rule in rules
        for entry in conjunctions(rule)
        for name, condition in entry.items()
    ]


def parted_table(table: LinkedTable, fields: Sequence[Any], conditions: Conditions) -> LinkedTable:
    """A table whose columns have bins that begin and end where conditions do, if nobody declared
    these bins, in ``fields`` or as far as they were learnt.
    """
    declared, schema = table.declared, table.schema
    own = _of_table(table.name, conditions)
    if declared is None or schema is None or not own:
        return table
    names = are_without_bins(fields, declared.closed_columns)
    names |= {each.name for each in declared.open_columns if each.open_parts == {"bins"}}
    outline = parted_by_rules(schema.table_columns, own, names)
    return replace(
        table,
        declared=declared.parted(names, own),
        schema=schema if outline == schema.table_columns else _with_columns(schema, outline),
    )


def _of_table(name: str, conditions: Conditions) -> list[dict[str, Any]]:
    """The conditions on columns of one table, by their own names."""
    return [
        {"forbid": {column.removeprefix(f"{name}."): condition}}
        for each in conditions
        for column, condition in each["forbid"].items()
        if column.startswith(f"{name}.")
    ]


def _with_columns(schema: Schema, columns: Iterable[Column]) -> Schema:
    """A schema with other bins of its columns."""
    content = schema.to_dict()
    changed = {each.name: each.field() for each in columns if each != schema[each.name]}
    fields = [{**field, **changed.get(field["name"], {})} for field in content["fields"]]
    return Schema.from_dict({**content, "fields": fields})
