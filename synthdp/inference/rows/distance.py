"""How far the rows that were drawn are from the model's own marginals, beside what chance makes of
so many rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from synthdp.core.cliques import Clique
from synthdp.inference.arrays import Array, Codes, cell_counts
from synthdp.inference.model import Model

_CHANCE_FACTOR, _CHANCE_MARGIN = 1.5, 0.01
"""Rows are far from a table whose distance is above so many times chance, and so much more: rows of
independent draws stay below, and fewer people would miss less.
"""


@final
@dataclass(frozen=True, kw_only=True)
class RowsDistance:
    """Total variation distances of rows from a model's marginals: shares of the rows that would
    have to change.

    Parameters
    ----------
    n_rows, n_tables
        Rows, and marginals that were compared.
    mean, worst
        Of the distances.
    mean_by_chance, worst_by_chance
        The same of as many rows that are drawn from the model independently: the mean, and that of
        the marginal that is worst.
    worst_table
        The attributes of the marginal whose distance is worst; none if there is no marginal.
    far_tables
        Those that are further away than chance explains, worst first.
    """

    n_rows: int
    n_tables: int
    mean: float
    worst: float
    mean_by_chance: float
    worst_by_chance: float
    worst_table: Clique
    far_tables: tuple[Clique, ...]


def rows_distance(model: Model, codes: Codes, cliques: Sequence[Clique]) -> RowsDistance:
    """The distances of drawn rows from a model's marginals of some cliques.

    Parameters
    ----------
    model
        What the rows were drawn from.
    codes
        For each attribute of the model's domain its codes, shape ``(n_rows,)``.
    cliques
        What to compare, each once; empty ones are left out.

    Raises
    ------
    ModelTooLargeError
        If the model cannot answer one of the marginals.
    """
    domain = model.domain
    cliques = [clique for clique in cliques if clique]
    n_rows = len(codes[0]) if codes else 0
    if not n_rows or not cliques:
        return RowsDistance(
            n_rows=n_rows,
            n_tables=0,
            mean=0.0,
            worst=0.0,
            mean_by_chance=0.0,
            worst_by_chance=0.0,
            worst_table=(),
            far_tables=(),
        )
    distances = np.zeros(len(cliques))
    by_chance = np.zeros(len(cliques))
    for i, (clique, expected) in enumerate(zip(cliques, model.marginals(cliques), strict=True)):
        shares = expected.values / expected.values.sum()
        counts = cell_counts(domain, clique, codes)
        distances[i] = 0.5 * np.abs(counts / n_rows - shares).sum()
        by_chance[i] = chance_distance(shares, n_rows)
    worst = int(np.argmax(distances))
    excess = distances - (_CHANCE_FACTOR * by_chance + _CHANCE_MARGIN)
    far = [i for i in np.argsort(-excess, kind="stable").tolist() if excess[i] > 0]
    return RowsDistance(
        n_rows=n_rows,
        n_tables=len(cliques),
        mean=float(distances.mean()),
        worst=float(distances[worst]),
        mean_by_chance=float(by_chance.mean()),
        worst_by_chance=float(by_chance[worst]),
        worst_table=cliques[worst],
        far_tables=tuple(cliques[i] for i in far),
    )


def chance_distance(shares: Array, n_rows: int) -> float:
    """Expected total variation distance between a distribution and the counts of rows that are
    drawn from it independently.

    A count is binomial, and its mean absolute deviation is
    ``2 m C(n, m) p^m (1 - p)^(n - m + 1)`` with ``m = floor(n p) + 1`` [de Moivre 1730].

    Parameters
    ----------
    shares
        Probabilities of the cells, of any shape.
    n_rows
        Number of rows, at least 1.

    >>> round(chance_distance(np.array([0.5, 0.5]), 2), 3)
    0.25
    """
    p = np.clip(np.ravel(shares), 0.0, 1.0)
    p = p[(p > 0.0) & (p < 1.0)]
    m = np.floor(n_rows * p) + 1.0
    log_choose = gammaln(n_rows + 1.0) - gammaln(m + 1.0) - gammaln(n_rows - m + 1.0)
    logs = np.log(2.0 * m) + log_choose + xlogy(m, p) + xlog1py(n_rows - m + 1.0, -p)
    return float(0.5 * np.exp(logs).sum() / n_rows)
