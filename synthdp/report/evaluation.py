"""What an evaluation says, whatever was compared: one interface, read off the real data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from itertools import starmap
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.files.writing import written
from synthdp.report.metrics.unread import unread_lines
from synthdp.report.pages.inline import inline_pictures, inline_verdict
from synthdp.report.pages.verdicts import Verdict
from synthdp.report.rendering.section import Picture

NOT_PRIVATE = (
    "NOT PRIVATE: these numbers are read off the real table without noise. Publishing them, or choosing a synthetic "
    "table by them, costs privacy that no certificate counts."
)


class Evaluation(ABC):
    """NOT PRIVATE. How far synthetic data are from the real ones: of one table or of several.

    `evaluate` makes it: a `TableEvaluation` of one table, a `LinkedEvaluation` of a package. It
    holds the levels of the real tables, for ``drill``: keep it where these may be.

    Attributes
    ----------
    summary
        The few numbers to look at first, one row a metric.
    facts
        Shares of values that were not read, numbers of rows, what certificates say, seed, software
        and `NOT_PRIVATE`.
    """

    summary: pd.DataFrame
    facts: Mapping[str, Any]

    @property
    @abstractmethod
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict on each synthetic table, by its name."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """NOT PRIVATE. All numbers as plain JSON values, lists of rows; NaN becomes None."""

    def to_html(self, path: str | PathLike[str] | None = None, *, force: bool = False) -> str:
        """NOT PRIVATE. A page of pictures and tables, in one file that needs no network.

        It is returned, and written to ``path`` if that is given; parameters and errors are those of
        `synthdp.release_page`.
        """
        return written(self._page, path, force=force)

    @property
    def summary_text(self) -> str:
        """NOT PRIVATE, and the summary for a terminal."""
        parts = [
            *self._warnings(),
            *map(_verdict_text, self.verdicts.items()),
            self._summary_table(),
        ]
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>\n{self.summary_text}\n\n{self._where_more_is()}"

    def _repr_html_(self) -> str:
        warnings = "".join(f"<p><strong>{escape(line)}</strong></p>\n" for line in self._warnings())
        verdicts = "\n".join(starmap(inline_verdict, self.verdicts.items()))
        pictures = inline_pictures(self._first_pictures()) if find_spec("matplotlib") else ""
        summary = f"<details><summary>Summary</summary>{self._summary_html()}</details>"
        more = f"<p>{escape(self._where_more_is())}</p>"
        return "\n".join([warnings, verdicts, pictures, summary, more])

    def _warnings(self) -> Sequence[str]:
        """What is said before any number."""
        return [NOT_PRIVATE, *unread_lines(self.facts)]

    @abstractmethod
    def _page(self) -> str:
        """The whole page in HTML."""

    @abstractmethod
    def _first_pictures(self) -> Sequence[Picture]:
        """The worst columns, drawn."""

    @abstractmethod
    def _summary_table(self) -> str:
        """The summary in columns of text."""

    @abstractmethod
    def _summary_html(self) -> str:
        """The summary as a table in HTML."""

    @abstractmethod
    def _where_more_is(self) -> str:
        """A sentence: which attributes have more, and the page of the documentation."""


def _verdict_text(named: tuple[str, Verdict]) -> str:
    """A verdict for a terminal."""
    name, verdict = named
    groups = (
        f"{group}: {', '.join(f'{mark.name} {mark.value} ({mark.beside})' for mark in marks)}."
        for group, marks in verdict.marks.items()
    )
    points = (f"- {point}" for point in verdict.points)
    return "\n".join(
        [f"{name}: {verdict.grade} {verdict.sentence}", *groups, "Look first at:", *points]
    )


def compared_cells(
    levels: Mapping[str, Sequence[str | None]],
    real: NDArray[Any],
    synthetic: NDArray[Any],
) -> pd.DataFrame:
    """Cells of a marginal that a table has records in: levels, both shares, the largest difference
    first.

    Parameters
    ----------
    levels
        The texts of the levels of each axis.
    real, synthetic
        Numbers of records.
    """
    places = np.nonzero((real > 0) | (synthetic > 0))
    frame = pd.DataFrame(
        {
            name: np.array(texts, dtype=object)[place]
            for (name, texts), place in zip(levels.items(), places, strict=True)
        }
    )
    frame["real share"], frame["synthetic share"] = (
        counts[places] / max(counts.sum(), 1) for counts in (real, synthetic)
    )
    frame["difference"] = frame["synthetic share"] - frame["real share"]
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable").index
    return frame.loc[order].reset_index(drop=True)
