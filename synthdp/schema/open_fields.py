"""Fields of a schema of which something is left open: ``"synthdp": {"derive": ...}``.

``derive`` is true for all that can be derived and is not declared, or a list of parts:

=================  ===========================================
type               parts
=================  ===========================================
string             levels, missing
boolean, geopoint  missing
integer, year      bounds, bins, missing
number             bounds, bins, decimals, missing
date, datetime     bounds, bins, missing
time               bounds, bins, missing
=================  ===========================================

Of a column with an ``enum`` only "missing" can be derived. A ``minimum`` or ``maximum`` without the
other is a limit that derived bounds keep to. Where bounds are declared and bins are not, bins are
derived, unless each value has a level of its own. A null in ``constraints`` and an empty ``enum``
or ``categories`` count as not declared. Beside ``derive`` stand how: ``binning`` and ``bins`` (the
most bins) where bins are open; ``max_levels`` and ``other`` where levels are.
"""

from collections.abc import Mapping
from typing import Any, get_args

from synthdp.schema.axes.bin_limits import DEFAULT_BINS, MAX_LEVELS
from synthdp.schema.columns.column import Column
from synthdp.schema.frictionless import parse_field
from synthdp.schema.keys import check_field_keys
from synthdp.schema.open_column import DEFAULT_MAX_LEVELS, DEFAULT_OTHER, Binning, OpenColumn
from synthdp.schema.open_parts import (
    PARTS,
    OpenPart,
    declared_parts,
    derivable,
    filled_in,
    has_edges,
    leaves_bins,
    parts_of_type,
    possible_parts,
)
from synthdp.schema.types import is_type, type_named
from synthdp.schema.words.texts import in_column, refuse

BINNINGS: tuple[Binning, ...] = get_args(Binning)
"""All ways of finding bins."""

_HOW: dict[str, OpenPart] = {"binning": "bins", "max_levels": "levels"}
"""Keys that say how a part is derived."""

_WHERE_CLOSED: dict[OpenPart, tuple[str, ...]] = {
    "levels": ("merged",),
    "bounds": ("edges", "shape"),
    "bins": ("edges",),
    "decimals": ("decimals",),
}
"""Keys that only a field has of which the part is closed."""

_HERE = " for this kind of column"

_DECLARED_AS: dict[OpenPart, str] = {
    "levels": "constraints.enum or categories",
    "bounds": "constraints.minimum, maximum or synthdp.edges",
    "bins": "synthdp.edges",
    "decimals": "synthdp.decimals",
    "missing": "constraints.required",
}


def read_field(
    field: Any, missing_values: tuple[str, ...], *, learns_bins: bool = False
) -> Column | OpenColumn:
    """One column from one field, open if the field says so; raises `SchemaError` if it contradicts
    itself.

    Parameters
    ----------
    field, missing_values
        The field, and the missing values of its schema.
    learns_bins
        Whether bins are open where bounds are declared and bins are not; else they are equally
        wide.
    """
    own = field.get("synthdp") if isinstance(field, Mapping) else None
    is_readable = (
        isinstance(field, Mapping)
        and isinstance(field.get("name"), str)
        and is_type(field.get("type"))
    )
    if not is_readable or not _is_object(own) or not _is_object(field.get("constraints")):
        return parse_field(field, missing_values)  # which refuses it
    check_field_keys(field["name"], field)
    if own and "derive" in own:
        return _open_column(field, own, missing_values)
    _refuse_unknown(field["name"], field, own or {}, frozenset())
    _refuse_meaningless(field["name"], field, own or {}, frozenset())
    _refuse_undeclared(field["name"], field, frozenset())
    column = parse_field(field, missing_values)
    if not learns_bins or not leaves_bins(field, column):
        return column
    parts = [part for part in PARTS if part in derivable(field) and part in ("bins", "decimals")]
    return _open_column(field, dict(own or {}) | {"derive": parts}, missing_values)


def _open_column(
    field: Mapping[str, Any], own: Mapping[str, Any], missing_values: tuple[str, ...]
) -> OpenColumn:
    name = field["name"]
    parts = _derived_parts(name, field, own["derive"])
    _refuse_unknown(name, field, own, parts)
    _refuse_undeclared(name, field, parts)
    settings: dict[str, Any] = {}
    given = in_column(name, "synthdp", own)
    if "levels" in parts:
        settings["max_levels"] = (
            given["max_levels"].default(DEFAULT_MAX_LEVELS).whole(3, MAX_LEVELS)
        )
        settings["other"] = given["other"].default(DEFAULT_OTHER).value
    if "bins" in parts:
        settings["max_bins"] = given["bins"].default(DEFAULT_BINS).whole(2, MAX_LEVELS)
        settings["binning"] = given["binning"].default(BINNINGS[0]).choice(BINNINGS)
    elif isinstance(own.get("bins"), int):
        settings["max_bins"] = own["bins"]
    _refuse_meaningless(name, field, own, parts)
    field = type_named(field["type"]).settled(field)
    texts = in_column(name, "missingValues", field.get("missingValues", missing_values)).texts()
    left = _declared_field(field, own, parts)
    return OpenColumn(
        name=name,
        type=field["type"],
        open_parts=parts,
        declared=left,
        missing_values=texts,
        **settings,
    )


