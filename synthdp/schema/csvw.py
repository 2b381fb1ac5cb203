"""Schemas of CSVW-EO, the public metadata of Lomas: a table of the W3C's CSV on the Web with bounds
of what a person contributes.
"""

from collections.abc import Collection, Mapping
from typing import Any

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue

INTEGERS = (
    "integer", "long", "int", "short", "positiveInteger", "unsignedLong", "unsignedInt",
    "unsignedShort", "unsignedByte", "negativeInteger",
)  # fmt: skip
TYPES = dict.fromkeys(INTEGERS, "integer") | {
    "string": "string",
    "boolean": "boolean",
    "decimal": "number",
    "double": "number",
    "float": "number",
    "date": "date",
    "dateTime": "datetime",
    "dateTimeStamp": "datetime",
}
"""Types of a schema by data types of XML Schema; there is none for durations."""


def csvw_schema(
    metadata: Mapping[str, Any], names: Collection[str] = (), *, nullable: bool = True
) -> dict[str, Any]:
    """The JSON of a schema for columns of a table that CSVW-EO describes; raises `SchemaError`.

    What the description leaves open, such as levels of texts, is left open to be learnt. The column
    that tells persons apart (``privacyId``) is left out.

    Parameters
    ----------
    metadata
        The description, a JSON object.
    names
        Columns to keep; all if there are none.
    nullable
        Whether values may be missing in columns that are not ``required``.

    >>> sex = {"name": "sex", "datatype": "string", "keyValues": ["F", "M"], "exhaustiveKeys": True}
    >>> age = {"name": "age", "datatype": "integer", "required": True, "minimum": 0, "maximum": 99}
    >>> for field in csvw_schema({"tableSchema": {"columns": [sex, age]}})["fields"]:
    ...     print(field)
    {'name': 'sex', 'type': 'string', 'constraints': {'enum': ['F', 'M']}}
    {'name': 'age', 'type': 'integer', 'constraints': {'minimum': 0, 'maximum': 99, 'required': True}}
    """
    columns = {column["name"]: column for column in _columns(metadata)}
    for name in names:
        if name not in columns:
            raise SchemaError(f"metadata: no column {name!r}; choose from {', '.join(columns)}")
    kept = [
        column
        for name, column in columns.items()
        if (name in names or not names) and not column.get("privacyId")
    ]
    return {"fields": [_field(column, nullable) for column in kept]}


def privacy_unit(metadata: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """The column that tells persons apart, and most rows of one; neither if a row is a person.

    Raises
    ------
    SchemaError
        If persons have several rows and no one column tells whose they are, or a person may have
        any number of rows.
    """
    ids = [column["name"] for column in _columns(metadata) if column.get("privacyId")]
    most = metadata.get("maxContributions")
    if len(ids) > 1:
        both = " and ".join(ids)
        raise SchemaError(
            f"metadata: {both} have privacyId; name one column that tells persons apart"
        )
    if ids and most is None:
        raise SchemaError(f"metadata: {ids[0]} has privacyId; give the table maxContributions, too")
    if not ids and most not in (None, 1):
        raise SchemaError(
            f"metadata: maxContributions is {most}, and no column has privacyId; "
            "name the column that tells whose rows they are"
        )
    return (ids[0], most) if ids else (None, None)


def _columns(metadata: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = JsonValue(metadata, "metadata")["tableSchema"]["columns"]
    columns = listed.entries("a list of columns", least=1)
    for column in columns:
        column["name"].text()
    return [column.mapping() for column in columns]


def _field(column: Mapping[str, Any], nullable: bool) -> dict[str, Any]:
    """One column as a field."""
    name = column["name"]
    datatype = column.get("datatype")
    if datatype not in TYPES:
        raise SchemaError(
            f"metadata: column {name!r} has the data type {datatype!r}, which is not read; "
            "leave it out: select the other columns"
        )
    type_ = TYPES[str(datatype)]
    levels = column.get("keyValues") if type_ in ("string", "integer", "number") else None
    bounds = {
        key: _public(column[key], type_)
        for key in ("minimum", "maximum")
        if column.get(key) is not None and type_ in ("integer", "number", "date", "datetime")
    }
    constraints: dict[str, Any] = {"enum": list(levels)} if levels else bounds
    if column.get("required") or not nullable:
        constraints["required"] = True
    field = {"name": name, "type": type_, "constraints": constraints}
    if levels and type_ == "string" and not column.get("exhaustiveKeys"):
        field["synthdp"] = {"other": "other"}
    elif not levels and len(bounds) < 2 and type_ != "boolean":
        field["synthdp"] = {"derive": ["levels" if type_ == "string" else "bounds"]}
    return field


def _public(value: Any, type_: str) -> Any:
    """A bound as a schema has it: dates as texts."""
    if type_ in ("integer", "number"):
        return value
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    return text[: len("2026-01-31")] if type_ == "date" else text
