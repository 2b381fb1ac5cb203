"""Fields of a schema whose values are generated, and its primary key.

Such a field has a ``kind`` under ``"synthdp"``, beside which stand its settings; or the kind is
its ``type``, with the settings beside that. These two mean the same::

    {"name": "patient", "type": "string", "synthdp": {"kind": "id", "pattern": "P{:06d}"}}
    {"name": "patient", "type": "id", "pattern": "P{:06d}"}
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue
from synthdp.schema.made_up.generated import NOTHING_GENERATED, Generated
from synthdp.schema.types import GENERATED_KINDS, generated_kind, is_generated
from synthdp.schema.words.texts import checked_name, in_column, refuse

if TYPE_CHECKING:
    from synthdp.schema.made_up.generated_column import GeneratedColumn

_OF_READING = ("format", "categories", "missingValues", "trueValues", "falseValues")
_OF_NUMBERS = ("decimalChar", "groupChar", "bareNumber")
"""Keys that say how values are read."""
_OF_ANY = ("name", "type", "title", "description", "constraints", "synthdp", "example", "rdfType")
"""Keys that any field of Frictionless may have."""


def without_generated(schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], Generated]:
    """The JSON object of a schema without what is generated, and that.

    Raises
    ------
    SchemaError
        If a field contradicts itself, nothing is left for the model to draw, or a key cannot be
        promised to be unique.

    >>> plain, generated = without_generated(
    ...     {"fields": [{"name": "id", "type": "id"}, {"name": "age", "type": "integer"}]}
    ... )
    >>> plain, generated.names
    ({'fields': [{'name': 'age', 'type': 'integer'}]}, ('id',))
    """
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Sequence) or isinstance(fields, str):
        return schema, NOTHING_GENERATED
    generated = {i: _column(field) for i, field in enumerate(fields) if _kind(field) is not None}
    plain = dict(schema) | {
        "fields": [field for i, field in enumerate(fields) if i not in generated]
    }
    # A model needs at least one attribute, if only to say how many rows there are.
    if generated and not plain["fields"]:
        raise SchemaError(
            "schema: all columns are generated; declare one that is to be drawn, or derive its domain"
        )
    for field in plain["fields"]:
        if isinstance(field, Mapping):
            _refuse_unique(field)
    key = _key(plain.pop("primaryKey", None))
    if plain.get("uniqueKeys"):
        raise SchemaError("schema: uniqueKeys is not supported; state one key, as primaryKey")
    # The order of all columns is kept, generated ones among the others, as the table is to be
    # written in it.
    order = tuple(
        field["name"]
        for field in fields
        if isinstance(field, Mapping) and isinstance(field.get("name"), str)
    )
    modelled = [
        name for name in order if name not in {column.name for column in generated.values()}
    ]
    made_up = Generated(tuple(generated.values()), order if generated else (), key)
    return plain, made_up.numbered_by_key(modelled)


def _kind(field: Any) -> Any:
    """The kind of values that are generated; None if a field is not one of these."""
    if not isinstance(field, Mapping):
        return None
    if is_generated(field.get("type")):
        return field["type"]
    own = field.get("synthdp")
    return own.get("kind") if isinstance(own, Mapping) else None


def _column(field: Mapping[str, Any]) -> "GeneratedColumn":
    name = checked_name(field.get("name"))
    kind = _kind(field)
    own = field.get("synthdp") or {}
    in_column(name, "synthdp.kind", kind).choice(GENERATED_KINDS)
    own = in_column(name, "synthdp", own).mapping()
    if own.get("kind", kind) != kind:
        refuse(
            name, f"its type is {kind!r} but synthdp.kind is {own['kind']!r}; remove one of them"
        )
    made_up = generated_kind(kind)
    _check_keys(name, kind, field, own)
    settings = {
        key: place[key]
        for place in (field, own)
        for key in made_up.settings()
        if place.get(key) is not None
    }
    settings |= {key: field[key] for key in ("title", "description") if field.get(key) is not None}
    column = made_up.parse(name, kind, field.get("type", kind), settings)
    _check_constraints(column, field.get("constraints") or {})
    return column


def _check_keys(name: str, kind: str, field: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse keys that could be meant for something, but would not be read."""
    made_up = generated_kind(kind)
    is_short = field.get("type", kind) == kind
    known = made_up.settings()
    in_column(name, "synthdp", own).check_keys({**known, "kind": ()}, " for this kind of column")
    for key in own:
        if key in known and key in field:
            refuse(name, f"{key!r} stands in the field and under synthdp; remove one of them")
    made_up.check_type(name, kind, field.get("type", kind))
    for key, value in field.items():
        if key in known and not is_short:
            refuse(
                name,
                f'{key!r} is not known here; it belongs under synthdp: "synthdp": {{"{key}": ..}}',
            )
        if key in (*_OF_READING, *_OF_NUMBERS) and value not in (None, []):
            refuse(
                name,
                f"{key!r} says how values are read, but those of this column are generated; remove it",
            )
    read = {*_OF_ANY, *_OF_READING, *_OF_NUMBERS}
    unread = [k for k in map(str, field) if k not in read and not k.startswith(("x-", "$", "_"))]
    in_column(name, "", dict.fromkeys(unread)).check_keys(known, " for this kind of column")


def _check_constraints(column: "GeneratedColumn", constraints: Any) -> None:
    declared = in_column(column.name, "constraints", constraints)
    for key in ("enum", "minimum", "maximum"):
        if declared[key].value not in (None, []):
            declared[key].refuse("is for values that are read, but its are generated; remove it")
    if declared["unique"].value is True and not column.is_unique:
        declared["unique"].refuse("is true, but values of this kind may repeat; remove it")


def _refuse_unique(field: Mapping[str, Any]) -> None:
    """Refuse to promise that values which are drawn do not repeat."""
    unique = in_column(str(field.get("name")), "", field)["constraints"]["unique"]
    if unique.value is True:
        way_out = 'generate them: "synthdp": {"kind": "id"}, or remove it'
        unique.refuse(f"is true, which drawn values cannot be; {way_out}")


def _key(given: Any) -> tuple[str, ...]:
    key = JsonValue((given,) if isinstance(given, str) else given or (), "schema", "primaryKey")
    names = key.texts(words := "the name of a column, or a list of names")
    if not all(names) or len(set(names)) < len(names):
        key.expect(words)
    return names
