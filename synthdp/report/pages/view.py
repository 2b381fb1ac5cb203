"""An evaluation as the sections of its page see it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.rendering.charts import key_of
from synthdp.report.rendering.listing import Listing
from synthdp.report.rendering.section import Key, Picture

N_OPEN = 4
"""Tables whose own pictures are there at once; those of the others are folded."""

MIN_LISTED = 20
"""Rows of a section that each table has on the page at least, if it has so many."""


@final
@dataclass(frozen=True)
class PageView:
    """The sections, facts and tables of an evaluation."""

    sections: Mapping[str, pd.DataFrame]
    facts: Mapping[str, Any]
    tables: Mapping[str, ReadTable]
    """As `Evaluation` has them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the synthetic tables."""
        return tuple(name for name in self.tables if name)

    def of(self, section: str, table: str) -> pd.DataFrame:
        """The rows of a section that are about one table."""
        frame = self.sections[section]
        return frame[frame["table"] == table]

    def listings(
        self, section: str, names: Mapping[str, str], caption: str, *, most: int = 100
    ) -> list[Listing]:
        """The first rows of a section as `listing` has them; none if the section is empty."""
        if len(self.sections[section]):
            return [self.listing(section, names, caption, most=most)]
        return []

    def listing(
        self, section: str, names: Mapping[str, str], caption: str, *, most: int = 100
    ) -> Listing:
        """The first rows of a section; of several tables the first ones of each, with its name."""
        frame = self.sections[section]
        if len(self.names) == 1:
            return Listing.from_frame(frame, names, caption, most=most)
        shown = frame.groupby("table", sort=False).head(max(most // len(self.names), MIN_LISTED))
        listing = Listing.from_frame(
            shown, {"table": "table", **names}, f"Table by table: {caption}", most=len(shown)
        )
        return replace(listing, n_more=len(frame) - len(shown))

    def own_pictures(
        self, draw: Callable[[str], Sequence[Picture]]
    ) -> tuple[list[Picture], list[Picture]]:
        """The pictures that each table has of its own: of the first tables, and those to fold."""
        of_tables = [draw(name) for name in self.names]
        return [*chain(*of_tables[:N_OPEN])], [*chain(*of_tables[N_OPEN:])]

    def notes(self, section: str) -> list[str]:
        """What is noted of a section, as sentences."""
        notes = self.sections["notes"]
        texts = notes.loc[notes["section"] == section, "note"]
        return [f"{note[:1].upper()}{note[1:]}." for note in dict.fromkeys(texts)]

    def keys(self, real: Key, form: str) -> list[Key]:
        """What is drawn how: what is referred to, and the synthetic tables."""
        return [real, *(key_of(place, name, form) for place, name in enumerate(self.names))]


def worst_first(frame: pd.DataFrame, names: Sequence[str], by: str) -> pd.DataFrame:
    """One row for each value of some columns, with the largest number of all tables; the largest
    first.
    """
    worst = frame.groupby(list(names), sort=False)[by].max().reset_index()
    return worst.sort_values(by, ascending=False, kind="stable", ignore_index=True)


def spanned(values: ArrayLike) -> str:
    """The number of one table, or from the least to the largest of several, in a few words.

    >>> (
    ...     spanned([0.0123]),
    ...     spanned([0.208, 0.00549, float("nan")]),
    ...     spanned([0.0316, 0.0318]),
    ...     spanned([float("nan")]),
    ... )
    ('0.0123', '0.0055 to 0.21', '0.032', 'unknown')
    """
    numbers = np.asarray(values, dtype=np.float64)
    present = numbers[~np.isnan(numbers)]
    if not present.size:
        return "unknown"
    n_digits = 3 if numbers.size == 1 else 2
    return " to ".join(
        dict.fromkeys(f"{value:.{n_digits}g}" for value in (present.min(), present.max()))
    )
