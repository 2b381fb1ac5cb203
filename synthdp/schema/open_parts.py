"""What of a field is declared, and what can be left open: by its type, and by what it says."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from synthdp.schema.columns.column import Column
from synthdp.schema.types import type_named

OpenPart: TypeAlias = Literal["levels", "bounds", "bins", "decimals", "missing"]
"""What can be left open; "missing": whether values may be missing."""

PARTS: tuple[OpenPart, ...] = get_args(OpenPart)
"""All parts that can be left open, in the order in which they are written."""


def derivable(field: Mapping[str, Any]) -> frozenset[OpenPart]:
    """What of a field can be derived and is not declared."""
    return frozenset(possible_parts(field)) - declared_parts(field)


def is_closable(field: Mapping[str, Any]) -> bool:
    """Whether nothing of a field has to be derived: its levels or bounds are declared, or need not
    be.

    >>> is_closable({"type": "boolean"}), is_closable({"type": "integer"})
    (True, False)
    """
    return not derivable(field) & {"levels", "bounds"}


def possible_parts(field: Mapping[str, Any]) -> tuple[OpenPart, ...]:
    """All that a field of its type can leave open, as it lists levels or not."""
    return parts_of_type(field, has_levels="levels" in declared_parts(field))


def parts_of_type(field: Mapping[str, Any], *, has_levels: bool) -> tuple[OpenPart, ...]:
    """All that can be left open of the type of a field, with levels that are listed or without."""
    type_name = field["type"]
    parts = type_named(type_name).derivable(type_name, has_levels=has_levels)
    return tuple(part for part in PARTS if part in parts)


def declared_parts(field: Mapping[str, Any]) -> frozenset[OpenPart]:
    """What of a field is declared; bins also where ``binning`` does not say that their number is
    the most.
    """
    constraints = filled_in(field)
    own = field.get("synthdp") or {}
    has_both_bounds = {"minimum", "maximum"} <= set(constraints)
    has_n_bins = own.get("bins") is not None and own.get("binning") is None
    is_declared: dict[OpenPart, bool] = {
        "levels": bool(constraints.get("enum") or field.get("categories")),
        "bounds": has_both_bounds or has_edges(field),
        "bins": has_n_bins or has_edges(field),
        "decimals": own.get("decimals") is not None,
        "missing": "required" in constraints or _names_missing(field),
    }
    return frozenset(part for part, value in is_declared.items() if value)


def leaves_bins(field: Mapping[str, Any], column: Column) -> bool:
    """Whether a field with bounds says nothing of bins that hold more than one value each."""
    says_shape = (field.get("synthdp") or {}).get("shape") is not None
    axis = column.axis
    has_room = axis is not None and axis.n_values > axis.n_levels
    return has_room and "bins" in derivable(field) and not says_shape


def _names_missing(field: Mapping[str, Any]) -> bool:
    """Whether a field lists words of its own for "missing": then values may be missing.

    Were it learnt, noise could hide those records, and what the words stand for would be a level.
    """
    words = field.get("missingValues")
    return isinstance(words, list | tuple) and any(word != "" for word in words)


def filled_in(field: Mapping[str, Any]) -> dict[str, Any]:
    """The constraints that are filled in."""
    constraints = field.get("constraints") or {}
    return {key: value for key, value in constraints.items() if value is not None}


def are_without_bins(fields: Any, columns: Iterable[Column]) -> set[str]:
    """The names of columns of which nobody declared the bins, by their fields."""
    by_name = {column.name: column for column in columns}
    return {
        field["name"]
        for field in fields or ()
        if isinstance(field, Mapping)
        and field.get("name") in by_name
        and leaves_bins(field, by_name[field["name"]])
    }


def has_edges(field: Mapping[str, Any]) -> bool:
    """Whether a field says where its bins begin and end."""
    own = field.get("synthdp") or {}
    return own.get("edges") is not None
