"""Conditions on columns: lists of levels, and ranges of numbers and dates.

A condition is a list of levels (None is "missing"), or ``{"minimum": a, "maximum": b}`` (either may
be absent). Levels are read as the column reads the values of a table: 1 is the level "1" of a
column of texts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_list_like

from synthdp.core.errors import SchemaError
from synthdp.core.json_value import JsonValue
from synthdp.schema.axes.axis import Axis
from synthdp.schema.columns.column import Column
from synthdp.schema.columns.reading import is_missing

CONDITIONS = '{"sex": ["F"], "age": {"minimum": 18, "maximum": 64}}'
"""An example of conditions, for messages."""


_LIMITS = {
    "minimum": ("min", "from", "lower", "low", "start", "least", "gte", "ge", "after"),
    "maximum": ("max", "to", "upper", "high", "end", "most", "lte", "le", "before", "until"),
}
"""The keys of a range, and what else they are called."""


def is_condition(value: object) -> bool:
    """Whether something is a list or a range, whatever it holds."""
    return isinstance(value, Mapping) or (
        is_list_like(value) and not isinstance(value, str | bytes)
    )


def refuse_condition(column: Column, problem: str) -> NoReturn:
    """Raise `SchemaError` about a condition on a column."""
    raise SchemaError(f"column {column.name!r}: {problem}")


def narrowed(column: Column, condition: object) -> tuple[Column, NDArray[np.float64]]:
    """A column that draws only values that meet a condition, and what share of each of its codes
    does.

    A bin that the condition cuts in two is drawn as often as what lies inside weighs by the bin's
    shape, and values are drawn from there.

    Raises
    ------
    SchemaError
        If the condition does not fit the column.
    """
    if column.axis is not None:
        return _narrowed_bins(column, column.axis, condition)
    shares = np.zeros(column.size)
    shares[level_codes(column, listed_levels(column, condition))] = 1.0
    return column, shares


def _narrowed_bins(
    column: Column, axis: Axis, condition: object
) -> tuple[Column, NDArray[np.float64]]:
    missing = False
    if isinstance(condition, Mapping):
        spans = [axis.points_between(*range_of(column, condition))]
    else:
        levels = listed_levels(column, condition)
        present = [level for level in levels if not is_missing(level)]
        missing = len(present) < len(levels)
        if missing:
            check_may_be_missing(column)
        # A listed value of a column with bins is a range of one point: of its bin it keeps that
        # share.
        spans = [axis.points_between(level, level) for level in present]
    kept = axis.narrowed(spans)
    shares = np.zeros(column.size)
    shares[: column.n_levels] = kept.kept_shares
    shares[column.n_levels :] = missing
    return kept, shares


def range_of(column: Column, condition: Mapping[Any, Any]) -> tuple[object, object]:
    """The limits of a range, None where there is none; raises `SchemaError` if it is no range or
    suits no column.
    """
    if column.axis is None or not condition:
        refuse_condition(
            column, "a range needs minimum or maximum, and a number or date; list levels"
        )
    JsonValue(condition, f"column {column.name!r}").check_keys(_LIMITS)
    return condition.get("minimum"), condition.get("maximum")


def listed_levels(column: Column, condition: object) -> list[Any]:
    """The levels of a condition; raises `SchemaError` if it is no list."""
    if isinstance(condition, Mapping):
        range_of(column, condition)
    if isinstance(condition, Mapping) or not is_condition(condition):
        refuse_condition(
            column, "a condition is neither a list of levels nor a range; write one of them"
        )
    return list(condition)  # type: ignore[call-overload, no-any-return]


def level_codes(column: Column, levels: Sequence[Any]) -> NDArray[np.integer[Any]]:
    """The codes of levels of a column without bins.

    Raises
    ------
    SchemaError
        If there is no such level, or it has no code of its own.
    """
    reader = column.by_level
    merged = reader.merged_label
    values = pd.Series([reader.as_level(level) for level in levels], dtype=object)
    codes = reader.encode(values)
    is_level = reader.knows(values)
    if any(map(is_missing, levels)):
        check_may_be_missing(column)
    for position, level in enumerate(levels):
        # The label of merged levels names all of them at once, and is a code; one of them alone has
        # no code of its own.
        if merged and level == merged:
            codes[position] = column.n_levels - 1
        elif not is_level[position]:
            refuse_condition(column, f"it has no level {level!r}; list levels of the column")
        elif merged and codes[position] == column.n_levels - 1:
            way_out = "make it a level of its own, or leave it out here"
            refuse_condition(column, f"the level {level!r} is merged with others; {way_out}")
    return codes


def check_may_be_missing(column: Column) -> None:
    """Raise `SchemaError` if no value of a column is missing."""
    if column.required:
        refuse_condition(column, "null means missing, but the column is required; remove it")
