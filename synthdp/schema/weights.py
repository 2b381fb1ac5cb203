"""The column that says how many of a population a row stands for, if a schema names one."""

from collections.abc import Mapping, Sequence
from typing import Any

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue

WEIGHT = "weight"
"""Under ``synthdp`` of a field: true of the column of weights."""


def without_weight(schema: Any) -> tuple[Any, str | None]:
    """The JSON object of a schema without the mark of its column of weights, and its name.

    Raises `SchemaError` if two columns are marked, or a mark is no truth value.

    >>> plain, weight = without_weight(
    ...     {"fields": [{"name": "w", "type": "number", "synthdp": {"weight": True}}]}
    ... )
    >>> plain["fields"][0]["synthdp"], weight
    ({}, 'w')
    """
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Sequence) or isinstance(fields, str):
        return schema, None
    plain: list[Any] = []
    marked: list[str] = []
    for field in fields:
        own = field.get("synthdp") if isinstance(field, Mapping) else None
        if not isinstance(own, Mapping) or WEIGHT not in own:
            plain.append(field)
            continue
        name = str(field.get("name"))
        if JsonValue(own[WEIGHT], f"schema: column {name!r}", "synthdp.weight").flag():
            marked.append(name)
        rest = {key: value for key, value in own.items() if key != WEIGHT}
        plain.append({**field, "synthdp": rest})
    if len(marked) > 1:
        raise SchemaError(
            f"schema: {marked[0]!r} and {marked[1]!r} are both weights; mark the one to draw by"
        )
    if len(marked) == 0 and plain == list(fields):
        return schema, None
    return {**schema, "fields": plain}, marked[0] if marked else None


def with_mark(fields: Sequence[Mapping[str, Any]], weight: str | None) -> list[dict[str, Any]]:
    """Fields with the mark of the column of weights."""
    return [
        {**field, "synthdp": {**field.get("synthdp", {}), WEIGHT: True}}
        if field["name"] == weight
        else dict(field)
        for field in fields
    ]
