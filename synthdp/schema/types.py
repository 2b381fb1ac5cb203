"""The types of columns by the names that fields have for them, those of values that are made up,
too, and what rules that speak of values need. What a name stands for is loaded when it is asked
for: whoever reads a schema of texts and numbers needs no calendar, and without such rules no
search.
"""

from typing import TYPE_CHECKING, Any

from synthdp.core.imports import import_named

if TYPE_CHECKING:
    from synthdp.schema.columns.column import Column
    from synthdp.schema.made_up.generated_column import GeneratedColumn

TYPES: "dict[str, str | type[Column]]" = {
    "string": "synthdp.schema.columns.categorical:CategoricalColumn",
    "boolean": "synthdp.schema.columns.boolean:BooleanColumn",
    "integer": "synthdp.schema.columns.numeric:IntegerColumn",
    "number": "synthdp.schema.columns.numeric:NumberColumn",
    "year": "synthdp.schema.columns.numeric:IntegerColumn",
    "date": "synthdp.schema.columns.dates:DateColumn",
    "datetime": "synthdp.schema.columns.dates:DateColumn",
    "time": "synthdp.schema.columns.times:TimeColumn",
    "geopoint": "synthdp.schema.columns.geopoint:GeopointColumn",
}
"""A module and a class each, or the class; in the order in which messages list them."""

_FAKES = "synthdp.schema.made_up.fake_column:FakeColumn"

GENERATED_KINDS = {
    "id": "synthdp.schema.made_up.id_column:IdColumn",
    "name": _FAKES,
    "first_name": _FAKES,
    "last_name": _FAKES,
    "email": _FAKES,
    "phone": _FAKES,
    "address": _FAKES,
    "company": _FAKES,
}
"""The same of columns whose values are made up for the output."""

VALUE_RULES = {
    "exact decimals": "synthdp.schema.rules.checks:with_exact_decimals",
    "system": "synthdp.schema.rules.system:system_of",
    "checked rules": "synthdp.schema.rules.system:checked_rules",
    "learnt bounds": "synthdp.schema.rules.learnt_bounds:reconciled",
    "bins": "synthdp.schema.rules.parted_bins:parted_by_rules",
    "points": "synthdp.schema.rules.parted_bins:parting_points",
    "drawing": "synthdp.schema.rules.drawing:drawn_values",
}
"""What is done with rules that speak of values, in checks or as limits of bins."""


def is_type(name: object) -> bool:
    """Whether it is the name of a type."""
    return isinstance(name, str) and name in TYPES


def is_generated(name: object) -> bool:
    """Whether it is the name of a kind of columns whose values are made up."""
    return isinstance(name, str) and name in GENERATED_KINDS


def type_named(name: str) -> "type[Column]":
    """The class of the columns of a type; it is one of `TYPES`."""
    named = TYPES[name]
    return import_named(named) if isinstance(named, str) else named


def generated_kind(name: str) -> "type[GeneratedColumn]":
    """The class of the columns of a kind that is made up; it is one of `GENERATED_KINDS`."""
    kind: type[GeneratedColumn] = import_named(GENERATED_KINDS[name])
    return kind


def value_rules(name: str) -> Any:
    """What does something with rules that speak of values; it is one of `VALUE_RULES`."""
    return import_named(VALUE_RULES[name])
