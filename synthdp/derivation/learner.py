"""Learning what a schema leaves open: each open column's domain, within one budget."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any, final

import numpy as np

from synthdp.derivation.axes import Axis
from synthdp.derivation.bins import at_least_two, even_edges, quantile_edges
from synthdp.derivation.closing import found_bins, found_bounds
from synthdp.derivation.decimals import decimals_between, learn_decimals
from synthdp.derivation.levels import learn_levels
from synthdp.derivation.missing import missing_found
from synthdp.derivation.numbers import Learnt, learn_density, learn_tree
from synthdp.grid import Grid
from synthdp.mechanism import Report
from synthdp.privacy.private_values import PrivateValues
from synthdp.privacy.unit import PrivacyUnit
from synthdp.table.columns import Column
from synthdp.table.open_columns import OpenColumn
from synthdp.table.open_schema import OpenSchema

SMALL_QUESTION = Fraction(1, 10)
"""What a column costs of which only decimals or missing values are open; one with levels or bins open costs 1."""

FEWEST = 4
"""Budgets are those of so many columns at least: what few columns do not need is left to the recipe."""

RARE = 8.0
"""Bins and levels should hold so many times the standard deviation of a typical measurement's noise."""


def least_mass(unit: PrivacyUnit, *, rho: Fraction, n_columns: int) -> float:
    """Records that a bin or level should hold: a few times the noise if ``rho`` measured each column once."""
    return RARE * sqrt(unit.marginal_l2_squared * n_columns / (2 * float(rho)))


def takes_thresholds(schema: OpenSchema) -> int:
    """Number of columns that a part of delta is needed for."""
    return sum(_needs_threshold(column) for column in schema.open_columns)


def is_gaussian(schema: OpenSchema) -> bool:
    """Whether all noise of learning the open columns is Gaussian."""
    return not any(_is_tree(column) for column in schema.open_columns)


@final
@dataclass(frozen=True, kw_only=True)
class ColumnBudget:
    """What learning one open column may spend.

    Parameters
    ----------
    column
        The column.
    for_decimals
        Rho for how many decimals it has; 0 if that is not asked.
    rho
        Rho for all else.
    delta
        Probability that its threshold fails; 0 if there is none.
    """

    column: OpenColumn
    for_decimals: Fraction
    rho: Fraction
    delta: Fraction


@final
@dataclass(frozen=True, kw_only=True)
class LearntColumn:
    """An open column, closed.

    Parameters
    ----------
    column
        The closed column.
    caution
        What a reader should know if nothing was told from noise; empty if something was.
    """

    column: Column
    caution: str = ""


def column_budgets(schema: OpenSchema, *, rho: Fraction, delta: Fraction) -> tuple[ColumnBudget, ...]:
    """The budget of each open column, in their order.

    >>> schema = OpenSchema.from_kinds({"job": "categorical", "pay": "number"})
    >>> budgets = column_budgets(schema, rho=Fraction(1), delta=Fraction(1, 1000))
    >>> [(str(budget.for_decimals), str(budget.rho), str(budget.delta)) for budget in budgets]
    [('0', '1/4', '1/2000'), ('1/40', '9/40', '1/2000')]
    """
    weights = {column.name: _weight(column) for column in schema.open_columns}
    total, delta_each = max(sum(weights.values()), FEWEST), delta / max(takes_thresholds(schema), 1)
    budgets = []
    for column in schema.open_columns:
        part = rho * weights[column.name] / total
        for_decimals = part * _share_of_decimals(column)
        needed = delta_each if _needs_threshold(column) else Fraction(0)
        budgets.append(ColumnBudget(column=column, for_decimals=for_decimals, rho=part - for_decimals, delta=needed))
    return tuple(budgets)


def _share_of_decimals(column: OpenColumn) -> Fraction:
    """Share of a column's budget for how many decimals it has."""
    if column.type != "number" or column.decimals is not None or column.parts == {"missing"}:
        return Fraction(0)
    return SMALL_QUESTION if column.parts - {"decimals"} else Fraction(1)


