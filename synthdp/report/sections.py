"""The sections of an evaluation of one synthetic table, each made by its metric."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, final

import numpy as np
import pandas as pd

from synthdp.core.reporting import Report
from synthdp.report.metrics.associations import associations, compared_associations, cramers_v
from synthdp.report.metrics.columns import (
    MAX_NUMBERS,
    compared_columns,
    distributions,
    fewer_rows,
    sampled_rows,
)
from synthdp.report.metrics.groups import COLUMNS as GROUPS
from synthdp.report.metrics.groups import group_errors
from synthdp.report.metrics.marginals import MarginalErrors, chosen_marginals
from synthdp.report.metrics.matches import exact_matches
from synthdp.report.metrics.own_units import own_units
from synthdp.report.metrics.queries import Query, answered
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.metrics.references import Measured
from synthdp.report.metrics.rule_breaks import broken_rules
from synthdp.report.metrics.similarity import similarities
from synthdp.report.prediction.prediction import PREDICTION, ROC, compared_predictions
from synthdp.report.prediction.propensity import propensity_scores
from synthdp.report.prediction.regression import COLUMNS as REGRESSION
from synthdp.report.prediction.regression import compared_coefficients
from synthdp.report.prediction.targets import Target
from synthdp.report.summary import summary_of


class WantedSections(NamedTuple):
    """Optional sections of an evaluation."""

    by: tuple[str, ...]
    queries: tuple[Query, ...]
    seed: int
    predicts: bool


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """One synthetic table and the real one."""

    real: ReadTable
    synthetic: ReadTable
    wanted: WantedSections
    measured: Sequence[Measured]
    report: Report
    notes: list[tuple[str, str]] = field(default_factory=list)

    def sections(self, targets: Sequence[Target]) -> dict[str, pd.DataFrame]:
        """All sections by name; the same seed gives the same ones."""
        rng = np.random.default_rng(self.wanted.seed)
        errors = self._marginal_errors(rng)
        self.report("comparing columns", 0, 1)
        frames = {"marginals": errors.frame} | self._values(errors, rng)
        self.report("propensity", 0, 1)
        drawn = self._alike(rng)
        frames["propensity"] = propensity_scores(
            *drawn, {pair: each[2] for pair, each in errors.pairs.items()}, rng
        )
        frames |= replace(self, real=drawn[0], synthetic=drawn[1])._learning(targets, rng)
        self.report("rows and groups", 0, 1)
        frames["rules"] = broken_rules(self.real, self.synthetic)
        frames["groups"] = self._groups(rng)
        frames["matches"] = exact_matches(self.real, self.synthetic)
        frames["queries"] = answered(self.wanted.queries, self.real, self.synthetic)
        frames["summary"] = summary_of(
            frames, score_k=errors.score_k, subsample=errors.subsample_equivalent()
        )
        self._note_empty(frames)
        frames["notes"] = pd.DataFrame(self.notes, columns=["section", "note"])
        return frames

    def _marginal_errors(self, rng: np.random.Generator) -> MarginalErrors:
        errors = MarginalErrors(self.real, self.synthetic, self.measured)
        for k in (1, 2, 3)[: len(self.real.domain)]:
            cliques, n_all = chosen_marginals(self.real.domain, k, rng)
            if len(cliques) < n_all:
                why = "a random sample, without those of too many cells"
                self.notes.append(
                    (
                        "marginals",
                        f"{len(cliques)} of all {n_all} {k}-way marginals are compared: {why}",
                    )
                )
            errors.add(k, cliques, self.report)
        return errors

    def _values(self, errors: MarginalErrors, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
        """What is taken of values rather than levels; of large tables by a sample of rows."""
        one_way = {row["columns"][0]: row for row in errors.rows if row["k"] == 1}  # type: ignore[index]
        real, synthetic = (
            fewer_rows(table, MAX_NUMBERS, rng) for table in (self.real, self.synthetic)
        )
        if max(self.real.n_rows, self.synthetic.n_rows) > MAX_NUMBERS and self.real.numbers:
            self.notes.append(
                (
                    "columns",
                    f"distances of numbers are those of {MAX_NUMBERS:,} rows drawn at random",
                )
            )
        alike = real.alike(rng), synthetic.alike(rng)
        sample = sampled_rows(self.real, alike[1].n_rows, rng)
        of_levels = [pair for pair in errors.pairs if not set(pair) & self.real.numbers.keys()]
        frames = [
            associations(table, {pair: errors.pairs[pair][place] for pair in of_levels})
            for place, table in enumerate(alike)
        ]
        sampled = dict(zip(of_levels, map(cramers_v, sample.counts_of(of_levels)), strict=True))
        columns = compared_columns(real, synthetic, sample, one_way)  # type: ignore[arg-type]
        return {
            "columns": columns,
            "values": own_units(real, synthetic, sample, columns),
            "associations": compared_associations(
                frames[0], frames[1], associations(sample, sampled)
            ),
            "distributions": distributions(self.real, self.synthetic),
            "similarity": similarities(*self._alike(rng), sample, errors.pairs),
        }

    def _alike(self, rng: np.random.Generator) -> tuple[ReadTable, ReadTable]:
        """Both tables with rows that weigh alike."""
        return self.real.alike(rng), self.synthetic.alike(rng)

    def _learning(
        self, targets: Sequence[Target], rng: np.random.Generator
    ) -> dict[str, pd.DataFrame]:
        empty = {"prediction": PREDICTION, "roc": ROC, "regression": REGRESSION}
        parts: dict[str, list[pd.DataFrame]] = {
            key: [pd.DataFrame(columns=names)] for key, names in empty.items()
        }
        for done, target in enumerate(targets):
            self.report("predicting", done, len(targets))
            if min(target.with_value(table).n_rows for table in (self.real, self.synthetic)) < 2:
                self.notes.append(
                    ("prediction", f"{target.name!r} has no values in the synthetic table")
                )
                continue
            parts["regression"].append(
                compared_coefficients(self.real, self.synthetic, target, rng)
            )
            if self.wanted.predicts:
                scores, curves = compared_predictions(self.real, self.synthetic, target, rng)
                parts["prediction"].append(scores)
                parts["roc"].append(curves)
        if not self.wanted.predicts:
            self.notes.append(
                ("prediction", "scikit-learn is not installed; run: pip install 'synthdp[report]'")
            )
        return {key: _joined(frames) for key, frames in parts.items()}

    def _groups(self, rng: np.random.Generator) -> pd.DataFrame:
        frames = [group_errors(self.real, self.synthetic, name, rng) for name in self.wanted.by]
        groups = _joined([pd.DataFrame(columns=GROUPS), *frames])
        return groups.sort_values("tvd_1", ascending=False, kind="stable", ignore_index=True)

    def _note_empty(self, frames: dict[str, pd.DataFrame]) -> None:
        """Say why sections are empty."""
        reasons = {
            "associations": "a single column has no associations",
            "groups": "no column was chosen; name one in by",
            "queries": "none was asked",
            "rules": "the schema has no rules",
            "regression": "no target is a number or has two classes",
        }
        self.notes.extend((key, reason) for key, reason in reasons.items() if frames[key].empty)


def _joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables below each other; the first, which is empty, if there is nothing in any."""
    filled = [frame for frame in frames if len(frame)]
    return pd.concat(filled, ignore_index=True) if filled else frames[0]
