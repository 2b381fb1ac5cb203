"""Fields of a schema that are relative to another column, and those by which they are modelled.

Such a field names the other column under ``"synthdp"``, beside the bounds and bins of the
distance::

    {
        "name": "end",
        "type": "date",
        "synthdp": {"relative_to": "start", "minimum": 0, "maximum": 60},
    }

The model has a column of whole numbers in its place, or one of numbers with decimals, and nothing
but `Relatives` knows of dates.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue
from synthdp.schema.columns.binned import BinnedColumn
from synthdp.schema.columns.column import DEFAULT_MISSING_VALUES, Column
from synthdp.schema.columns.described import Reading
from synthdp.schema.columns.field import Field
from synthdp.schema.columns.relative import RelativeColumn
from synthdp.schema.dialect import dialect_of
from synthdp.schema.keys import RELATIVE, check_field_keys
from synthdp.schema.open_parts import derivable
from synthdp.schema.rules.rules import names_in
from synthdp.schema.types import type_named
from synthdp.schema.words.texts import checked_name, in_column, refuse
from synthdp.schema.words.with_columns import with_columns

Floats = NDArray[np.float64]

_HOW = "as"
_WAYS = ("difference", "ratio")
_OF_VALUES = ("resolution", "width", "timezone")
"""Keys under ``synthdp`` that are about values; all others are about distances."""

_NUMBERS = ("integer", "number")
_MOMENTS = ("date", "datetime")
_FAMILIES = (_NUMBERS, _MOMENTS, ("time",))
"""Types whose values can be subtracted from each other."""

_NO_DISTANCE = ("parts", "other", "merged", "max_levels")
"""Keys that a relative column cannot have."""


@final
@dataclass(frozen=True)
class Relatives:
    """The relative columns of a table, each after the one that it is relative to."""

    columns: tuple[RelativeColumn, ...]
    """The columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(column.name for column in self.columns)

    @property
    def others(self) -> frozenset[str]:
        """The columns that they are relative to."""
        return frozenset(column.other.name for column in self.columns)

    def with_others(self, names: Iterable[str]) -> tuple[str, ...]:
        """Some columns, and those that they are relative to."""
        wanted = dict.fromkeys(names)
        # Each column comes after the one that it is relative to, so going backwards finds chains:
        # of a third column the second, and of that the first.
        for column in reversed(self.columns):
            if column.name in wanted:
                wanted[column.other.name] = None
        return tuple(wanted)

    def among(self, names: Collection[str]) -> "Relatives":
        """Those of them that are among some names."""
        return Relatives(tuple(column for column in self.columns if column.name in names))

    def check(self, names: Iterable[str]) -> None:
        """Raise `SchemaError` if one is among the names of a model, and what it is relative to is
        not.
        """
        known = set(names)
        for column in self.columns:
            if column.name in known and column.other.name not in known:
                problem = (
                    f"synthdp.{RELATIVE} is {column.other.name!r}, which is no column of the model"
                )
                refuse(column.name, f"{problem}; name another one")

    def check_table(
        self, table: str, rules: Sequence[Mapping[str, Any]], order: str | None
    ) -> None:
        """Raise `SchemaError` if rules of a package, or the order of the table's rows, speak of
        one.
        """
        # Rules of a package name columns with their tables.
        check_rules(rules, {f"{table}.{column.name}": column for column in self.columns})
        # Distances from different moments are in no order of time.
        if order in self.names:
            problem = f"package: table {table!r}: synthdp.order is {order!r}"
            way_out = "which is modelled by its distance from another column; order by that one"
            raise SchemaError(f"{problem}, {way_out}")

    def reconciled(
        self, learnt: Mapping[str, Column], others: Mapping[str, Column]
    ) -> dict[str, Column]:
        """Learnt columns of which those that are relative to a column without a value in some rows
        may have none, either: noise, or words for missing, may say otherwise.

        ``others`` are those that are not learnt, or not yet.
        """
        fitted = dict(learnt)
        for column in self.columns:
            own = fitted.get(column.name)
            other = column.other.name
            if own is not None and not (fitted.get(other) or others[other]).required:
                fitted[column.name] = replace(own, required=False)
        return fitted

    @property
    def readings(self) -> dict[str, Reading]:
        """How each is read."""
        return {column.name: column.reading for column in self.columns}

    def measured(
        self, frame: pd.DataFrame, plain: Callable[[pd.Series, str], pd.Series]
    ) -> pd.DataFrame:
        """A table with distances in place of the values of these columns.

        Total on values, and row by row; see `RelativeColumn.distances`. What dtypes hold that
        columns do not read, ``plain`` makes into values of a type.
        """
        distances = {}
        for column in self.columns:
            both = (column.own, column.other)
            read = [plain(frame[each.name], each.type_name) for each in both]
            distances[column.name] = column.distances(*read)
        return with_columns(frame, distances)

    def written(
        self,
        frame: pd.DataFrame,
        columns: Iterable[Column],
        given: Mapping[str, Floats],
        *,
        text: bool,
    ) -> pd.DataFrame:
        """A decoded table of a model, with values in place of the distances of these columns.

        Parameters
        ----------
        frame
            The table, as texts or typed.
        columns
            Those of the model.
        given
            Of some columns the values from which distances are, in place of those in the table.
        text
            Whether values are to be texts.
        """
        by_name = {column.name: column for column in columns}
        may_be_missing = {name: not column.required for name, column in by_name.items()}
        numbers = dict(given)
        values = {}
        for column in self.columns:
            name = column.name
            other = column.other.name
            for needed in (name, other):
                axis = by_name[needed].axis
                # Types that a field can be relative to have a line: see `_FAMILIES`.
                assert axis is not None
                if needed not in numbers:
                    numbers[needed] = axis.read_numbers(frame[needed])
            may_be_missing[name] |= may_be_missing[other]
            writer = column.writer(by_name[name], may_be_missing=may_be_missing[other])
            points, missing = writer.points(writer.numbers(numbers[name], numbers[other]))
            # A further column may be relative to this one, as it is written.
            numbers[name] = np.where(missing, np.nan, writer.axis.at(points))
            made = (writer.axis.texts_at if text else writer.axis.values_at)(points, missing)
            dtype = object if text else None
            values[name] = pd.Series(made, dtype=dtype).set_axis(frame.index)
        return with_columns(frame, values)

    def added_to(self, fields: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The fields of a model with those of relative columns as a schema has them."""
        by_name = {column.name: column for column in self.columns}
        return [
            _declared(by_name[field["name"]], field) if field["name"] in by_name else dict(field)
            for field in fields
        ]


def split_schema(
    schema: Mapping[str, Any],
) -> tuple[Mapping[str, Any], Relatives | None]:
    """The JSON object of a schema in which relative columns are ones of distances, and those
    columns.

    Raises
    ------
    SchemaError
        If a field contradicts itself, or there is no other column that it could be relative to.

    >>> start = {"name": "start", "type": "date"}
    >>> own = {"relative_to": "start", "minimum": 0, "maximum": 60}
    >>> plain, relatives = split_schema(
    ...     {"fields": [start, {"name": "end", "type": "date", "synthdp": own}]}
    ... )
    >>> plain["fields"][1]["type"], plain["fields"][1]["constraints"], relatives.names
    ('integer', {'minimum': 0, 'maximum': 60}, ('end',))
    """
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if not isinstance(fields, Sequence) or not any(map(_is_relative, fields)):
        return schema, None
    by_name = {
        field["name"]: field
        for field in dialect_of(schema).fields(fields)
        if isinstance(field, Mapping) and isinstance(field.get("name"), str)
    }
    declared = JsonValue(schema.get("missingValues"), "schema", "missingValues")
    missing_values = declared.default(DEFAULT_MISSING_VALUES).texts()
    columns: dict[str, RelativeColumn] = {}
    modelled = []
    for field in fields:
        if not _is_relative(field):
            modelled.append(field)
            continue
        name = checked_name(field.get("name"))
        columns[name] = _column(by_name[name], by_name, missing_values)
        # The model has the distance in place of the column: as whole numbers with bounds it takes
        # few bins, where two dates would take many.
        modelled.append(_of_distance(by_name[name], columns[name]))
    own_of_schema = schema.get("synthdp")
    rules = own_of_schema.get("constraints") if isinstance(own_of_schema, Mapping) else None
    check_rules(rules if isinstance(rules, Sequence) else (), columns)
    return dict(schema) | {"fields": modelled}, Relatives(_in_order(columns))


def check_rules(rules: Sequence[Any], columns: Mapping[str, RelativeColumn]) -> None:
    """Raise `SchemaError` if a rule speaks of relative columns, by the names that it has for them:
    their distances would be compared.
    """
    # What is no rule is refused by those who read them.
    for rule in (rule for rule in rules if isinstance(rule, Mapping)):
        for name in sorted(columns.keys() & names_in(rule)):
            other = columns[name].other.name
            problem = f"a rule names {name!r}, which is modelled by its distance from {other!r}"
            way_out = "say it by synthdp.minimum and maximum of that column, or remove the rule"
            raise SchemaError(f"schema: constraints: {problem}; {way_out}")


def _is_relative(field: object) -> bool:
    own = field.get("synthdp") if isinstance(field, Mapping) else None
    return isinstance(own, Mapping) and RELATIVE in own


def _column(
    field: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]], missing: tuple[str, ...]
) -> RelativeColumn:
    """The relative column that a field declares."""
    name = field["name"]
    own = field["synthdp"]
    check_field_keys(name, field)
    other = own.get(RELATIVE)
    if not isinstance(other, str) or other == name or other not in fields:
        names = ", ".join(repr(each) for each in fields if each != name)
        refuse(name, f"synthdp.{RELATIVE} is {other!r}; name another column, one of {names}")
    family = next((each for each in _FAMILIES if field.get("type") in each), ())
    if not family:
        kinds = ", ".join(kind for each in _FAMILIES for kind in each)
        refuse(
            name, f"synthdp.{RELATIVE} is for columns of {kinds}; its type is {field.get('type')!r}"
        )
    if fields[other].get("type") not in family:
        problem = f"is of type {fields[other].get('type')!r}, and this column of {field['type']!r}"
        refuse(
            name, f"synthdp.{RELATIVE}: {other!r} {problem}; name a column of {' or '.join(family)}"
        )
    is_ratio = _is_ratio(field, family)
    constraints = field.get("constraints") or {}
    _refuse_keys_of_others(field)
    kept = (*_OF_VALUES, "decimals") if is_ratio else _OF_VALUES
    settings = {key: own[key] for key in (RELATIVE, _HOW, *kept) if own.get(key) is not None}
    column = RelativeColumn(
        own=_reader(field, missing),
        other=_reader(fields[other], missing),
        is_ratio=is_ratio,
        declared={
            key: value for key, value in field.items() if key not in ("synthdp", "constraints")
        },
        settings=settings,
    )
    other_constraints = fields[other].get("constraints") or {}
    is_required = [each.get("required") is True for each in (constraints, other_constraints)]
    # Where the other value is missing no distance can be taken, and so no value be written.
    if is_required == [True, False]:
        way_out = f"declare {other!r} as required, too, or this column not"
        refuse(name, f"it is required, but has no value where {other!r} is missing; {way_out}")
    return column


def _is_ratio(field: Mapping[str, Any], family: tuple[str, ...]) -> bool:
    """Whether a field says that its distance is a ratio."""
    name = field["name"]
    own = field["synthdp"]
    ways = _WAYS if family == _NUMBERS else _WAYS[:1]
    how = own.get(_HOW, _WAYS[0])
    if how not in ways:
        refuse(name, f"synthdp.{_HOW} is {how!r}; use {' or '.join(map(repr, ways))}")
    is_ratio = bool(how == _WAYS[1])
    if is_ratio and field["type"] == "number" and own.get("decimals") is None:
        problem = "synthdp.decimals is not filled in"
        refuse(name, f"{problem}; a ratio does not say how many decimals values are written with")
    return is_ratio


def _refuse_keys_of_others(field: Mapping[str, Any]) -> None:
    """Refuse what only columns can have that are not relative."""
    name = field["name"]
    own = field["synthdp"]
    constraints = field.get("constraints") or {}
    for key in _NO_DISTANCE:
        if own.get(key) is not None:
            refuse(name, f"synthdp.{key} does not go with synthdp.{RELATIVE}; remove one of them")
    for key in ("minimum", "maximum", "enum"):
        if isinstance(constraints, Mapping) and constraints.get(key) is not None:
            problem = f"constraints.{key} does not go with synthdp.{RELATIVE}"
            refuse(name, f"{problem}; give bounds of the distance, as synthdp.minimum and maximum")


def _reader(field: Mapping[str, Any], missing: tuple[str, ...]) -> BinnedColumn:
    """What reads and writes the values of a field, wherever they lie."""
    kind = field["type"]
    own = in_column(field["name"], "synthdp", field.get("synthdp")).default({}).mapping()
    decimals = {} if RELATIVE in own and _HOW not in own else {"decimals": own.get("decimals")}
    # Bins and bounds of a relative field are about distances: what reads its values gets none of
    # them.
    settings = {key: own.get(key) for key in _OF_VALUES} | (decimals if kind == "number" else {})
    required = (field.get("constraints") or {}).get("required")
    problem: SchemaError | None = None
    # Values are read wherever they lie: clipping them before the distance is taken would change the
    # distance. So the reader is as wide as its format allows.
    for low, high in type_named(kind).widest_bounds(field, {}):
        constraints = {"minimum": low, "maximum": high} | ({"required": True} if required else {})
        plain = dict(field) | {
            "constraints": constraints,
            "synthdp": {key: value for key, value in settings.items() if value is not None},
            "missingValues": [""],
        }
        try:  # a bound may be one that the format cannot say
            column: BinnedColumn = type_named(kind).parse(Field(plain, ()))
        except SchemaError as error:
            problem = problem or error
            continue
        declared = in_column(field["name"], "missingValues", field.get("missingValues"))
        texts = declared.default(missing).texts()
        return column.with_missing(texts, required=bool(required))
    assert problem is not None
    raise problem


def _of_distance(field: Mapping[str, Any], column: RelativeColumn) -> dict[str, Any]:
    """The field of the model: that of the distance."""
    own = {key: value for key, value in field["synthdp"].items() if key not in column.settings}
    own = {key: value for key, value in own.items() if key not in (RELATIVE, _HOW, *_OF_VALUES)}
    is_open = "derive" in own
    constraints = {
        key: value
        for key, value in (field.get("constraints") or {}).items()
        if key not in ("minimum", "maximum", "enum")
    }
    for key in ("minimum", "maximum"):
        bound = own.pop(key, None)
        if bound is not None:
            constraints[key] = bound
        elif not is_open and own.get("edges") is None:
            problem = f"synthdp.{key} is not filled in"
            refuse(column.name, f"{problem}; give the bound of the distance, in {column.unit}")
    words = {key: field[key] for key in ("title", "description") if key in field}
    kind = "number" if column.is_ratio or field["type"] == "number" else "integer"
    modelled = {
        "name": column.name,
        "type": kind,
        "missingValues": [""],
        "constraints": constraints,
        "synthdp": own,
        **words,
    }
    if own.get("derive") is True and not derivable(modelled):  # as kinds say it of all columns
        own.pop("derive")
    return modelled


def _declared(column: RelativeColumn, modelled: Mapping[str, Any]) -> dict[str, Any]:
    """The field of a relative column, by that of its distance."""
    constraints = dict(modelled.get("constraints") or {})
    bounds = {key: constraints.pop(key) for key in ("minimum", "maximum") if key in constraints}
    own = dict(modelled.get("synthdp") or {})
    if column.is_ratio:
        own.pop("decimals", None)
    field = dict(column.declared)
    if constraints:
        field |= {"constraints": constraints}
    return field | {"synthdp": {**column.settings, **bounds, **own}}


def _in_order(columns: Mapping[str, RelativeColumn]) -> tuple[RelativeColumn, ...]:
    """The columns, each after the one that it is relative to; raises `SchemaError` in a circle."""
    ordered: dict[str, RelativeColumn] = {}
    while left := [column for name, column in columns.items() if name not in ordered]:
        # Peeling off what depends on nothing left, round by round: whatever remains without any
        # such column goes in a circle.
        ready = [
            each for each in left if each.other.name not in columns or each.other.name in ordered
        ]
        if not ready:
            problem = f"synthdp.{RELATIVE} leads in a circle"
            refuse(left[0].name, f"{problem}; name a column that is not relative to this one")
        ordered |= {each.name: each for each in ready}
    return tuple(ordered.values())
