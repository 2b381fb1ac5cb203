"""What an evaluation of linked tables found: distances, all of them read off the true tables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, final

import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.report.evaluation import NOT_PRIVATE, Evaluation, compared_cells
from synthdp.report.linked.linked_marginals import LinkedMarginals
from synthdp.report.linked.linked_page import linked_page
from synthdp.report.linked.linked_sections import LinkedPageView, column_pictures
from synthdp.report.metrics.columns import level_texts
from synthdp.report.pages.inline import N_PICTURES
from synthdp.report.pages.verdicts import Verdict, linked_verdict
from synthdp.report.rendering.section import Picture

Marginals = Mapping[str, tuple[LinkedMarginals, LinkedMarginals]]


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LinkedEvaluation(Evaluation):
    """NOT PRIVATE. How far synthetic tables that are linked by keys are from the true ones.

    `evaluate` makes it. It holds the levels of the true tables, for `drill`: keep it where
    these may be.

    Parameters
    ----------
    summary
        By kind (of `KINDS`) the mean and the largest distance, how many marginals these are of, and
        the mean by sampling.
    distances
        One row a marginal: ``kind`` (of `KINDS`), ``table``, ``columns``, ``tvd``, 0 to 1, and
        ``sampling``: the same of as many true families drawn at random, which is what chance alone
        would cause.
    broken_links
        By table, how many synthetic rows refer to no row of their parent, or have a key that
        another row has.
    facts
        Shares of the rows that have a value that was not read (``unread``, by column of the true
        tables, and ``unread_synthetic``), numbers of rows, what the certificate says, seed,
        software and `NOT_PRIVATE`.
    marginals
        Of each table what is counted of the true rows, and of the synthetic ones.
    """

    summary: pd.DataFrame
    distances: pd.DataFrame
    broken_links: Mapping[str, int]
    facts: Mapping[str, Any]
    marginals: Marginals = field(repr=False)

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """What is said first of the synthetic tables."""
        verdict = linked_verdict(self.summary, self.distances, self.broken_links)
        return {"synthetic": verdict}

    def drill(self, kind: str, table: str, columns: Sequence[str]) -> pd.DataFrame:
        """The cells of one marginal: levels, and the real and synthetic shares, the largest
        difference first.

        Parameters
        ----------
        kind, table, columns
            As a row of `distances` has them.

        Raises
        ------
        ParameterError
            If there is no such row.
        """
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        if table not in self.marginals or (kind, names) not in set(
            self.marginals[table][0].names()
        ):
            raise ParameterError(
                f"drill: there is no marginal {kind!r} of {table!r} by {names}; see distances"
            )
        real, synthetic = self.marginals[table]
        axes = names if len(set(names)) == len(names) else (names[0], f"other {names[1]}")
        texts = [level_texts(real.column(name)) for name in names]
        levels = dict(zip(axes, texts, strict=True))
        return compared_cells(levels, real.counts(kind, names), synthetic.counts(kind, names))

    def to_dict(self) -> dict[str, Any]:
        """NOT PRIVATE. All numbers as plain JSON values, lists of rows."""
        summary = self.summary.rename_axis("kind").reset_index()
        return {
            "NOT PRIVATE": NOT_PRIVATE,
            "unread": dict(self.facts.get("unread", {})),
            "facts": dict(self.facts),
            "summary": summary.to_dict("records"),
            "broken_links": dict(self.broken_links),
            "distances": [
                {**row, "columns": list(row["columns"])}
                for row in self.distances.to_dict("records")
            ],
        }

    def _page(self) -> str:
        return linked_page(
            self.distances,
            self.summary,
            self.broken_links,
            self.facts,
            self.marginals,
            self.verdicts,
        )

    def _first_pictures(self) -> list[Picture]:
        return column_pictures(LinkedPageView(self.distances, self.marginals), N_PICTURES)

    def _summary_table(self) -> str:
        table = self.summary.to_string(float_format="{:.4g}".format, index_names=False)
        return f"{table}\n\n{self._links()}"

    def _summary_html(self) -> str:
        return f"<p>{self._links()}</p>\n{self.summary.to_html(border=0)}"

    def _links(self) -> str:
        return f"Broken links: {sum(self.broken_links.values())}"

    def _where_more_is(self) -> str:
        return "More in .distances and .drill; see docs/linked.md."
