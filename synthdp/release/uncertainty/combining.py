"""Combining rules: one estimate and its interval from analyses of replicates; docs/inference.md
derives them.

With ``q0`` the mean analysis of tables that the fit itself draws, ``q`` and ``b`` mean and variance
of the analyses of m replicates, and ``u`` the mean of the sampling variances that they state:

- the estimate is ``2 q0 - q``: replicates are as far off the fit as the fit is off the truth, so
  what their mean is off by, the fit is off by as well [Efron & Tibshirani 1993, ch. 10];
- the variance for the population is ``T = (1 + 1/m) b + u``, for the sensitive table itself ``(1 +
  1/m) b``;
- limits are Student's, with Rubin's degrees of freedom ``(m - 1) (T / ((1 + 1/m) b))^2`` [Rubin
  1987].
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from synthdp.core.measurement import FloatArray
from synthdp.release.uncertainty.basis import Basis

Target: TypeAlias = Literal["population", "table"]

N_CENTRES = 4
"""Tables drawn of the fit itself. The estimate has twice their mean, and so, of the variance of
drawing one table, four quarters; the variance between replicates holds it once.
"""

COLUMNS = ("estimate", "stderr", "df", "low", "high", "basis")


class Analysed(NamedTuple):
    """The estimates of an analysis of one table with their sampling variances, by name."""

    values: FloatArray
    variances: FloatArray


def combined(
    names: Sequence[object],
    centres: Sequence[Analysed],
    replicates: Sequence[Analysed],
    basis: Basis,
    *,
    scale: float,
    level: float,
    of: Target,
) -> pd.DataFrame:
    """The combined estimates, one a row.

    Parameters
    ----------
    names
        What was estimated.
    centres, replicates
        Analyses of tables of the fit itself, and of replicates, at least two.
    basis
        What the analysis rests on; without measured dependences there are no limits.
    scale
        Rows of a replicate over records of the sensitive table: sampling variances are for so many
        more rows.
    level
        Probability of the interval.
    of
        Whose value: the population's that the records were drawn from, or the sensitive table's
        own.

    Returns
    -------
    pandas.DataFrame
        ``estimate``, ``stderr``, ``df``, ``low``, ``high`` and ``basis``. Where an analysis gave no
        finite number for a replicate there are no limits either.
    """
    from scipy.special import stdtrit

    values = np.array([each.values for each in replicates])
    m = len(values)
    # The spread of the replicates, and a little for there being m of them only.
    middle = values.mean(axis=0)
    between = (1.0 + 1.0 / m) * values.var(axis=0, ddof=1)
    # The bootstrap's correction of bias: what adding noise once more moves the mean by is what
    # noise moved it by before.
    estimate = 2.0 * np.mean([each.values for each in centres], axis=0) - middle
    if of == "population":
        within = scale * np.mean([each.variances for each in replicates], axis=0)
    else:
        within = 0.0
    variance = between + within
    # Degrees of freedom as in Rubin's rules: few where the replicates' spread makes most of the
    # variance.
    share = np.divide(between, variance, out=np.zeros_like(between), where=variance > 0)
    df = np.divide(m - 1.0, share**2, out=np.full_like(share, np.inf), where=share > 0)
    reach = stdtrit(np.minimum(df, 1e9), (1.0 + level) / 2.0) * np.sqrt(variance)
    # No interval rather than one that takes a dependence which nobody measured for nothing.
    reach = reach if basis.is_covered else np.full_like(reach, np.nan)
    each = (estimate, np.sqrt(variance), df, estimate - reach, estimate + reach, basis.coverage)
    return pd.DataFrame(
        dict(zip(COLUMNS, each, strict=True)), index=pd.Index(list(names), name="quantity")
    )
