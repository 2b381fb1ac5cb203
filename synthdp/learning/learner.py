"""Learning what a schema leaves open: each open column's domain, within one budget."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.level_counts import level_counts
from synthdp.core.measurement import LinearMeasurement
from synthdp.core.reporting import Report, steps
from synthdp.learning.bins import (
    at_least_two,
    even_edges,
    learnt_bins,
    learnt_range,
    quantile_edges,
    with_doubtful_ends,
    with_ends_apart,
)
from synthdp.learning.budgets import (
    ColumnBudget,
    column_budgets,
    has_density,
    is_declared,
    is_tree,
    seeks_values,
)
from synthdp.learning.cells.density import Density
from synthdp.learning.decimals import (
    BY_CHANCE,
    FEWER,
    Decimals,
    decimals_between,
    decimals_for,
    learn_decimals,
    learn_resolution,
)
from synthdp.learning.filling import UnreadCount
from synthdp.learning.heaping import learn_heaping, may_be_heaped
from synthdp.learning.learnt import Learnt
from synthdp.learning.levels import FoundLevels, asked_again, find_levels, learnt_missing
from synthdp.learning.number_cautions import (
    IF_IDS,
    NumberCautions,
    beyond_caution,
    decimals_doubts,
    doubts_caution,
    infinite_caution,
)
from synthdp.learning.numbers import learn_density, learn_tree
from synthdp.learning.parse_cautions import missing_caution, unread_problem
from synthdp.learning.reading import (
    EMPTY_COLUMN,
    ask_reading,
    is_empty,
    learnt_spelling,
    may_be_unread,
    unread_share,
)
from synthdp.learning.search_grid import SearchGrid
from synthdp.privacy.values.private_values import PrivateValues
from synthdp.schema.columns.column import Column
from synthdp.schema.open_column import OpenColumn
from synthdp.schema.open_schema import OpenSchema
from synthdp.schema.schema import Schema

Ints = NDArray[np.int64]

OnceMeasured: TypeAlias = Callable[[Sequence[LinearMeasurement], UnreadCount | None], str]
"""From noisy marginals over closed columns, and what they say of places, to a caution."""

STAGE, STAGE_AGAIN = "learning the domain", "learning more levels"
"""What is going on, as a report has it; the second where levels are asked for again."""

HIDDEN = 0.02
"""Part of the records that a standard deviation of noise hides at a declared bound, for this to
have a bin of its own.
"""

MIN_APART = 4
"""Fewest bins of which two may be those of the bounds."""


@final
@dataclass(frozen=True, kw_only=True)
class LearntColumn:
    """An open column, closed."""

    column: Column
    """The closed column."""
    caution: str = ""
    """What a reader should know: that nothing was told from noise, or that much of a column
    without missing values was not read. Empty if there is nothing to say.
    """
    unread: str = ""
    """What is wrong and what to declare if nearly all of its values could not be read, beyond
    doubt; else empty.
    """
    is_read: bool = True
    """Whether that was looked at: of columns with declared bounds only bins are learnt."""
    once_measured: OnceMeasured | None = None
    """The caution anew once its bins were measured, of a column whose bounds were learnt."""
    once_counted: str | None = None
    """The caution once values beyond declared bounds were counted, of which it does not speak then.
    """

    def cautioned(
        self,
        schema: Schema | None,
        measurements: Sequence[LinearMeasurement],
        unread: UnreadCount | None = None,
    ) -> str:
        """What a reader should know, given what was measured of the same records since.

        Parameters
        ----------
        schema
            All columns, closed; None if there is none yet. Where a rule had bounds of this one
            widened, its bins are others than were learnt, and it is cautioned as it was learnt.
        measurements
            Noisy marginals over its codes.
        unread
            How many had a value that was not read, and was filled in, and how many lay beyond the
            bounds; None if that was not measured.
        """
        if self.once_counted is not None and unread is not None and unread.beyond is not None:
            return self.once_counted
        if self.once_measured is None or schema is None or not measurements:
            return self.caution
        is_same = schema[self.column.name] == self.column
        return self.once_measured(measurements, unread) if is_same else self.caution


def learn_columns(
    schema: OpenSchema,
    values: PrivateValues,
    *,
    rho: Fraction,
    rho_again: Fraction = Fraction(0),
    delta: Fraction,
    min_mass: float,
    is_by_unit: bool = False,
    report: Report,
) -> Iterator[LearntColumn]:
    """Close the open columns one by one, each with the part of the budget that it needs.

    Those that lost many records with levels that noise hid are asked about again when all are
    closed, and come a second time then.

    Parameters
    ----------
    schema
        What is declared of the table.
    values
        The records behind the kernel.
    rho, delta
        All that may be spent; delta goes in equal parts to the columns that need a threshold.
    rho_again
        What asking again may cost beyond that.
    min_mass
        Records that a bin or level should have at least; rarer levels are merged.
    is_by_unit
        Whether each unit of privacy is one record here, and rows are measured.
    report
        Called with the progress.
    """
    # All budgets are settled before the first question, by the schema alone.
    budgets = column_budgets(schema, rho=rho, delta=delta)
    found = []
    for budget in steps(report, STAGE, budgets):
        if "levels" in budget.column.open_parts:
            found.append(find_levels(values, budget))
            yield _with_levels(found[-1], min_mass=min_mass)
        else:
            yield _learn(values, budget, min_mass=min_mass, is_by_unit=is_by_unit)
    # What is asked again follows from what was released.
    for levels, more in steps(report, STAGE_AGAIN, asked_again(found, rho=rho_again)):
        yield _with_levels(levels.and_more(values, rho=more), min_mass=min_mass)


def _learn(
    values: PrivateValues, budget: ColumnBudget, *, min_mass: float, is_by_unit: bool
) -> LearntColumn:
    """Close a column whose levels are not open."""
    column = budget.column
    points_each = 1
    if budget.for_heaping and column.resolution:
        column, points_each = learn_resolution(values, column, rho=budget.for_heaping)
        budget = replace(budget, column=column, for_heaping=Fraction(0))
    decimals = Decimals(column.decimals or 0, None, points_each=points_each)
    findings: dict[str, Any] = {}
    if budget.for_decimals:
        decimals = _learn_decimals(values, column, rho=budget.for_decimals)
        findings["decimals"] = decimals.decimals
    if has_density(column):
        return _learn_numbers(
            values, budget, decimals, findings, min_mass=min_mass, is_by_unit=is_by_unit
        )
    caution = doubts_caution(column.name, decimals_doubts(decimals)) if budget.for_decimals else ""
    problem = ""
    if "missing" in column.open_parts:
        spelt, unread = _learn_missing(values, budget)
        findings |= spelt
        problem = unread_problem(column.template, unread) if unread else ""
    return LearntColumn(column=column.resolved(**findings), caution=caution, unread=problem)


def _with_levels(found: FoundLevels, *, min_mass: float) -> LearntColumn:
    """A column whose levels were open, with those that were found."""
    closed = found.closed(min_mass=min_mass)
    if closed.n_levels > 1:
        return LearntColumn(column=closed)
    caution = _no_levels(found, closed)
    return LearntColumn(
        column=closed, caution=caution, once_measured=partial(_nothing_measured, closed, caution)
    )


def _learn_missing(values: PrivateValues, budget: ColumnBudget) -> tuple[dict[str, Any], float]:
    """Whether values are missing, and how they are spelt, of a column of which nothing else is
    open; then which share is unread.
    """
    column = budget.column
    asks_spelling = column.template.learns_spelling
    n_ways = len(column.template.spellings) if asks_spelling else 1
    histogram = ask_reading(values, column.name, rho=budget.rho, n_ways=n_ways)
    findings: dict[str, Any] = {}
    if asks_spelling:
        findings["spelling"] = learnt_spelling(column.template, histogram)
    missing = histogram.missing + histogram.below
    findings |= learnt_missing(column, missing, sqrt(2) * histogram.stddev)
    return findings, unread_share(histogram)


def _learn_numbers(
    values: PrivateValues,
    budget: ColumnBudget,
    decimals: Decimals,
    findings: dict[str, Any],
    *,
    min_mass: float,
    is_by_unit: bool,
) -> LearntColumn:
    """Close a column of numbers or dates; ``findings`` has its decimals if they were learnt."""
    column = budget.column
    axis = SearchGrid.from_column(column, decimals=decimals.decimals, exponent=decimals.largest)
    axis = replace(axis, points_each=decimals.points_each)
    learnt = _learnt(values, axis, budget)
    # Decimals that noise hides are few: so many that the range keeps its meaning.
    if not decimals.is_known and not axis.has_bounds:
        axis, learnt = _with_few_decimals(axis, learnt)
        decimals = decimals._replace(decimals=axis.grid.decimals)
        findings = findings | {"decimals": decimals.decimals}
    missing = learnt.missing + (learnt.infinite if learnt.infinite_share else 0.0)
    edges = _bin_edges(axis, learnt, min_mass)
    findings = findings | _learnt_bins(axis, learnt, edges)
    findings |= learnt_missing(column, missing, learnt.missing_stddev)
    # Whether heaps are asked for depends on released counts, so skipping the question is free.
    if budget.for_heaping and learnt.stands_out and may_be_heaped(learnt.density):
        findings["heaping"] = learn_heaping(values, axis, learnt, rho=budget.for_heaping)
    if is_declared(column):
        # Bounds do not hang on it, and measurements say what is unread: there is no caution.
        if not decimals.is_known:
            findings.pop("decimals", None)
        known = findings if learnt.stands_out else _hidden_bins(axis, decimals)
        return LearntColumn(
            column=column.resolved(**known),
            caution=beyond_caution(column.name, learnt),
            is_read=False,
            once_counted=infinite_caution(column.name, learnt),
        )
    # Round values are drawn as often as there are, where steps were found.
    has_steps = findings.get("heaping") or not may_be_heaped(learnt.density)
    fewer = 0.0 if has_steps else _fewer_decimals(decimals, learnt.density)
    decimals = decimals._replace(fewer=fewer)
    bare, unread = _bare(values, learnt, budget)
    cautions = NumberCautions(
        axis=axis, learnt=learnt, edges=edges, decimals=decimals, bare=bare, is_by_unit=is_by_unit
    )
    return LearntColumn(
        column=column.resolved(**findings),
        caution=cautions.as_learnt,
        unread=unread_problem(column.template, unread) if unread else "",
        once_measured=cautions.once_measured,
    )


def _fewer_decimals(decimals: Decimals, density: Density) -> float:
    """Which part of the numbers has fewer decimals than are written, if far more do than by chance:
    not counting single values, such as 0, that are known as they are.
    """
    is_known = density.widths == 1
    is_round = is_known & (density.starts[:-1] % 10 == 0)
    known, round_ones, total = (
        float(part.sum()) for part in (density.mass[is_known], density.mass[is_round], density.mass)
    )
    if known > total / 2:  # of the few others noise says too little
        return 0.0
    fewer = (decimals.fewer * total - round_ones) / (total - known)
    return fewer if fewer > BY_CHANCE + FEWER else 0.0


def _bare(values: PrivateValues, learnt: Learnt, budget: ColumnBudget) -> tuple[str, float]:
    """A caution if a column of numbers or dates has next to no values, and the share of them that
    are unread if nearly all.
    """
    template = budget.column.template
    emptiness, unread = _unread(values, learnt, budget)
    if not template.required:
        return emptiness, unread
    stddevs = (learnt.missing_stddev, learnt.present_stddev)
    said = missing_caution(template, learnt.missing, learnt.present, stddevs)
    return said or emptiness, unread


def _unread(values: PrivateValues, learnt: Learnt, budget: ColumnBudget) -> tuple[str, float]:
    """A caution if a column of numbers or dates is empty, and the share of its values that are
    unread if nearly all.
    """
    if not may_be_unread(learnt):
        return "", 0.0
    counted = ask_reading(values, budget.column.name, rho=budget.for_reading)
    present = counted.below + float(counted.counts.sum())
    no_values = is_empty(counted.missing, present, sqrt(2) * counted.stddev)
    return f"column {budget.column.name!r}: {EMPTY_COLUMN}" if no_values else "", unread_share(
        counted
    )


def _no_levels(found: FoundLevels, closed: Column) -> str:
    """What to say of a column of which no level was found: whether it is empty, or its values are
    all different.
    """
    counted = found.reading
    if is_empty(counted.missing, float(counted.counts[0]), counted.stddev):
        return f"column {closed.name!r}: {EMPTY_COLUMN}"
    other = found.budget.column.other
    way_out = f"declare levels that are public, or say by its type that it holds dates or numbers; {IF_IDS}"
    return f"column {closed.name!r}: no level has enough records to be found; all are {other!r}: {way_out}"


def _nothing_measured(
    column: Column,
    caution: str,
    measurements: Sequence[LinearMeasurement],
    unread: UnreadCount | None,  # noqa: ARG001 - where no level is known, none is unread
) -> str:
    """The caution on a column without levels once it was measured, by the least noisy marginal:
    that it is empty, where it is.
    """
    if column.required:
        return caution
    counted = [level_counts(each, column.name, column.missing_code) for each in measurements]
    exactest = min(filter(None, counted), key=lambda each: float(each[1].sum()), default=None)
    if exactest is None:
        return caution
    (present, missing), variances = exactest[0].tolist(), exactest[1]
    no_values = is_empty(missing, present, float(np.sqrt(variances.max())))
    return f"column {column.name!r}: {EMPTY_COLUMN}" if no_values else caution


def _learn_decimals(values: PrivateValues, column: OpenColumn, *, rho: Fraction) -> Decimals:
    """Decimals of the grid, as many as suit declared bounds, and how large the numbers are if that
    was found.
    """
    learnt = learn_decimals(values, column.name, rho=rho)
    match column.bounds:
        case float(low), float(high):
            if learnt.is_known:
                wanted = learnt.decimals
            else:
                wanted = min(learnt.decimals, decimals_for(high - low))
            decimals = decimals_between(low, high, wanted)
            fractions = 0.0 if decimals > 0 else learnt.fractions
            return learnt._replace(decimals=decimals, fractions=fractions)
    return learnt


def _with_few_decimals(axis: SearchGrid, learnt: Learnt) -> tuple[SearchGrid, Learnt]:
    """What was learnt on a grid so fine that nobody writes it, on one that suits the range."""
    unit = 10.0**-axis.grid.decimals
    fewer = axis.grid.decimals - decimals_for(float(learnt.density.widths.sum()) * unit)
    if fewer <= 0:
        return axis, learnt
    coarser = SearchGrid.from_column(axis.column, decimals=axis.grid.decimals - fewer)
    return coarser, learnt.on_coarser_grid(fewer)


def _learnt(values: PrivateValues, axis: SearchGrid, budget: ColumnBudget) -> Learnt:
    """Where the records of a column of numbers or dates lie."""
    if is_tree(budget.column):
        return learn_tree(values, axis, rho=budget.rho, most=budget.column.max_bins)
    return learn_density(values, axis, rho=budget.rho, seeks_values=seeks_values(budget.column))


def _bin_edges(axis: SearchGrid, learnt: Learnt, min_mass: float) -> Ints | None:
    """First grid points of bins, then the end; None where bins are declared."""
    column = axis.column
    density = learnt.density
    if "bins" not in column.open_parts:
        return None
    if is_tree(column):
        return at_least_two(density.starts)
    if column.binning == "quantiles":
        edges = quantile_edges(density, column.max_bins, min_mass)
        if axis.has_bounds and axis.order.can_be_added and _may_hide_many(learnt):
            edges = with_ends_apart(edges, column.max_bins)
        return with_doubtful_ends(edges, learnt.doubtful_ends, column.max_bins)
    return even_edges(int(density.starts[0]), int(density.starts[-1]), column.max_bins)


def _may_hide_many(learnt: Learnt) -> bool:
    """Whether noise could hide a number that many records have."""
    return learnt.stddev > HIDDEN * learnt.present


def _hidden_bins(axis: SearchGrid, decimals: Decimals) -> dict[str, Any]:
    """Bins of numbers that noise hides between their declared bounds: even ones, and one of each
    bound; and decimals as the schema has them, if they are not known.
    """
    column, order = axis.column, axis.order
    if column.binning != "quantiles" or not order.can_be_added or column.max_bins < MIN_APART:
        # Those that the column would have by default, but no more than were asked for.
        has_more = column.template.n_levels > column.most_bins
        return {"bins": column.most_bins} if has_more else {}
    if not decimals.is_known:
        axis = SearchGrid.from_column(column, decimals=order.decimals or 0)
    first, stop = axis.coarse_edges[[0, -1]].tolist()
    edges = with_ends_apart(even_edges(first, stop, column.max_bins - 2), column.max_bins)
    bins = learnt_bins(axis, Density(edges, np.ones(len(edges) - 1)), edges)
    return bins | ({"decimals": axis.grid.decimals} if column.has_decimals else {})


def _learnt_bins(axis: SearchGrid, learnt: Learnt, edges: Ints | None) -> dict[str, Any]:
    """Bounds, edges and shape, as far as they are open."""
    if edges is None:
        return learnt_range(axis, learnt.density)
    return learnt_bins(axis, learnt.density, edges)
