"""PrivMRF's refinement: rounds that measure what a model gets most wrong by noisy errors [Cai et
al. 2021].
"""

from collections.abc import Collection, Iterable
from fractions import Fraction
from itertools import combinations
from typing import final

import numpy as np

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.model import Model
from synthdp.mechanisms.shared.noisy_errors import release_errors
from synthdp.privacy.private_table import PrivateTable


@final
class Refinement:
    """Marginals inside the cliques of a graph, and how likely each is to be scored.

    To score all of them at once would drown the scores in noise, so a round scores a random few.
    Each clique has chances in proportion to its squared number of attributes, which its marginals
    share evenly; a marginal that turns out to be in the better half has half its chances from then
    on. Chance is public: which marginals are drawn depends on released values only.

    Parameters
    ----------
    domain
        All attributes.
    cliques
        Of the graph.
    max_cells, max_attributes
        Most cells of a marginal of two or more attributes, and most attributes.
    measured
        Marginals that are not scored again.

    >>> domain = Domain(("a", "b", "c"), (2, 3, 4))
    >>> list(
    ...     Refinement(
    ...         domain, [("a", "b"), ("b", "c")], max_cells=6, max_attributes=2, measured=[("c",)]
    ...     ).chances
    ... )
    [('a',), ('b',), ('a', 'b')]
    """

    def __init__(
        self,
        domain: Domain,
        cliques: Iterable[Clique],
        *,
        max_cells: float,
        max_attributes: int,
        measured: Collection[Clique],
    ) -> None:
        self.chances: dict[Clique, float] = {}
        """For each marginal that is left its chances, in proportion."""
        for clique in cliques:
            inside = [
                part
                for k in range(1, min(len(clique), max_attributes) + 1)
                for part in combinations(clique, k)
                if (k == 1 or domain.size(part) <= max_cells) and part not in measured
            ]
            for part in inside:
                # Cliques overlap, and a marginal inside of several has the chances of all.
                self.chances[part] = self.chances.get(part, 0.0) + len(clique) ** 2 / len(inside)
        # A fixed seed is right here. It only decides which released model's errors are scored;
        # all noise comes from the kernel.
        self._generator = np.random.default_rng(0)

    def measure_worst(
        self,
        table: PrivateTable,
        model: Model,
        n_marginals: int,
        *,
        n_scored: int,
        scoring: Fraction,
        rho: Fraction,
    ) -> None:
        """Score some marginals, and measure those with the largest noisy L1 errors.

        Parameters
        ----------
        table
            The sensitive table.
        model
            Whose errors.
        n_marginals
            How many of those that are left to measure.
        n_scored
            How many to score, if that is more and so many are left.
        scoring, rho
            Cost of all scores together, and of each measurement.
        """
        names = list(self.chances)
        weights = np.array(list(self.chances.values()))
        n_drawn = min(len(names), max(n_scored, n_marginals))
        drawn = self._generator.choice(
            len(names), n_drawn, replace=False, p=weights / weights.sum()
        )
        asked = [names[i] for i in drawn]
        errors = release_errors(
            table, asked, [factor.values for factor in model.marginals(asked)], rho=scoring
        ).errors
        ranked = sorted(asked, key=lambda clique: -errors[clique])
        for clique in ranked[:n_marginals]:
            table.measure(clique, rho=rho)
            del self.chances[clique]
        # The better half fits well already; it may be asked again, for later measurements can spoil
        # it.
        for clique in ranked[max(n_marginals, n_drawn // 2) :]:
            self.chances[clique] /= 2
