"""What an evaluation of one table says: tables of numbers, all of them read off the real table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, final

import numpy as np
import pandas as pd

from synthdp.core.errors import ParameterError
from synthdp.report.evaluation import NOT_PRIVATE, Evaluation, compared_cells
from synthdp.report.metrics.columns import level_texts
from synthdp.report.metrics.marginals import MAX_CELLS
from synthdp.report.metrics.own_units import moved_means
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.pages.columns import pictures
from synthdp.report.pages.evaluation_page import evaluation_page
from synthdp.report.pages.inline import N_PICTURES
from synthdp.report.pages.verdicts import Verdict, table_verdict
from synthdp.report.pages.view import PageView
from synthdp.report.rendering.section import Picture


@final
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TableEvaluation(Evaluation):
    """NOT PRIVATE. How far synthetic tables are from the real one; each attribute is a tidy table.

    `evaluate` makes it. It holds the real table's levels, for `drill`: keep it where the real table
    may be. Every table begins with a column ``table``, the name of the synthetic table. All
    distances are between 0 and 1 unless said otherwise. See ``docs/evaluation.md``.

    Parameters
    ----------
    summary
        ``metric, value, sampling, noise, better, sentence``: one row a metric, ``better`` being
        ``"lower"``, ``"higher"`` or empty.
    columns
        Each column by itself: total variation, Kolmogorov-Smirnov, Wasserstein (in standard
        deviations of the real numbers), missing values, levels.
    values
        Numbers and dates in their own units: Kolmogorov-Smirnov, how far values ``moved`` on
        average (Wasserstein; days of dates, minutes of times), and of both tables mean, median and
        quantiles, such as ``p95_real``.
    marginals
        ``k, columns, tvd, sampling, noise, measured``: the worst first.
    similarity
        ``columns, metric, score, sampling``: scores of SDMetrics, of each column and of each pair
        that it counts; 1 is the real table itself.
    associations
        ``one, other, kind, real, synthetic, difference, sampling``: the largest difference first.
    propensity
        ``model, columns, s_pmse, pmse, expected``.
    prediction
        ``target, model, score, real, synthetic, baseline``.
    regression
        ``target, model, term, real, real_low, real_high, synthetic, synthetic_low, synthetic_high,
        overlap``.
    rules
        ``rule, broken_real, broken_synthetic, share_real, share_synthetic``.
    groups
        Errors within the levels of the columns ``by``, the worst first.
    matches
        ``real_row, rows, share, expected, expected_share``: rows that agree with a real one. No
        privacy score.
    queries
        ``query, kind, real, synthetic, error, sampling``.
    distributions
        ``column, level, code, real, synthetic``: shares of levels.
    roc
        ``target, model, trained_on, fpr, tpr``.
    notes
        ``section, note``: why a section is empty, and what was sampled.
    facts
        Shares of values that were not read (``unread``, of the real table's columns that have any;
        ``unread_synthetic`` by table), names, numbers of rows, the epsilons of certificates, seed,
        software and `NOT_PRIVATE`, plain values.
    tables
        The tables as they were read: the real one under the name ``""``.
    """

    summary: pd.DataFrame
    columns: pd.DataFrame
    values: pd.DataFrame
    marginals: pd.DataFrame
    similarity: pd.DataFrame
    associations: pd.DataFrame
    propensity: pd.DataFrame
    prediction: pd.DataFrame
    regression: pd.DataFrame
    rules: pd.DataFrame
    groups: pd.DataFrame
    matches: pd.DataFrame
    queries: pd.DataFrame
    distributions: pd.DataFrame
    roc: pd.DataFrame
    notes: pd.DataFrame
    facts: Mapping[str, Any]
    tables: Mapping[str, ReadTable] = field(repr=False)

    @cached_property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict on each synthetic table, by its name."""
        verdicts = {}
        for name in self.names:
            sections = {
                key: getattr(self, key)[getattr(self, key)["table"] == name]
                for key in ("columns", "marginals", "similarity", "values", "rules")
            }
            verdicts[name] = table_verdict(sections, moved_means(sections["values"]))
        return verdicts

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the synthetic tables."""
        return tuple(name for name in self.tables if name)

    def drill(self, columns: Sequence[str], table: str | None = None) -> pd.DataFrame:
        """The cells of one marginal: levels, and the real and synthetic shares, the largest
        difference first.

        Parameters
        ----------
        columns
            Names of columns, each once.
        table
            Which synthetic table; by default the first.

        Raises
        ------
        ParameterError
            If a column or table is unknown, or the marginal has too many cells.
        """
        clique = (columns,) if isinstance(columns, str) else tuple(columns)
        name = self.names[0] if table is None else table
        if name not in self.names:
            raise ParameterError(
                f"table is {name!r}; give one of {', '.join(map(repr, self.names))}"
            )
        # The limit is on all cells, also empty ones: they are laid out before they are compared.
        real = self.tables[""]
        synthetic = self.tables[name]
        if not clique or len(set(clique)) < len(clique) or real.domain.size(clique) > MAX_CELLS:
            raise ParameterError(
                f"columns are {clique}; name one or more, each once, with up to {MAX_CELLS} cells"
            )
        levels = {each: level_texts(real.schema[each]) for each in clique}
        return compared_cells(levels, real.counts(clique), synthetic.counts(clique))

    def to_dict(self) -> dict[str, Any]:
        """NOT PRIVATE. All sections as plain JSON values, lists of rows; NaN becomes None."""
        result: dict[str, Any] = {
            "NOT PRIVATE": NOT_PRIVATE,
            "unread": dict(self.facts.get("unread", {})),
            "facts": dict(self.facts),
        }
        # Whatever is a frame is a section, so that a new one cannot be forgotten here.
        for each in fields(self):
            section = getattr(self, each.name)
            if isinstance(section, pd.DataFrame):
                result[each.name] = [
                    {str(key): _plain(value) for key, value in row.items()}
                    for row in section.to_dict("records")
                ]
        return result

    @property
    def _sections(self) -> dict[str, pd.DataFrame]:
        return {
            each.name: section
            for each in fields(self)
            if isinstance(section := getattr(self, each.name), pd.DataFrame)
        }

    def _page(self) -> str:
        return evaluation_page(self._sections, self.facts, self.tables, self.verdicts)

    def _first_pictures(self) -> list[Picture]:
        return pictures(PageView(self._sections, self.facts, self.tables), N_PICTURES)

    def _summary_table(self) -> str:
        shown = self.summary.drop(columns=["better", "sentence"])
        if len(self.names) == 1:
            shown = shown.drop(columns="table")
        return str(shown.to_string(index=False, float_format="{:.4g}".format, na_rep=""))

    def _summary_html(self) -> str:
        shown = self.summary.drop(columns=["better"])
        return str(shown.to_html(index=False, float_format="{:.4g}".format, na_rep="", border=0))

    def _where_more_is(self) -> str:
        return f"More in {_SECTIONS}; see docs/evaluation.md."


_SECTIONS = ", ".join(
    f".{each.name}"
    for each in fields(TableEvaluation)
    if each.name not in ("summary", "facts", "tables")
)


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, np.generic):
        value = value.item()
    # JSON has no NaN: parsers would fail on the whole file for one mean of nothing.
    return None if isinstance(value, float) and not np.isfinite(value) else value
