"""An evaluation as the sections of its page see it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pandas as pd

from synthdp.evaluation.metrics.read_table import ReadTable
from synthdp.rendering.charts import key_of
from synthdp.rendering.listing import Listing
from synthdp.rendering.section import Key


@final
@dataclass(frozen=True)
class View:
    """The sections, facts and tables of an evaluation.

    Parameters
    ----------
    sections, facts, tables
        As `Evaluation` has them.
    """

    sections: Mapping[str, pd.DataFrame]
    facts: Mapping[str, Any]
    tables: Mapping[str, ReadTable]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the synthetic tables."""
        return tuple(name for name in self.tables if name)

    def of(self, section: str, table: str) -> pd.DataFrame:
        """The rows of a section that are about one table."""
        frame = self.sections[section]
        return frame[frame["table"] == table]

    def listings(self, section: str, names: Mapping[str, str], caption: str, *, most: int = 100) -> list[Listing]:
        """The first rows of a section as `listing` has them; none if the section is empty."""
        return [self.listing(section, names, caption, most=most)] if len(self.sections[section]) else []

    def listing(self, section: str, names: Mapping[str, str], caption: str, *, most: int = 100) -> Listing:
        """The first rows of a section, with the names of tables if there are several."""
        whose = {"table": "table"} if len(self.names) > 1 else {}
        return Listing.of(self.sections[section], {**whose, **names}, caption, most=most)

    def notes(self, section: str) -> list[str]:
        """What is noted of a section, as sentences."""
        notes = self.sections["notes"]
        found = notes.loc[notes["section"] == section, "note"]
        return [f"{note[:1].upper()}{note[1:]}." for note in dict.fromkeys(found)]

    def keys(self, real: Key, form: str) -> list[Key]:
        """What is drawn how: what is referred to, and the synthetic tables."""
        return [real, *(key_of(place, name, form) for place, name in enumerate(self.names))]


def worst_first(frame: pd.DataFrame, names: Sequence[str], by: str) -> pd.DataFrame:
    """One row for each value of some columns, with the largest number of all tables; the largest first."""
    worst = frame.groupby(list(names), sort=False)[by].max().reset_index()
    return worst.sort_values(by, ascending=False, kind="stable", ignore_index=True)


def joined(values: Sequence[float]) -> str:
    """Errors of several tables in a few words.

    >>> joined([0.0123, float("nan")])
    '0.0123, unknown'
    """
    return ", ".join("unknown" if np.isnan(value) else f"{value:.3g}" for value in values)
