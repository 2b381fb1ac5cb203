"""What people declare of a table: a schema, which may leave things open, or only the kinds of its
columns; as files, as JSON values, or as dtypes.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from synthdp.core.errors import ParameterError, SchemaError
from synthdp.core.files.json_files import load_json
from synthdp.schema.dialect import Dialect, properties_of, with_dialect
from synthdp.schema.kinds import are_kinds
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema
from synthdp.schema.words.dtypes import as_mapping, dtypes_in, kinds_of

FROM_DTYPES = "dtypes"
"""In place of kinds: the dtypes of the table say them."""

Kinds: TypeAlias = Mapping[str, Any] | str | PathLike[str]


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


def schema_in(content: Any, dialect: str | Mapping[str, Any] | None) -> OpenSchema:
    """The schema that JSON values say, in another dialect; None: in its own.

    Raises `SchemaError` if they are no schema, or the dialect is none.

    >>> schema_in({"sex": 2}, {"delimiter": ";"}).dialect.delimiter
    ';'
    """
    if dialect is None:
        return OpenSchema.from_dict(content)
    if not isinstance(content, Mapping) or "fields" not in content:  # sizes of columns
        content = OpenSchema.from_dict(content).to_dict()
    return OpenSchema.from_dict(with_dialect(content, dialect))


def as_schema(
    schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str],
    *,
    dialect: str | Mapping[str, Any] | None = None,
) -> OpenSchema:
    """The schema as one that may leave things open: itself, or what a mapping or a file holds.

    The properties of ``dialect`` override those of the schema's own; raises `ParameterError` if it
    is none.
    """
    try:
        Dialect.of(properties_of(dialect))
    except SchemaError as error:
        raise ParameterError(str(error)) from None
    declared = OpenSchema.of(schema) if isinstance(schema, Schema) else schema
    if isinstance(declared, OpenSchema):
        return declared if dialect is None else schema_in(declared.to_dict(), dialect)
    return schema_in(
        declared if isinstance(declared, Mapping) else load_json(declared, "schema"), dialect
    )


def settled_schema(
    schema: Schema | OpenSchema | Mapping[str, Any] | str | PathLike[str] | None,
    kinds: Kinds | None,
    dtypes: Mapping[str, Any] | None,
    *,
    unit: str | None,
    dialect: str | Mapping[str, Any] | None = None,
) -> tuple[OpenSchema, dict[str, Any]]:
    """The schema of a table, and those of its dtypes that whoever gave it declares to be public.

    Parameters
    ----------
    schema, kinds, unit, dialect
        As in `synthesize`.
    dtypes
        The dtypes of the table; they are looked at if ``kinds`` says so, and not otherwise. None
        for a file.

    Raises `ParameterError` unless one of the two is given; `SchemaError` if it contradicts itself.
    """
    if (schema is None) == (kinds is None):
        problem = (
            "neither schema nor kinds is given"
            if schema is None
            else "schema and kinds are both given"
        )
        way_out = f"give one of the two, for instance kinds={FROM_DTYPES!r} if the dtypes of the table are public"
        raise ParameterError(f"{problem}; {way_out}")
    if schema is not None:
        return as_schema(schema, dialect=dialect), {}
    kinds = as_mapping(kinds)
    if isinstance(kinds, str) and kinds == FROM_DTYPES:
        if dtypes is None:
            raise ParameterError(
                f"kinds is {FROM_DTYPES!r}, but data is a file; name the kind of each column"
            )
        public = {name: dtype for name, dtype in dtypes.items() if name != unit}
        return as_schema(OpenSchema.from_kinds(kinds_of(public)), dialect=dialect), public
    if (
        isinstance(kinds, str)
        and get_close_matches(kinds.lower(), [FROM_DTYPES])
        and not Path(kinds).exists()
    ):
        raise ParameterError(
            f"kinds is {kinds!r}, and there is no such file; did you mean {FROM_DTYPES!r}?"
        )
    declared = as_schema(OpenSchema.from_kinds(kinds), dialect=dialect)
    return declared, dtypes_in(kinds) if isinstance(kinds, Mapping) else {}


def is_package(content: Any) -> bool:
    """Whether JSON values describe a package and no table."""
    return isinstance(content, Mapping) and "resources" in content
