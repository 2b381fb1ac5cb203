"""Splitting a budget among measurements that are settled beforehand, in closed form."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import hypot, pi, sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain

FloatArray = NDArray[np.float64]


def measurement_shares(domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, Fraction]:
    """Shares of a budget, summing to 1 exactly, that minimise the weighted expected L1 error of the
    measurements.

    A marginal of n cells measured with share s of rho has an expected L1 error of ``n sqrt(2 / pi)
    sigma`` with ``sigma`` in proportion to ``1 / sqrt(s)``. Minimising ``sum of w n / sqrt(s)``
    gives shares in proportion to ``(w n)^(2/3)``.

    Parameters
    ----------
    domain
        Gives the numbers of cells.
    weights
        For each clique how much its error matters, above 0.

    >>> domain = Domain(("a", "b"), (1, 8))
    >>> shares = measurement_shares(domain, {("a",): 1.0, ("b",): 1.0})
    >>> {clique: round(float(share), 3) for clique, share in shares.items()}
    {('a',): 0.2, ('b',): 0.8}
    """
    # By Lagrange: the derivative of w n / sqrt(s) is the same for all at the minimum, which gives s
    # in proportion to (w n)^(2/3).
    parts = {
        clique: Fraction((weight * domain.size(clique)) ** (2 / 3))
        for clique, weight in weights.items()
    }
    total = sum(parts.values(), Fraction(0))
    # Exact fractions, so that the shares of a budget sum to it and the ledger ends at nothing.
    return {clique: part / total for clique, part in parts.items()}


def water_filled(
    amplitudes: Sequence[float], half_costs: Sequence[float], budget: float
) -> tuple[FloatArray, float]:
    """The split of a budget that takes off most error, where each part has diminishing returns, and
    its price.

    Part i takes off ``amplitude (1 - 1 / sqrt(1 + x / half_cost))`` for a share x of the budget: an
    error E that is measured with noise N leaves about ``E N / sqrt(E^2 + N^2)``, with ``1 / N^2``
    in proportion to x. All parts that get something have the same marginal return, the price, at
    which ``1 + x / half_cost = (amplitude / (2 half_cost price))^(2/3)``; the others' first return
    is below it.

    Parameters
    ----------
    amplitudes, half_costs
        One for each part, above 0.
    budget
        To be split, above 0.

    Returns
    -------
    shares, price
        Shares of shape ``(n_parts,)`` that sum to the budget.

    >>> water_filled([1.0, 1.0, 0.01], [1.0, 1.0, 1.0], 2.0)[0].round(6).tolist()
    [1.0, 1.0, 0.0]
    """
    first_returns = np.divide(amplitudes, half_costs) / 2
    scales = np.asarray(half_costs, dtype=np.float64)
    # Water-filling: with the parts sorted by first return, those that get something are always the
    # first few. The price for every number of them is found at once by running sums, and no
    # iteration is needed.
    order = np.argsort(-first_returns)
    powers = first_returns[order] ** (2 / 3) * scales[order]
    # With the k best parts, sum of scale ((r / price)^(2/3) - 1) = budget; each part added lowers
    # the price.
    prices = (np.cumsum(powers) / (budget + np.cumsum(scales[order]))) ** 1.5
    # Prices fall with each part that is added for as long as its first return is above them, so
    # counting finds the last such part. Rounding must not cut off one that stands exactly at the
    # price.
    n_parts = max(int(np.count_nonzero(first_returns[order] > prices * (1 - 1e-12))), 1)
    price = float(prices[n_parts - 1])
    shares = np.maximum(scales * ((first_returns / price) ** (2 / 3) - 1), 0.0)
    total = float(shares.sum())
    # Rounding swallows a budget that is tiny next to the costs: the best part gets it all.
    if total == 0:
        shares[order[0]] = total = 1.0
    # Scaled once more, since sums of powers end a rounding error beside the budget.
    return shares * (budget / total), price


@final
@dataclass(frozen=True, kw_only=True)
class Demand:
    """What measuring a marginal would gain: an error falls as ``error / sqrt(1 + rho / half)``.

    That is the error of weighing what a model says against a measurement, whose own expected L1
    error is ``unit / sqrt(2 rho)``: close to the smaller of the two.
    """

    weight: float
    """How much the error matters, above 0."""
    error: float
    """L1 error of the model, in records, above 0."""
    unit: float
    """Expected L1 error of a measurement with ``2 rho = 1``: ``sqrt(2 / pi) n_cells`` times the
    sensitivity.
    """

    @property
    def half(self) -> float:
        """The rho that halves the squared error."""
        return self.unit**2 / (2.0 * self.error**2)

    @property
    def first_return(self) -> float:
        """How much the first bit of rho lowers the weighted error, for each unit of it."""
        return self.weight * self.error / self.half / 2.0

    def error_after(self, rho: float) -> float:
        """The error after a measurement that costs ``rho``."""
        return self.error / sqrt(1.0 + rho / self.half)


def demands_filled(demands: Collection[Demand], budget: float) -> tuple[FloatArray, float]:
    """The split of a budget among demands that takes off most weighted error, and its price; see
    `water_filled`.
    """
    gains = [demand.weight * demand.error for demand in demands]
    return water_filled(gains, [demand.half for demand in demands], budget)


def predicted_error(plan: Mapping[Clique, float], demands: Mapping[Clique, Demand]) -> float:
    """Weighted errors after a plan; a triple's are those of its pairs and what is left, at right
    angles.
    """
    left = {clique: demand.error for clique, demand in demands.items()}
    for clique, rho in plan.items():
        for pair in combinations(clique, 2):
            # A wider marginal, summed down, has the noise of all cells that fall together.
            # In units of budget: the noise of a sum of m cells has m times the variance, so a pair
            # inside of a triple is known as if it had cost this much.
            fewer = rho * demands[pair].unit / demands[clique].unit
            left[pair] = demands[pair].error_after(fewer)
    triples = [clique for clique in demands if len(clique) == 3]
    if not triples:
        return sum(demands[clique].weight * error for clique, error in left.items())
    total = 0.0
    for triple in triples:
        demand = demands[triple]
        pairs = list(combinations(triple, 2))
        # Released errors are noisy, so the difference may be negative; then the triple has nothing
        # beyond its pairs.
        own = sqrt(max(demand.error**2 - sum(demands[pair].error ** 2 for pair in pairs), 0.0))
        own *= demand.error_after(plan.get(triple, 0.0)) / demand.error
        total += demand.weight * hypot(own, *(left[pair] for pair in pairs))
    return total


L1_OF_NOISE = sqrt(2 / pi)
"""Expected absolute value of Gaussian noise, in standard deviations."""

_LARGEST_PENALTY = 2.0**40
"""The largest that a score takes; a marginal with more noise is worth no measurement."""


def noise_of(sigma: float, n_cells: int) -> float:
    """Expected L1 error of so many counts with Gaussian noise, in records, as far as a score takes
    it.
    """
    return min(L1_OF_NOISE * sigma * n_cells, _LARGEST_PENALTY)
