"""Whether a schema has relative columns: whoever has none loads nothing of what they need."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from synthdp.core.imports import import_named
from synthdp.schema.keys import RELATIVE

if TYPE_CHECKING:
    from synthdp.schema.relative_fields import Relatives


def without_relative(schema: Any) -> "tuple[Mapping[str, Any], Relatives | None]":
    """The JSON object of a schema without relative columns, and those; see `relative_fields`."""
    if not isinstance(schema, Mapping) or RELATIVE not in repr(schema.get("fields")):
        return schema, None
    split: tuple[Mapping[str, Any], Relatives | None]
    split = import_named("synthdp.schema.relative_fields:split_schema")(schema)
    return split
