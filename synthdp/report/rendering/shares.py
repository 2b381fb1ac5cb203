"""How often each level of a column occurs, in one table or in several: a picture and its numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.report.rendering.charts import rows_of_shares
from synthdp.report.rendering.densities import Bars, Steps, densities
from synthdp.report.rendering.figures import Words
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.section import Picture

FloatArray = NDArray[np.float64]

MAX_ROWS = 15
"""Levels without an order that are drawn, the most frequent ones; of the others their number and
share are given.
"""

MAX_LISTED = 60
"""Levels that are listed behind a picture."""


@final
@dataclass(frozen=True, kw_only=True)
class Shares:
    """Shares of a column's levels."""

    column: str
    """Its name."""
    levels: Sequence[str]
    """Names of the levels."""
    tables: Mapping[str, FloatArray]
    """Shares by the names of tables, shape ``(n_levels,)`` each; the first is what others are held
    against.
    """
    edges: FloatArray | None = None
    """Where bins begin and the last one ends, shape ``(n_bins + 1,)``; the levels are these, then
    such as "missing". None if levels have no order.
    """
    limits: FloatArray | None = None
    """Ends of intervals around the first shares, shape ``(2, n_levels)``, if there are any."""

    def picture(self, note: str) -> Picture:
        """A chart, with the numbers behind it."""
        words = Words(f"Shares of {self.column}", self._in_words())
        is_axis = self.edges is not None and len(self.edges) > 3
        svg = self._bins(words) if is_axis else self._rows(words)
        return Picture(svg=svg, title=self.column, note=note, numbers=self._listing())

    def _bins(self, words: Words) -> str:
        """Bins in their true widths, and beside them what is missing or was not read, if anything."""
        edges = np.asarray(self.edges)
        n_bins = len(edges) - 1
        kept = np.max(list(self.tables.values()), axis=0)
        others = [place for place in range(n_bins, len(self.levels)) if kept[place] > 0]
        bins = self._of(np.arange(n_bins))
        beside = self._of(np.array(others, dtype=np.intp))
        return densities(
            words,
            Steps(edges, bins.levels, [*bins.tables.values()], bins.limits),
            Bars(beside.levels, [*beside.tables.values()], beside.limits),
        )

    def _rows(self, words: Words) -> str:
        drawn = self._drawn()
        reference, *others = drawn.tables.values()
        return rows_of_shares(words, drawn.levels, reference, others, limits=drawn.limits)

    def _drawn(self) -> "Shares":
        """What fits into a picture: of many levels the most frequent ones; no "missing" that is
        empty.
        """
        kept = np.max(list(self.tables.values()), axis=0)
        if len(self.levels) <= MAX_ROWS + 1:  # a last one is no longer than a word for it
            n_shown = len(self.levels) - (self.levels[-1] == "missing" and kept[-1] == 0)
            return self._of(np.arange(max(n_shown, 1)))
        order = np.sort(np.argsort(-kept, kind="stable")[:MAX_ROWS])
        shown = self._of(order)
        reference = next(iter(self.tables))
        left = self.tables[reference].sum() - shown.tables[reference].sum()
        rest = f"{len(self.levels) - MAX_ROWS} others: {left:.2g}"
        tables = {name: np.append(shares, np.nan) for name, shares in shown.tables.items()}
        limits = None if shown.limits is None else np.column_stack([shown.limits, [np.nan, np.nan]])
        return Shares(
            column=self.column, levels=[*shown.levels, rest], tables=tables, limits=limits
        )

    def _of(self, places: NDArray[np.intp]) -> "Shares":
        return Shares(
            column=self.column,
            levels=[self.levels[place] for place in places],
            tables={name: shares[places] for name, shares in self.tables.items()},
            limits=None if self.limits is None else self.limits[:, places],
        )

    def _in_words(self) -> str:
        reference, *others = self.tables
        most = int(np.argmax(self.tables[reference]))
        words = f"The most frequent of {len(self.levels)} levels is {self.levels[most]}"
        if not others:
            return f"{words}, with a share of {self.tables[reference][most]:.3g}."
        gaps = np.abs(self.tables[others[0]] - self.tables[reference])
        worst = int(np.argmax(gaps))
        shares = " and ".join(
            f"{self.tables[name][worst]:.3g} in {name}" for name in (reference, others[0])
        )
        return f"{words}. The largest difference is at {self.levels[worst]}: {shares}."

    def _listing(self) -> Listing:
        frame = pd.DataFrame({"level": list(self.levels), **self.tables})
        names = {"level": "level"} | {name: name for name in self.tables}
        if self.limits is not None:
            frame["low"], frame["high"] = self.limits
            names |= {"low": "low", "high": "high"}
        return Listing.from_frame(
            frame, names, f"Shares of the levels of {self.column}.", most=MAX_LISTED
        )