def _derived_parts(name: str, field: Mapping[str, Any], derive: object) -> frozenset[OpenPart]:
    """What ``derive`` opens."""
    if derive is not True:
        return _listed_parts(name, field, derive)
    parts = derivable(field)
    if not parts and "required" not in filled_in(field):
        # All but whether values may be missing, which words for it declare unless that is asked.
        parts = frozenset(possible_parts(field)) - _not_listable(field)
    if not parts:
        refuse(name, "synthdp.derive is true, but everything is declared; remove it")
    return parts


def _listed_parts(name: str, field: Mapping[str, Any], derive: object) -> frozenset[OpenPart]:
    """What a list opens; refuses what the type does not have, and what is declared."""
    possible = possible_parts(field)
    declared = _not_listable(field)
    free = ", ".join(part for part in possible if part not in declared)
    given = in_column(name, "synthdp.derive", derive)
    words = f"true, or a list of {free}" if free else "nothing: remove it"
    for part in given.sequence(words, least=1):
        if part not in possible:
            has_part = part in parts_of_type(field, has_levels=False)
            levels = " with declared levels" if has_part else ""
            may = f"it may list {free}" if free else "everything is declared; remove synthdp.derive"
            given.refuse(
                f"lists {part!r}, which a column of type {field['type']!r}{levels} has not; {may}"
            )
    parts: frozenset[OpenPart] = frozenset(given.sequence())
    for part in PARTS:
        if part in parts & declared:
            declaring = _DECLARED_AS[part]
            given.refuse(f"lists {part!r}, but {declaring} declares it; remove one of them")
    return parts


def _not_listable(field: Mapping[str, Any]) -> frozenset[OpenPart]:
    """What a list may not open, because it is declared."""
    declared = declared_parts(field)
    if filled_in(field).get("required") is not True:
        declared -= {"missing"}  # drafts say false
    if not has_edges(field):
        declared -= {"bins"}  # their number is the most that may be found
    return declared


def _is_object(value: object) -> bool:
    return value is None or isinstance(value, Mapping)


def _refuse_undeclared(name: str, field: Mapping[str, Any], parts: frozenset[OpenPart]) -> None:
    """Refuse levels or bounds that are neither declared nor derived."""
    allowed = parts | declared_parts(field)
    possible = possible_parts(field)
    if "levels" in possible and "levels" not in allowed:
        problem = (
            "is missing" if (field.get("constraints") or {}).get("enum") is None else "is empty"
        )
        way_out = 'list the levels that the column can have, or derive them: add "levels" to synthdp.derive'
        refuse(name, f"constraints.enum {problem}; {way_out}")
    if "bounds" in possible and "bounds" not in allowed:
        lacking = next(key for key in ("minimum", "maximum") if key not in filled_in(field))
        way_out = (
            'give the bound that is public knowledge, or derive it: add "bounds" to synthdp.derive'
        )
        refuse(name, f"constraints.{lacking} is not filled in; {way_out}")


def _refuse_unknown(
    name: str, field: Mapping[str, Any], own: Mapping[str, Any], parts: frozenset[OpenPart]
) -> None:
    """Refuse a key that the type does not have; shows those that it can have beside the others."""
    possible = possible_parts(field)
    keys = [*_closed_keys(field), *(key for key, part in _HOW.items() if part in possible)]
    unknown = [key for key in own if key not in (*keys, "derive")]
    gone = {key for key, part in _HOW.items() if part not in parts}
    gone |= {key for part in parts for key in _WHERE_CLOSED.get(part, ())}
    if has_edges(field) and not {"bounds", "bins"} & parts:
        gone.add("bins")
    shown = [key for key in keys if key not in gone]
    if parts or derivable(field):
        shown += ["derive"]
    in_column(name, "synthdp", dict.fromkeys(unknown)).check_keys(shown, _HERE)


def _closed_keys(field: Mapping[str, Any]) -> tuple[str, ...]:
    """What the field can have under ``synthdp`` once it is closed."""
    has_levels = "levels" in declared_parts(field)
    return type_named(field["type"]).keys(field["type"], has_levels=has_levels)


def _refuse_meaningless(
    name: str, field: Mapping[str, Any], own: Mapping[str, Any], parts: frozenset[OpenPart]
) -> None:
    given = in_column(name, "synthdp", own)
    for key, part in _HOW.items():
        if part not in parts and given[key].is_given:
            way_out = f" or derive {part}" if part in derivable(field) else ""
            given[key].refuse(f"says how {part} are derived, but they are not; remove it{way_out}")
    for key, part in (("merged", "levels"), ("shape", "bounds")):
        if part in parts and given[key].is_given:
            given[key].refuse(f"cannot be declared of {part} that are derived; remove one of them")


def _declared_field(
    field: Mapping[str, Any], own: Mapping[str, Any], parts: frozenset[OpenPart]
) -> dict[str, Any]:
    """The field without what says that and how something is derived."""
    gone = {"derive", "binning", "max_levels"}
    if "bins" in parts:
        gone.add("bins")
    if "levels" in parts:
        gone.add("other")
    left = {key: value for key, value in own.items() if key not in gone and value is not None}
    constraints = dict(filled_in(field))
    if "missing" in parts:
        constraints.pop("required", None)
    rest = {key: value for key, value in field.items() if key != "missingValues"}
    if "levels" not in declared_parts(field):  # an empty list of levels, as drafts have it
        constraints.pop("enum", None)
        rest.pop("categories", None)
    return rest | {"constraints": constraints, "synthdp": left}
