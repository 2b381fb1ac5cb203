"""How the domain's share of the budget is divided among the columns that leave something open."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import final

from synthdp.privacy.unit import PrivacyUnit
from synthdp.schema.open_column import OpenColumn
from synthdp.schema.open_schema import OpenSchema

SMALL_QUESTION = Fraction(1, 10)
"""What a column costs of which only decimals or missing values are open; one with levels or bins
open costs 1.
"""

HEAPING = Fraction(1, 40)
"""Share of the budget of a column of numbers or moments for which of its values are round: a few
large counts, as above.
"""

READING = Fraction(1, 40)
"""The same for what became of values: missing or there, of which a share may be no level; readable
or not, where no number or date is found.
"""

MIN_COLUMNS = 4
"""Budgets are those of so many columns at least: what few columns do not need is left to the
mechanism.

Where domains are declared and only bins are open, they are those of all columns: bins cost a column
a part of its own share of the budget, and nothing of what others have.
"""

AGAIN = Fraction(1, 4)
"""Part of a column's delta that is kept for asking again about its levels: a threshold hardly hangs
on it.
"""

RARE = 8.0
"""Bins and levels should hold so many times the standard deviation of a typical measurement's
noise.
"""


def min_mass(unit: PrivacyUnit, *, rho: Fraction, n_columns: int) -> float:
    """Records that a bin or level should hold: a few times the noise if ``rho`` measured each
    column once.
    """
    return RARE * sqrt(unit.sigma_squared(rho, n_columns))


def takes_thresholds(schema: OpenSchema) -> int:
    """Number of columns that a part of delta is needed for."""
    return sum(_needs_threshold(column) for column in schema.open_columns)


def is_gaussian(schema: OpenSchema) -> bool:
    """Whether all noise of learning the open columns is Gaussian."""
    return not any(is_tree(column) for column in schema.open_columns)


@final
@dataclass(frozen=True, kw_only=True)
class ColumnBudget:
    """What learning one open column may spend."""

    column: OpenColumn
    """The column."""
    for_decimals: Fraction
    """Rho for how many decimals it has; 0 if that is not asked."""
    for_heaping: Fraction
    """Rho for which of its values are round; 0 if that is not asked."""
    for_reading: Fraction
    """Rho for what became of its values: of texts how many there are, of others where none are
    found; 0 if that is not asked apart.
    """
    rho: Fraction
    """Rho for all else."""
    delta: Fraction
    """Probability that its threshold fails; 0 if there is none."""
    delta_again: Fraction
    """The same of the threshold where it is asked again about its levels."""

    @property
    def total(self) -> Fraction:
        """All rho that it may spend."""
        return self.for_decimals + self.for_heaping + self.for_reading + self.rho


def column_budgets(
    schema: OpenSchema, *, rho: Fraction, delta: Fraction
) -> tuple[ColumnBudget, ...]:
    """The budget of each open column, in their order.

    >>> schema = OpenSchema.from_kinds({"job": "categorical", "pay": "number"})
    >>> budgets = column_budgets(schema, rho=Fraction(1), delta=Fraction(1, 1000))
    >>> [(str(budget.for_decimals), str(budget.for_heaping), str(budget.rho)) for budget in budgets]
    [('0', '0', '39/160'), ('1/40', '1/160', '17/80')]
    """
    weights = {column.name: _weight(column) for column in schema.open_columns}
    # One open column of a table must not get all that learning may cost.
    total = max(sum(weights.values()), MIN_COLUMNS)
    if all(is_declared(column) for column in schema.open_columns):
        total = max(total, len(schema.columns))
    delta_per_column = delta / max(takes_thresholds(schema), 1)
    budgets = []
    for column in schema.open_columns:
        part = rho * weights[column.name] / total
        for_decimals = part * _share_of_decimals(column)
        for_heaping = part * _share_of_heaping(column)
        each_delta = delta_per_column if _needs_threshold(column) else Fraction(0)
        for_reading = part * READING if _asks_reading(column) else Fraction(0)
        budgets.append(
            ColumnBudget(
                column=column,
                for_decimals=for_decimals,
                for_heaping=for_heaping,
                for_reading=for_reading,
                rho=part - for_decimals - for_heaping - for_reading,
                delta=each_delta * (1 - AGAIN),
                delta_again=each_delta * AGAIN,
            )
        )
    return tuple(budgets)


def _asks_reading(column: OpenColumn) -> bool:
    """Whether it is asked what became of its values: not where all but bins is declared, as all
    measurements of such columns say it.
    """
    return "levels" in column.open_parts or (has_density(column) and not is_declared(column))


def _share_of_decimals(column: OpenColumn) -> Fraction:
    """Share of a column's budget for how many decimals it has."""
    if not column.has_decimals or column.decimals is not None or column.open_parts == {"missing"}:
        return Fraction(0)
    return SMALL_QUESTION if column.open_parts - {"decimals"} else Fraction(1)


def is_declared(column: OpenColumn) -> bool:
    """Whether all that decides what it can hold is declared: only where its bins end is open."""
    return column.open_parts <= {"bins", "decimals"} and "bins" in column.open_parts


def has_density(column: OpenColumn) -> bool:
    """Whether what is learnt of it says where values lie: its bounds, or its bins."""
    return bool(column.open_parts & {"bounds", "bins"})


def _share_of_heaping(column: OpenColumn) -> Fraction:
    """Share of a column's budget for which of its values are round: of numbers and moments with a
    density that do not say it.
    """
    may_be_round = bool(column.round_steps) and not column.declares_heaping
    asks = may_be_round and has_density(column) and not is_tree(column)
    return HEAPING if asks else Fraction(0)


def seeks_values(column: OpenColumn) -> bool:
    """Whether single values of a column of numbers that hold many records are looked for: where
    they can become bins.
    """
    return "bins" in column.open_parts and column.binning == "quantiles"


def _needs_threshold(column: OpenColumn) -> bool:
    return "levels" in column.open_parts


def _weight(column: OpenColumn) -> Fraction:
    """What a column costs, in parts of the same size."""
    is_large = _needs_threshold(column) or has_density(column)
    return Fraction(1) if is_large else SMALL_QUESTION


def is_tree(column: OpenColumn) -> bool:
    """Whether its bins are learnt by PrivTree, whose noise is not Gaussian."""
    return column.binning == "privtree" and "bins" in column.open_parts