def learn_columns(
    schema: OpenSchema,
    values: PrivateValues,
    *,
    rho: Fraction,
    delta: Fraction,
    least_mass: float,
    report: Report,
) -> Iterator[LearntColumn]:
    """Close the open columns one by one, each with the part of the budget that it needs.

    Parameters
    ----------
    schema
        What is declared.
    values
        The records behind the kernel.
    rho, delta
        All that may be spent; delta goes in equal parts to the columns that need a threshold.
    least_mass
        Records that a bin or level should have at least; rarer levels are merged.
    report
        Told about progress.
    """
    budgets = column_budgets(schema, rho=rho, delta=delta)
    for number, budget in enumerate(budgets):
        report("learning the domain", number, len(budgets))
        yield _learn(values, budget, least_mass=least_mass)


def _has_density(column: OpenColumn) -> bool:
    return bool(column.parts & {"bounds", "bins"})


def _needs_threshold(column: OpenColumn) -> bool:
    return "levels" in column.parts or ("bins" in column.parts and column.binning == "quantiles")


def _weight(column: OpenColumn) -> Fraction:
    return Fraction(1) if "levels" in column.parts or _has_density(column) else SMALL_QUESTION


def _learn(values: PrivateValues, budget: ColumnBudget, *, least_mass: float) -> LearntColumn:
    """Close one column."""
    column, rho = budget.column, budget.rho
    if "levels" in column.parts:
        closed = learn_levels(values, column, rho=rho, delta=budget.delta, least_mass=least_mass)
        nothing = closed.n_levels == 1
        caution = f"column {column.name!r}: no level has enough records to be found; all are {column.other!r}"
        return LearntColumn(column=closed, caution=caution if nothing else "")
    found: dict[str, Any] = {}
    decimals, caution = column.decimals, ""
    if budget.for_decimals:
        decimals = _learn_decimals(values, column, rho=budget.for_decimals)
        found["decimals"] = decimals
    if _has_density(column):
        axis = Axis.of(column, decimals=decimals or 0)
        learnt = _learnt(values, axis, budget)
        found |= _bins_found(axis, learnt, least_mass) | missing_found(column, learnt.missing, learnt.missing_stddev)
        if not learnt.stands_out:
            caution = f"column {column.name!r}: its records were not told from noise; bounds and bins are noise"
    elif "missing" in column.parts:
        histogram = values.histogram(Grid(column=column.name), np.empty(0, dtype=np.int64), rho=rho)
        found |= missing_found(column, histogram.missing, histogram.stddev)
    return LearntColumn(column=column.closed(**found), caution=caution)


def _learn_decimals(values: PrivateValues, column: OpenColumn, *, rho: Fraction) -> int:
    """Decimals of the grid, as many as suit declared bounds."""
    decimals = learn_decimals(values, column.name, rho=rho)
    match column.bounds:
        case float(low), float(high):
            return decimals_between(low, high, decimals)
    return decimals


def _is_tree(column: OpenColumn) -> bool:
    return column.binning == "privtree" and "bins" in column.parts


def _learnt(values: PrivateValues, axis: Axis, budget: ColumnBudget) -> Learnt:
    """Where the records of a column of numbers or dates lie."""
    if _is_tree(budget.column):
        return learn_tree(values, axis, rho=budget.rho, most=budget.column.max_bins)
    return learn_density(values, axis, rho=budget.rho, delta=budget.delta or None)


def _bins_found(axis: Axis, learnt: Learnt, least_mass: float) -> dict[str, Any]:
    """Bounds, edges and shape, as far as they are open."""
    column, density = axis.column, learnt.density
    if "bins" not in column.parts:
        return found_bounds(axis, density)
    if _is_tree(column):
        return found_bins(axis, density, at_least_two(density.starts))
    if column.binning == "quantiles":
        return found_bins(axis, density, quantile_edges(density, column.max_bins, least_mass))
    return found_bins(axis, density, even_edges(int(density.starts[0]), int(density.starts[-1]), column.max_bins))
