"""How far drawn rows are from what their model says of the tables that were measured."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.errors import ModelTooLargeError
from synthdp.core.sealing import sealed
from synthdp.inference.model import Ending
from synthdp.inference.rows.distance import RowsDistance, RowsTally
from synthdp.release.answers import Answers
from synthdp.release.drawing.draw import drawn_table
from synthdp.release.drawing.unused_levels import without_unused

if TYPE_CHECKING:
    from synthdp.core.totals_check import TotalsCheck

MAX_CELLS = 2**18
"""Larger tables are not compared: rows fill them no better than chance would."""

MAX_ALL_CELLS = 2**20
"""Cells of all tables that are compared, which bounds what it costs beside drawing a few rows."""

FIT_SEED = 0
"""Seed of the table that `fit_summary` draws: so everybody gets the same numbers of one release."""

MAX_FIT_ROWS = 1_000_000
"""That table is no longer."""


@final
@dataclass(frozen=True, kw_only=True)
class FitSummary:
    """How a fit ended, and how far rows are from it."""

    ended: Ending
    n_iterations: int
    loss: float
    caution: str
    """As `synthdp.inference.model.FitStatus` has them."""
    rows: RowsDistance | None
    """Distances of a table of the release's own size (at most 1,000,000 rows), drawn with seed 0,
    from the model's marginals; None if noise hides the size, or no table could be compared.
    """


def tally_of(release: Answers) -> RowsTally:
    """Counts, none yet, of the tables that were measured: the maximal ones, in the order in which
    they were measured, as long as they are small enough.
    """
    domain = release.model.domain
    chosen: list[Clique] = []
    n_cells = 0
    for clique in maximal_cliques(each.clique for each in release.measurements):
        size = domain.size(clique)
        if size <= MAX_CELLS and n_cells + size <= MAX_ALL_CELLS:
            chosen.append(clique)
            n_cells += size
    return RowsTally(domain, chosen)


def distance_of(release: Answers, tally: RowsTally) -> RowsDistance | None:
    """How far the rows that were counted are from what `marginal` says; None if there is nothing to
    compare.
    """
    try:
        factors = release.model.marginals(tally.cliques)
    except ModelTooLargeError:  # the table is drawn, and paid for: it is written without that word
        return None
    expected = [
        without_unused(factor.values, clique, release.unused)
        for clique, factor in zip(tally.cliques, factors, strict=True)
    ]
    distance = tally.distance(
        expected, n_records=round(release.model.total) if release.knows_size else None
    )
    return distance if distance.n_tables else None


def fit_summary(release: Answers) -> FitSummary:
    """How the fit of a release ended, and how far rows are from it."""
    status = release.model.status
    return FitSummary(
        ended=status.ended,
        n_iterations=status.n_iterations,
        loss=status.loss,
        caution=status.caution,
        rows=_own_distance(release) if release.knows_size else None,
    )


def _own_distance(release: Answers) -> RowsDistance | None:
    """The distance of a table of the release's own size."""
    tally = tally_of(release)
    drawn_table(
        release.model,
        release.schema,
        min(round(release.model.total), MAX_FIT_ROWS),
        seed=FIT_SEED,
        text=False,
        unused=release.unused,
        seen=tally.add,
    )
    return distance_of(release, tally)


def rows_cautions(distance: RowsDistance | None) -> list[str]:
    """What users should know of rows that miss what was measured by more than chance explains."""
    if distance is None or not distance.far_tables:
        return []
    n_far = len(distance.far_tables)
    tables = "1 of the tables" if n_far == 1 else f"{n_far} of the {distance.n_tables} tables"
    # Not the table of the largest distance: if it is wide, that may be no more than chance.
    names = ", ".join(map(repr, distance.far_tables[0]))
    worst = f"{100 * distance.furthest:.1f} % of them would have to change"
    chance = f"{100 * distance.furthest_by_chance:.1f} % by chance"
    return [
        f"rows: they are further from the model than chance explains in {tables} that were compared; "
        f"furthest is {names}, where {worst} ({chance}); count these columns by the model (marginal)"
    ]


@final
@dataclass(frozen=True, kw_only=True)
class RowsCheck:
    """What was found of one table that was drawn."""

    distance: RowsDistance | None = None
    """How far its rows are from the model; None if that was not asked."""
    totals: "TotalsCheck | None" = None
    """How they compare with what is published; None if nothing is."""

    @property
    def cautions(self) -> list[str]:
        """What users should know of the rows."""
        return [
            *rows_cautions(self.distance),
            *([] if self.totals is None else self.totals.cautions),
        ]


def with_rows(certificate: Mapping[str, Any], check: RowsCheck) -> dict[str, Any]:
    """The certificate of a release as that of one table that was drawn from it."""
    of_rows: dict[str, Any] = {}
    if check.totals is not None and certificate.get("known"):
        of_rows["known"] = check.totals.stated(certificate["known"])
    if check.distance is not None:
        of_rows["rows"] = _stated(check.distance)
    before = certificate.get("cautions", [])
    new = [caution for caution in check.cautions if caution not in before]
    if not of_rows and not new:
        return dict(certificate)
    return sealed({**certificate, **of_rows, "cautions": [*before, *new]})


def _stated(distance: RowsDistance) -> dict[str, Any]:
    """A distance as a certificate has it."""
    return {
        "n_rows": distance.n_rows,
        "n_tables": distance.n_tables,
        "mean": distance.mean,
        "worst": distance.worst,
        "mean_by_chance": distance.mean_by_chance,
        "worst_by_chance": distance.worst_by_chance,
        "worst_table": list(distance.worst_table),
        "n_far_tables": len(distance.far_tables),
    }
