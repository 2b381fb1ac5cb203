"""Learning the levels of a column of texts: those that many records share; all else is "other"."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any, final

import numpy as np

from synthdp.core.grid import Grid
from synthdp.learning.budgets import ColumnBudget
from synthdp.learning.cells.significance import BELIEVED
from synthdp.privacy.values.private_values import FrequentValues, NoisyHistogram, PrivateValues
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import DEFAULT_OTHER, OpenColumn

MIN_MERGED = 2
"""Merging a single level with nothing would change nothing."""

LOST = 0.05
"""Share of a column's records without a level of which it is asked again."""

CLEAR = 2.0
"""Standard deviations by which that many must stand out."""

MOST_AGAIN, LEAST_AGAIN = 4, 2
"""What asking again costs at most, and at least, in times of what asking first did: by four
thresholds become half as large.
"""


@final
@dataclass(frozen=True, kw_only=True, eq=False)
class FoundLevels:
    """Levels of a column that stood out from noise, and how many records it has."""

    budget: ColumnBudget
    """The column, and what asking first could cost."""
    frequent: FrequentValues[str | int]
    """The levels with their noisy counts."""
    reading: NoisyHistogram
    """How many records have a value, and how many none."""

    @property
    def lost(self) -> float:
        """Share of the values that are no level, if that is much beyond doubt; else 0.

        Where nothing was found, values are rather all different, and where there are as many levels
        as the column may have, no more are kept: asking again would be for nothing.
        """
        present = float(self.reading.counts[0])
        counts = self.frequent.counts.values()
        noise = sqrt(self.reading.stddev**2 + len(counts) * self.frequent.stddev**2)
        lost = present - sum(counts)
        is_clear = lost > CLEAR * noise and lost >= LOST * present
        return lost / present if 0 < len(counts) < self._most_levels and is_clear else 0.0

    @property
    def _most_levels(self) -> int:
        """How many levels may be kept, besides "other" and "missing"."""
        return self.budget.column.max_levels - 2

    def and_more(self, values: PrivateValues, *, rho: Fraction) -> "FoundLevels":
        """The same with what asking again finds, and counts by both answers."""
        first = self.frequent
        second = _ask(values, self.budget, rho=rho, delta=self.budget.delta_again)
        precisions = first.stddev**-2, second.stddev**-2
        total = sum(precisions)
        weights = tuple(each / total for each in precisions)

        def of_both(one: float, other: float) -> float:
            return weights[0] * one + weights[1] * other

        counts = first.counts | second.counts
        for level in first.counts.keys() & second.counts.keys():
            counts[level] = of_both(first.counts[level], second.counts[level])
        missing = of_both(first.missing, second.missing)
        both = replace(second, counts=counts, missing=missing, stddev=total**-0.5)
        return replace(self, frequent=both)

    def closed(self, *, min_mass: float) -> Column:
        """The column with these levels, in the order of their texts, rare ones merged.

        Rare levels share one code, whose values are drawn in proportion to the noisy counts that
        were released: the model need not tell apart what noise would drown.
        """
        column = self.budget.column
        counts = {str(level): count for level, count in self.frequent.counts.items()}
        by_count = sorted(counts, key=lambda level: (-counts[level], level))
        kept = sorted(by_count[: self._most_levels])
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
        parts |= learnt_missing(column, self.frequent.missing, self.frequent.stddev)
        return column.resolved(**parts)


def find_levels(values: PrivateValues, budget: ColumnBudget) -> FoundLevels:
    """Ask which levels many records share, and how many records have a value at all."""
    frequent = _ask(values, budget, rho=budget.rho, delta=budget.delta)
    every = np.empty(0, dtype=np.int64)
    reading = values.histogram(Grid(column=budget.column.name), every, rho=budget.for_reading)
    return FoundLevels(budget=budget, frequent=frequent, reading=reading)


def asked_again(
    found: Iterable[FoundLevels], *, rho: Fraction
) -> list[tuple[FoundLevels, Fraction]]:
    """The columns that lost many records, those that lost most first, and what asking again may
    cost for each, of ``rho`` in all.
    """
    lost = sorted(
        (each for each in found if each.lost),
        key=lambda each: (-each.lost, each.budget.column.name),
    )
    if not lost:
        return []
    first = lost[0].budget.rho  # asking first costs the same for all
    n_asked = min(len(lost), int(rho / (LEAST_AGAIN * first)))
    return [(each, min(MOST_AGAIN * first, rho / n_asked)) for each in lost[:n_asked]]


def _ask(
    values: PrivateValues, budget: ColumnBudget, *, rho: Fraction, delta: Fraction
) -> FrequentValues[str | int]:
    """Levels that stand out from noise of such a cost."""
    return values.frequent(Grid(column=budget.column.name), rho=rho, delta=delta)


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
