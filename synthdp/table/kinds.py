"""Kinds files: ``{"age": "integer", "job": "categorical"}``, all else is derived under the budget."""

from collections.abc import Mapping
from typing import Any

from synthdp.errors import SchemaError
from synthdp.table.columns import refuse
from synthdp.table.frictionless import SUPPORTED_TYPES
from synthdp.table.open_fields import derivable

KINDS = ("categorical", *SUPPORTED_TYPES)
"""What a kinds file can call a column; "categorical" is a string field."""


def schema_of_kinds(kinds: Mapping[str, Any]) -> dict[str, Any]:
    """A schema whose columns are of some kinds, with everything that is not declared left open.

    Parameters
    ----------
    kinds
        For each column its kind, or an object with the kind as ``type`` and anything else that a
        field can declare.

    Raises
    ------
    SchemaError
        If it is not an object of kinds.

    >>> schema_of_kinds({"job": "categorical"})["fields"]
    [{'name': 'job', 'type': 'string', 'synthdp': {'derive': True}}]
    """
    if not isinstance(kinds, Mapping) or isinstance(kinds.get("fields"), list):
        raise SchemaError('kinds: give a JSON object of columns and kinds, {"age": "integer"}; for a schema use -s')
    return {"fields": [_field(str(name), kind) for name, kind in kinds.items()]}


def _field(name: str, kind: Any) -> dict[str, Any]:
    given: dict[str, Any] = dict(kind) if isinstance(kind, Mapping) else {"type": kind}
    label = given.get("type")
    if isinstance(label, int | float) and not isinstance(label, bool):
        way_out = "write a kind such as 'integer', or give a file of domain sizes as the schema"
        refuse(name, f"its kind is the number {label!r}; {way_out}")
    if label == "text":
        refuse(name, "its kind is 'text', and free text cannot be synthesised; write 'categorical' if values repeat")
    if label not in KINDS:
        refuse(name, f"its kind is {label!r}; use one of {', '.join(KINDS)}")
    if given.get("name", name) != name:
        refuse(name, f"its object has the name {given['name']!r}; remove it")
    field = {"name": name} | given | {"type": "string" if label == "categorical" else label}
    own = field.get("synthdp", {})
    well_formed = isinstance(own, Mapping) and isinstance(field.get("constraints", {}), Mapping)
    if well_formed and "derive" not in own and derivable(field):
        field["synthdp"] = dict(own) | {"derive": True}
    return field
