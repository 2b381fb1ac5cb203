"""Propensity: how well a model tells synthetic rows from real ones, against a correct synthesis
[SRNDS18].
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, vstack
from scipy.special import expit

from synthdp.core.cliques import Clique
from synthdp.report.metrics.columns import fewer_rows
from synthdp.report.metrics.marginals import null_pmse
from synthdp.report.metrics.read_table import ReadTable
from synthdp.report.prediction.design import Design, affordable_rows
from synthdp.report.prediction.linear_fit import independent_terms, logistic


def propensity_scores(
    real: ReadTable, synthetic: ReadTable, pairs: Mapping[Clique, float], rng: np.random.Generator
) -> pd.DataFrame:
    """Standardised propensity scores of pairs of columns, and of all columns in a logistic model.

    Parameters
    ----------
    real, synthetic
        The two tables.
    pairs
        The score of each pair, see `marginals.pair_propensity`.
    rng
        Draws rows where there are many.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``columns`` that it is about, ``s_pmse`` (1: a correct model), ``pmse`` and
        ``expected``, the latter two NaN for pairs.
    """
    rows: list[tuple[object, ...]] = []
    if pairs:
        worst = max(pairs, key=lambda pair: pairs[pair])
        rows.append(("all pairs, mean", "", float(np.mean(list(pairs.values()))), np.nan, np.nan))
        rows.append(("worst pair", " x ".join(worst), pairs[worst], np.nan, np.nan))
    pmse, expected = main_effects(real, synthetic, rng)
    ratio = pmse / expected if expected > 0 else 1.0
    rows.append(("logistic, main effects", "", ratio, pmse, expected))
    return pd.DataFrame(rows, columns=["model", "columns", "s_pmse", "pmse", "expected"])


def main_effects(
    real: ReadTable, synthetic: ReadTable, rng: np.random.Generator
) -> tuple[float, float]:
    """Propensity mean squared error of a logistic model of all columns, and what a correct
    synthesis would have.
    """
    real, synthetic = (
        fewer_rows(table, affordable_rows(table), rng) for table in (real, synthetic)
    )
    # By levels: a straight line through numbers would miss a distribution of the wrong shape.
    design = Design.from_table(real, real.domain.attributes, numbers=False)
    matrix = csr_array(vstack([design.matrix(real), design.matrix(synthetic)], format="csr"))
    # The reference below counts free parameters, and terms that follow from others are not free.
    kept = independent_terms(matrix)
    matrix = matrix[:, kept]
    is_synthetic = np.repeat([0.0, 1.0], [real.n_rows, synthetic.n_rows])
    chances = expit(matrix @ logistic(matrix, is_synthetic).coefficients)
    share = float(is_synthetic.mean())
    return float(np.square(chances - share).mean()), null_pmse(len(kept), share, len(is_synthetic))
