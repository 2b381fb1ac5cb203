"""A release as the sections of its page see it: measurements, the noise in them, and what the model
makes of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod, sqrt
from typing import Self, final

import numpy as np
import pandas as pd

from synthdp.core.cliques import Clique
from synthdp.core.measurement import LinearMeasurement, clear_total
from synthdp.mechanisms.shared.allocation import L1_OF_NOISE
from synthdp.release.answers import Answers
from synthdp.release.result import FittedPart
from synthdp.report.metrics.references import Measured, noise_error

MAX_PAIRS = 5_000
"""Pairs whose error is shown: those of 100 columns; of more columns only those that were measured
together.
"""


@final
@dataclass(frozen=True, eq=False)
class NoisyRelease:
    """Measurements and a model."""

    synthesis: Answers
    """The release."""
    n_rows: float | None
    """The number of records, as it is published or else estimated; None where noise hides it."""
    drawn: tuple[str, ...]
    """The columns whose errors are shown, with all others; all, unless known from elsewhere."""
    label: str = ""
    """Which of several releases it is; empty of one."""
    unit: str = "records"
    weight: int = 1
    """What is counted, and what one of it counts in the measurements: of linked tables families."""
    is_published: bool = False
    """Whether the number of records follows from published totals."""

    @classmethod
    def from_part(cls, part: FittedPart) -> Self:
        """Of the model of one table, whose number of records is published, or estimated."""
        published = _published_total(part.answers)
        n_rows = _total(part.answers) if published is None else published
        return cls(
            synthesis=part.answers,
            n_rows=None if n_rows is None else n_rows / part.weight,
            is_published=published is not None,
            drawn=part.drawn,
            label=part.label,
            unit=part.unit,
            weight=part.weight,
        )

    @property
    def about(self) -> str:
        """Ends the titles of pictures."""
        return f" of {self.label}" if self.label else ""

    @property
    def measurements(self) -> Sequence[LinearMeasurement]:
        """Everything that was measured, noise included."""
        return self.synthesis.measurements

    @cached_property
    def measured(self) -> pd.DataFrame:
        """One row a measurement, the most precise first.

        ``columns``, ``cells``, ``merged`` (levels were merged before), ``sigma`` in `unit`,
        ``noise``: the expected total variation distance that its noise alone causes; ``off``: how
        far the model is from it, in standard deviations of the noise (root mean square over its
        cells); ``apart``: their total variation distance.
        """
        names = ["columns", "cells", "merged", "sigma", "noise", "off", "apart"]
        if self.measurements:
            models = self.synthesis.model.marginals([each.clique for each in self.measurements])
        else:
            models = []
        rows = []
        for measurement, marginal in zip(self.measurements, models, strict=True):
            values = np.asarray(marginal.values)
            coarsening = measurement.coarsening
            modelled = (
                values if coarsening is None else coarsening.apply(measurement.clique, values)
            )
            gap = modelled - measurement.values
            rows.append(
                (
                    measurement.clique,
                    measurement.values.size,
                    bool(measurement.groups),
                    sqrt(float(measurement.variance.mean())) / self.weight,
                    self._share(0.5 * L1_OF_NOISE * float(np.sqrt(measurement.variance).sum())),
                    sqrt(float(np.mean(np.square(gap) / measurement.variance))),
                    self._share(0.5 * float(np.abs(gap).sum())),
                )
            )
        return pd.DataFrame(rows, columns=names).sort_values(
            "noise", kind="stable", ignore_index=True
        )

    def _share(self, rows: float) -> float:
        return float("nan") if self.n_rows is None else min(rows / self.weight / self.n_rows, 1.0)

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Expected errors of 1- and 2-way marginals, the worst first: ``k``, ``columns``,
        ``cells``, ``noise``.

        ``noise`` is NaN where columns were not measured together: nobody knows the error then.
        """
        domain = self.synthesis.schema.domain
        measured = Measured.of_measurements(self.measurements)
        holding = {
            name: [each for each in measured if name in each.sizes] for name in domain.attributes
        }
        cliques: list[Clique] = [(name,) for name in self.drawn]
        pairs = [
            pair
            for pair in combinations(domain.attributes, 2)
            if not set(pair).isdisjoint(self.drawn)
        ]
        if len(pairs) > MAX_PAIRS:
            together = {
                pair for each in measured for pair in combinations(domain.canonical(each.sizes), 2)
            }
            pairs = [pair for pair in pairs if pair in together]
        rows = [
            (
                len(clique),
                clique,
                prod(domain.project(clique).shape),
                self._noise(clique, holding[clique[0]]),
            )
            for clique in [*cliques, *pairs]
        ]
        frame = pd.DataFrame(rows, columns=["k", "columns", "cells", "noise"])
        return frame.sort_values(
            ["k", "noise"], ascending=[True, False], kind="stable", ignore_index=True
        )

    def _noise(self, clique: Clique, measured: Sequence[Measured]) -> float:
        if self.n_rows is None:
            return float("nan")
        return noise_error(clique, measured, round(self.n_rows * self.weight))


def _published_total(synthesis: Answers) -> int | None:
    """The number of records that published totals tell; None if there are none."""
    totals = (marginal.total for marginal in synthesis.model.known)
    return next((total for total in totals if total is not None), None)


def _total(synthesis: Answers) -> float | None:
    return clear_total(synthesis.measurements) if synthesis.measurements else None
