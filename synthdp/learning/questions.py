"""What learning a column asks the kernel, and with how much noise: known before the records are."""

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Literal, TypeAlias, final

from synthdp.learning.beyond_doubt import BEYOND_DOUBT
from synthdp.learning.budgets import ColumnBudget, seeks_values
from synthdp.learning.cells.significance import ASTRONOMIC, BELIEVED, significance
from synthdp.learning.decimals import MAX_LEARNT_DECIMALS, MISTAKEN
from synthdp.learning.numbers import (
    DESCENT,
    FINE_CELLS,
    FIRST_BETWEEN_BOUNDS,
    LOOKING,
    SPIKES,
)
from synthdp.learning.search_grid import SearchGrid
from synthdp.privacy.unit import PrivacyUnit
from synthdp.privacy.values.privtree import PrivTreeEvent
from synthdp.privacy.values.thresholds import partition_threshold, value_weights
from synthdp.privacy.values.value_events import HistogramEvent

About: TypeAlias = Literal[
    "levels",
    "bounds",
    "shape",
    "bins",
    "single values",
    "heaping",
    "decimals",
    "size",
    "missing",
    "reading",
]
"""What a question is about; "shape": where values lie; "heaping": which are round; "size": how
large they are; "reading": whether values that are there can be read.
"""


@final
@dataclass(frozen=True, kw_only=True)
class LearningQuestion:
    """One question about one column."""

    column: str
    """Name of the column."""
    about: About
    """What is asked."""
    rho: Fraction
    delta: Fraction
    """Its cost; delta is above 0 for partition selection only."""
    sigma: float
    """Noise on each count, in records: parameter of a Gaussian, or scale of the Laplace noise of
    a tree (``about="bins"`` with PrivTree).
    """
    is_tree: bool
    """Whether the noise is Laplace."""
    least_records: float | None
    """About how many records something must have to be found more often than not: the threshold of
    partition selection, or what stands out from noise in a histogram. None if there is no such
    number.
    """


def questions(
    budget: ColumnBudget, *, unit: PrivacyUnit, most_values: int = 1
) -> tuple[LearningQuestion, ...]:
    """What learning one column asks, in order.

    Some of them may turn out not to be needed: "size", "heaping", "reading", and "single values",
    whose budget "bins" then has as well, or which is not spent; it is for up to four histograms.
    "bounds" may be asked up to three times, if it shows nothing or a single value, and the others
    then have less. A budget is never passed. Levels may be up to ``most_values`` of a record.

    Raises
    ------
    ParameterError
        If the budget is so small that there is no such noise.
    """
    column = budget.column
    rho = budget.rho
    ask = _Asking(budget=budget, unit=unit, most_values=most_values)
    if "levels" in column.open_parts:
        return (ask.values("levels", rho), ask.reading())
    heaping = []
    if budget.for_heaping:
        least = significance(len(column.round_steps), ASTRONOMIC)
        heaping = [ask.cells("heaping", budget.for_heaping, least)]
    asked = heaping if column.resolution else []
    if budget.for_decimals:
        asked += [
            ask.cells(
                "decimals",
                budget.for_decimals / 2,
                significance(2 * (MAX_LEARNT_DECIMALS + 1), MISTAKEN),
            )
        ]
        asked += [ask.cells("size", budget.for_decimals / 2, None)]
    if not column.open_parts & {"bounds", "bins"}:
        if "missing" in column.open_parts:
            return (*asked, ask.cells("missing", rho, BELIEVED))
        return tuple(asked)
    n_roots = len(SearchGrid.from_column(column, decimals=column.decimals or 0).coarse_edges) - 1
    bounds = "bounds" in column.open_parts
    reading = [ask.reading()] if budget.for_reading else []
    first = LOOKING if bounds else FIRST_BETWEEN_BOUNDS
    asked += [
        ask.cells(
            "bounds" if bounds else "shape",
            rho * first,
            significance(2 * n_roots, ASTRONOMIC) if bounds else None,
        )
    ]
    if "bins" in column.open_parts and column.binning == "privtree":
        return (*asked, ask.tree(rho * (1 - first)), *reading)
    second: About = "bins" if "bins" in column.open_parts else "shape"
    single = (SPIKES if bounds else DESCENT) if seeks_values(column) else Fraction(0)
    asked += [ask.cells(second, rho * (1 - first - single), None)]
    if single:
        asked += [ask.cells("single values", rho * single, significance(FINE_CELLS))]
    return (*asked, *reading, *(() if column.resolution else heaping))


@final
@dataclass(frozen=True, kw_only=True)
class _Asking:
    """What all questions about a column share."""

    budget: ColumnBudget
    unit: PrivacyUnit
    most_values: int

    def cells(self, about: About, rho: Fraction, deviations: float | None) -> LearningQuestion:
        """A histogram, in which so many standard deviations stand out."""
        name = self.budget.column.name
        event = HistogramEvent.costing(rho, column=name, of="values", n_cells=2, unit=self.unit)
        sigma = sqrt(event.sigma_squared)
        return self._question(
            about, rho, sigma, least=None if deviations is None else deviations * sigma
        )

    def reading(self) -> LearningQuestion:
        """Whether values can be read."""
        return self.cells("reading", self.budget.for_reading, BEYOND_DOUBT)

    def values(self, about: About, rho: Fraction) -> LearningQuestion:
        """Partition selection."""
        squared = self.unit.sigma_squared(rho)
        delta = self.budget.delta
        weight = value_weights(self.most_values)[0]
        least = partition_threshold(
            sigma_squared=squared * weight**2,
            max_rows=self.unit.max_rows,
            delta=delta,
            most_values=self.most_values,
        )
        in_records = least if weight == 1 else round(least / weight, 1)
        return self._question(about, rho, sqrt(squared), least=in_records, delta=delta)

    def tree(self, rho: Fraction) -> LearningQuestion:
        """PrivTree."""
        name = self.budget.column.name
        event = PrivTreeEvent.costing(rho, column=name, sensitivity=self.unit.marginal_l1)
        return self._question("bins", rho, float(event.scale), least=None, is_tree=True)

    def _question(
        self,
        about: About,
        rho: Fraction,
        sigma: float,
        *,
        least: float | None,
        delta: Fraction = Fraction(0),
        is_tree: bool = False,
    ) -> LearningQuestion:
        name = self.budget.column.name
        return LearningQuestion(
            column=name,
            about=about,
            rho=rho,
            delta=delta,
            sigma=sigma,
            is_tree=is_tree,
            least_records=least,
        )
