"""Learning the levels of a column of texts: those that many records share; all else is "other"."""

from collections.abc import Collection
from fractions import Fraction
from typing import Any

from synthdp.core.grid import Grid
from synthdp.learning.cells.significance import BELIEVED
from synthdp.privacy.values.private_values import PrivateValues
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import DEFAULT_OTHER, OpenColumn

MIN_MERGED = 2
"""Merging a single level with nothing would change nothing."""


def learn_levels(
    values: PrivateValues, column: OpenColumn, *, rho: Fraction, delta: Fraction, min_mass: float
) -> Column:
    """Close a column of texts: levels in the order of their texts, rare ones merged.

    Rare levels share one code, whose values are drawn in proportion to the noisy counts that were
    released: the model need not tell apart what noise would drown.
    """
    frequent = values.frequent(Grid(column=column.name), rho=rho, delta=delta)
    counts = {str(level): count for level, count in frequent.counts.items()}
    most_levels = column.max_levels - 2  # "other" and "missing" are levels, too
    by_count = sorted(counts, key=lambda level: (-counts[level], level))
    kept = sorted(by_count[:most_levels])
    other = _other_label(column, kept)
    rare = [level for level in kept if counts[level] < min_mass and level != other]
    if len(rare) < MIN_MERGED:
        rare = []
    # A column has a level, even where nothing was frequent.
    levels = [level for level in kept if level not in set(rare)] or [other]
    parts: dict[str, Any] = {"levels": levels, "other": other}
    if rare:
        weights = [round(counts[level]) for level in rare]
        parts["merged"] = {"levels": rare, "weights": weights}
    parts |= learnt_missing(column, frequent.missing, frequent.stddev)
    return column.resolved(**parts)


def _other_label(column: OpenColumn, levels: Collection[str]) -> str:
    """The label of what is left: the field's own, or one that is unlike all levels, whatever their
    case.

    A table's own "Other" is a level like others, and what it is called is released.
    """
    taken = {text.casefold() for text in (*levels, *column.missing_values)}
    if column.other != DEFAULT_OTHER or DEFAULT_OTHER not in taken:
        return column.other
    label = "(other)"
    number = 1
    while label in taken:
        number += 1
        label = f"(other {number})"
    return label


def learnt_missing(column: OpenColumn, missing: float, stddev: float) -> dict[str, bool]:
    """``required`` as a noisy count of missing values suggests, if that is open; else nothing."""
    if "missing" not in column.open_parts:
        return {}
    return {"required": missing <= BELIEVED * stddev}
