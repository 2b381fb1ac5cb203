"""Drafts of schemas to fill in: from names and dtypes alone, never from values."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from synthdp.schema.keys import OWN
from synthdp.schema.types import TYPES, type_named
from synthdp.schema.words.dtypes import kind_of_dtype

NOTE = (
    "Fill in every empty list of levels and every null from public knowledge: a code book, a law, common sense. "
    "They were not read off the data on purpose: levels and bounds read off the data reveal who is in it, "
    "whatever noise is added later. Not even a categorical dtype's categories were taken: they are data too. "
    'What nobody knows can be derived under the privacy budget: write "synthdp": {"derive": true} into its field. '
    'Ids, names and addresses need not be read: give them the type "id" (or name, email, phone, address) for made-up '
    'ones in the output, or list them, and free text, under "synthdp": {"ignore": [..]} at the top. '
    "Check that the names below are column names, and not a first record."
)
"""Stands in every draft; loading ignores it."""

KINDS_NOTE = (
    f"Say of every column that is null what kind it is: categorical, {', '.join(list(TYPES)[1:])}. "
    "Write ignore for free text and all else that identifies: such a column is left out. "
    "Or write id, name, email, phone or address for values that are made up and never read off the data. "
    "Check that the names are column names, and not a first record."
)
"""Goes with every draft of a kinds file."""


def draft_of_kinds(draft: Mapping[str, Any]) -> dict[str, Any]:
    """A kinds file to be filled in, from the draft of a schema, with its dialect.

    >>> draft_of_kinds(draft_from_frame(pd.DataFrame({"age": [39], "job": ["nurse"]})))
    {'age': 'integer', 'job': 'categorical'}
    """
    kinds: dict[str, Any] = {}
    if "dialect" in draft:
        kinds[OWN] = {"dialect": draft["dialect"]}
    for field in draft["fields"]:
        kind = field["type"]
        kinds[field["name"]] = "categorical" if kind == "string" else kind
    return kinds


def draft_from_frame(frame: pd.DataFrame) -> dict[str, Any]:
    """A schema to be filled in, from the names and dtypes of a table.

    >>> draft = draft_from_frame(pd.DataFrame({"age": [39, 50]}))
    >>> draft["fields"]
    [{'name': 'age', 'type': 'integer', 'constraints': {'required': False, 'minimum': None, 'maximum': None}}]
    """
    types = map(_type_of, frame.dtypes)
    fields = [_field(name, kind) for name, kind in zip(frame.columns, types, strict=True)]
    return _draft(fields)


def draft_from_header(names: Sequence[str]) -> dict[str, Any]:
    """A schema to be filled in, from names alone: of a CSV file not even the types are known.

    >>> draft_from_header(["age"])["fields"]
    [{'name': 'age', 'type': None, 'constraints': {'required': False}}]
    """
    return _draft([_field(name, None) for name in names])


def _draft(fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"fields": fields, "missingValues": [""], "synthdp": {"note": NOTE}}


def _field(name: Any, kind: str | None) -> dict[str, Any]:
    to_fill_in = {} if kind is None else type_named(kind).to_fill_in()
    constraints = {"required": False, **to_fill_in.get("constraints", {})}
    return {"name": str(name), "type": kind, **to_fill_in, "constraints": constraints}


def _type_of(dtype: Any) -> str:
    kind_or_field = kind_of_dtype(dtype)
    kind = kind_or_field["type"] if isinstance(kind_or_field, dict) else kind_or_field
    return "string" if kind in (None, "categorical") else str(kind)
