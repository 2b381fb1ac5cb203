"""What is declared of a table that is given: a schema, or kinds of its columns, which its dtypes
may say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, final

from synthdp.core.errors import ParameterError
from synthdp.core.imports import import_named
from synthdp.schema.kinds import DTYPES, name_dtypes
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.public_files import as_schema

FROM_DTYPES = "dtypes"
"""In place of kinds: the dtypes of the table say them."""

Kinds: TypeAlias = Mapping[str, Any] | str | PathLike[str]


@final
@dataclass(frozen=True, kw_only=True)
class Declared:
    """What somebody says to be public of data, as `synthesize` takes it."""

    schema: Any = None
    """Of one table a `Schema`, an `OpenSchema`, or JSON or a file of one; of several a package."""
    kinds: Kinds | None = None
    dialect: str | Mapping[str, Any] | None = None


def settled_schema(
    declared: Declared,
    dtypes: Mapping[str, Any] | None,
    *,
    unit: str | None,
    learns_bins: bool = True,
) -> tuple[OpenSchema, dict[str, Any]]:
    """The schema of a table, and those of its dtypes that whoever gave it declares to be public.

    Parameters
    ----------
    declared
        What is said of the table.
    dtypes
        The dtypes of the table; they are read if ``kinds`` says so, and not otherwise. None
        for a file.
    unit
        The column of persons, if there is one: its dtype says nothing.
    learns_bins
        As `OpenSchema.from_dict` takes it.

    Raises `ParameterError` unless one of the two is given; `SchemaError` if it contradicts itself.
    """
    schema = declared.schema
    kinds = declared.kinds
    dialect = declared.dialect
    if (schema is None) == (kinds is None):
        if schema is None:
            problem = "neither schema nor kinds is given"
        else:
            problem = "schema and kinds are both given"
        way_out = f"give one of the two, for instance kinds={FROM_DTYPES!r} if the dtypes of the table are public"
        raise ParameterError(f"{problem}; {way_out}")
    if kinds is None:
        return as_schema(schema, dialect=dialect, learns_bins=learns_bins), {}
    if isinstance(kinds, str) and kinds == FROM_DTYPES:
        if dtypes is None:
            raise ParameterError(
                f"kinds is {FROM_DTYPES!r}, but data is a file; name the kind of each column"
            )
        # Dtypes follow from the values, so this is the user's statement that they are public; the
        # certificate lists them among what is unprotected.
        public = {name: dtype for name, dtype in dtypes.items() if name != unit}
        kinds = import_named(f"{DTYPES}:kinds_of")(public)
        return as_schema(OpenSchema.from_kinds(kinds), dialect=dialect), public
    if (
        isinstance(kinds, str)
        # Any text is a path here, so that a slip of the key would become "no such file" without
        # this.
        and get_close_matches(kinds.lower(), [FROM_DTYPES])
        and not Path(kinds).exists()
    ):
        raise ParameterError(
            f"kinds is {kinds!r}, and there is no such file; did you mean {FROM_DTYPES!r}?"
        )
    schema = as_schema(OpenSchema.from_kinds(kinds), dialect=dialect)
    if isinstance(kinds, str | PathLike) or not name_dtypes(kinds):
        return schema, {}
    kinds = import_named(f"{DTYPES}:as_mapping")(kinds)
    return schema, import_named(f"{DTYPES}:dtypes_in")(kinds)
