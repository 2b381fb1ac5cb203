"""All 1-, 2- and some 3-way marginals of two tables, and what follows from their counts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.many_cliques import sampled_k_way
from synthdp.core.reporting import Report
from synthdp.report.metrics.associations import cramers_v
from synthdp.report.metrics.marginal_error import total_variation
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.metrics.references import Measured, SamplingError, noise_error, subsample_share

MAX_MARGINALS = {1: 2_000, 2: 5_000, 3: 500}
"""Most marginals of each number of columns; of more a random sample is taken. NIST's score takes
3-way marginals.
"""

MAX_CELLS = 2**20
"""Larger marginals are left out: a million cells are more than most tables have rows."""


def chosen_marginals(domain: Domain, k: int, rng: np.random.Generator) -> tuple[list[Clique], int]:
    """All marginals of ``k`` attributes, or a random sample, in order; and how many there are."""
    return sampled_k_way(domain, k, rng, most=MAX_MARGINALS[k], max_cells=MAX_CELLS)


@final
@dataclass(eq=False)
class MarginalErrors:
    """The marginals of a synthetic table, their references and their errors.

    Parameters
    ----------
    real, synthetic
        The two tables, read by one schema.
    measured
        The noisy marginals of the release; empty if they are unknown.
    """

    real: ReadTable
    synthetic: ReadTable
    measured: Sequence[Measured] = ()
    rows: list[dict[str, object]] = field(default_factory=list)
    pairs: dict[Clique, tuple[float, float, float]] = field(default_factory=dict)
    """For each pair Cramer's V in the real and in the synthetic table, and the standardised
    propensity score.
    """

    def __post_init__(self) -> None:
        self._sampling = SamplingError.for_sizes(self.real.size, self.synthetic.size)
        self._multiplicity = np.zeros(max(round(self.real.size), 1) + 1, dtype=np.int64)

    def add(self, k: int, cliques: Sequence[Clique], report: Report) -> None:
        """Compare the marginals of some sets of ``k`` columns."""
        for done, (clique, real, synthetic) in enumerate(self._counted(cliques)):
            report(f"comparing {k}-way marginals", done, len(cliques))
            noise = noise_error(clique, self.measured, self.real.n_rows)
            self.rows.append(
                {
                    "k": k,
                    "columns": clique,
                    "tvd": total_variation(real, synthetic),
                    "sampling": self._sampling.of_marginal(real),
                    "noise": noise,
                    "measured": not np.isnan(noise),
                }
            )
            if k == 2:
                self.pairs[clique] = (
                    cramers_v(real),
                    cramers_v(synthetic),
                    pair_propensity(real, synthetic),
                )
            if k == self.score_k:
                # How many cells hold how many rows is all that a subsample's error depends on; no
                # marginal is kept for it.
                whole = np.rint(real.ravel()).astype(np.int64)
                self._multiplicity += np.bincount(whole, minlength=len(self._multiplicity))

    def _counted(
        self, cliques: Sequence[Clique]
    ) -> Iterator[tuple[Clique, NDArray[Any], NDArray[Any]]]:
        counts = (table.counts_of(cliques) for table in (self.real, self.synthetic))
        return zip(cliques, *counts, strict=True)

    @property
    def score_k(self) -> int:
        """Columns of the marginals that the k-marginal score is the mean of: 3, or all if there are
        fewer.
        """
        return min(3, len(self.real.domain))

    @property
    def frame(self) -> pd.DataFrame:
        """One row a marginal, of each size the worst first."""
        columns = ["k", "columns", "tvd", "sampling", "noise", "measured"]
        frame = pd.DataFrame(self.rows, columns=columns)
        return frame.sort_values(
            ["k", "tvd"], ascending=[True, False], kind="stable", ignore_index=True
        )

    def subsample_equivalent(self) -> float:
        """Which share of the real rows, drawn at random, has the same k-marginal score; NaN without
        marginals.
        """
        errors = [float(str(row["tvd"])) for row in self.rows if row["k"] == self.score_k]
        if not errors:
            return float("nan")
        return subsample_share(float(np.mean(errors)), self._multiplicity, len(errors))


def k_marginal_score(errors: Sequence[float]) -> float:
    """NIST's k-marginal score of some marginals' total variation distances, 0 to 1000 (the same)
    [NIST SDNist].

    ``1000 (1 - mean / 2)`` of the L1 distances, which are twice the total variation distances.

    >>> k_marginal_score([0.1, 0.3])
    800.0
    """
    return 1000.0 * (1.0 - float(np.mean(errors))) if len(errors) else float("nan")


def pair_propensity(real: NDArray[Any], synthetic: NDArray[Any]) -> float:
    """Standardised propensity mean squared error of a saturated table, 1 for a correct model
    [SRNDS18].

    How well the cell tells the two tables apart, divided by what is to be expected if the synthetic
    rows were drawn from the real table's own distribution, ``(cells - 1) (1 - c)^2 c / N``.
    """
    n_real = float(real.sum())
    n_synthetic = float(synthetic.sum())
    total = real + synthetic
    inside = total > 0
    n_cells = int(inside.sum())
    if n_cells < 2:
        return 1.0
    n_rows = n_real + n_synthetic
    share = n_synthetic / n_rows
    gap = synthetic[inside] / total[inside] - share
    # A saturated model predicts each cell's own share, so no fit is needed.
    mean_square = float(total[inside] @ np.square(gap)) / n_rows
    return mean_square / null_pmse(n_cells, share, n_rows)


def null_pmse(n_parameters: int, share: float, n_rows: float) -> float:
    """Expected propensity mean squared error of a correct model, ``(k - 1) (1 - c)^2 c / N``
    [SRNDS18].

    Parameters
    ----------
    n_parameters
        Of the model that tells the tables apart, its intercept included.
    share
        Which share of all rows is synthetic.
    n_rows
        Rows of both tables.
    """
    return (n_parameters - 1) * (1 - share) ** 2 * share / n_rows
