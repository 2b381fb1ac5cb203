"""The types of columns by the names that fields have for them. What a name stands for is loaded when
it is asked for: whoever reads a schema of texts and numbers needs no calendar.
"""

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synthdp.schema.columns.column import Column

TYPES = {
    "string": "synthdp.schema.columns.categorical:CategoricalColumn",
    "boolean": "synthdp.schema.columns.boolean:BooleanColumn",
    "integer": "synthdp.schema.columns.numeric:IntegerColumn",
    "number": "synthdp.schema.columns.numeric:NumberColumn",
    "year": "synthdp.schema.columns.numeric:IntegerColumn",
    "date": "synthdp.schema.columns.dates:DateColumn",
    "datetime": "synthdp.schema.columns.dates:DateColumn",
}
"""A module and a class each; in the order in which messages list them."""


def is_type(name: object) -> bool:
    """Whether it is the name of a type."""
    return isinstance(name, str) and name in TYPES


@cache
def type_named(name: str) -> "type[Column]":
    """The class of the columns of a type; it is one of `TYPES`."""
    module, _, class_ = TYPES[name].partition(":")
    found: type[Column] = getattr(import_module(module), class_)
    return found
