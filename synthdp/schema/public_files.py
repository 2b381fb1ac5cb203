"""What people declare of a table, as files or as JSON values: a schema, which may leave things
open, or only the kinds of its columns.
"""

from collections.abc import Mapping
from os import PathLike
from typing import Any

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.schema.dialect import Dialect, properties_of, with_dialect
from synthdp.schema.kinds import are_kinds
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema


def load_public(path: str | PathLike[str]) -> tuple[OpenSchema, str]:
    """The schema that a file holds, and what kind of file it is: ``"schema"`` or ``"kinds"``.

    Raises `DataFileError` if it cannot be read, `SchemaError` if it is neither.
    """
    return public_schema(load_json(path, "schema"))


def public_schema(content: Any) -> tuple[OpenSchema, str]:
    """The schema that JSON values say, and whether they are a ``"schema"`` or ``"kinds"``.

    Raises `SchemaError` if they are neither.

    >>> (
    ...     public_schema({"age": "integer"})[1],
    ...     public_schema({"age": 85})[1],
    ... )  # the latter: sizes of levels
    ('kinds', 'schema')
    """
    if are_kinds(content):
        return OpenSchema.from_kinds(content), "kinds"
    return OpenSchema.from_dict(content), "schema"


def schema_in(
    content: Any, dialect: str | Mapping[str, Any] | None, *, learns_bins: bool = True
) -> OpenSchema:
    """The schema that JSON values say, in another dialect; None: in its own.

    ``learns_bins`` as `OpenSchema.from_dict` takes it. Raises `SchemaError` if they are no schema,
    or the dialect is none.

    >>> schema_in({"sex": 2}, {"delimiter": ";"}).dialect.delimiter
    ';'
    """
    if dialect is None:
        return OpenSchema.from_dict(content, learns_bins=learns_bins)
    if not isinstance(content, Mapping) or "fields" not in content:  # sizes of columns
        content = OpenSchema.from_dict(content).to_dict()
    return OpenSchema.from_dict(with_dialect(content, dialect), learns_bins=learns_bins)


def as_schema(
    schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str],
    *,
    dialect: str | Mapping[str, Any] | None = None,
    learns_bins: bool = True,
) -> OpenSchema:
    """The schema as one that may leave things open: itself, or what a mapping or a file holds.

    The properties of ``dialect`` override those of the schema's own; ``learns_bins`` as
    `OpenSchema.from_dict` takes it. Raises `ParameterError` if the dialect is none.
    """
    try:
        Dialect.from_properties(properties_of(dialect))
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    declared = OpenSchema.from_schema(schema) if isinstance(schema, Schema) else schema
    if isinstance(declared, OpenSchema):
        return declared if dialect is None else schema_in(declared.to_dict(), dialect)
    content = declared if isinstance(declared, Mapping) else load_json(declared, "schema")
    return schema_in(content, dialect, learns_bins=learns_bins)


def is_package(content: Any) -> bool:
    """Whether JSON values describe a package and no table."""
    return isinstance(content, Mapping) and "resources" in content
