"""What an error stands between: that of a random sample of the real rows, and that of the noise
alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import pi, prod, sqrt
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.core.measurement import LinearMeasurement

FloatArray = NDArray[np.float64]


def deviations_with_replacement(n_rows: int, n_drawn: int) -> FloatArray:
    """Mean absolute deviation of a cell's count from its mean, if ``n_drawn`` rows are drawn with
    replacement.

    By De Moivre's formula, ``2 k (1 - p) P(X = k)`` with ``k`` the first whole number above the
    mean.

    Returns
    -------
    numpy.ndarray
        For each count ``0 .. n_rows`` that the cell can have among the ``n_rows`` rows; in rows.

    >>> deviations_with_replacement(2, 1).tolist()
    [0.0, 0.5, 0.0]
    """
    # A table for every count that a cell can have: thousands of marginals then look their reference
    # up, and none is simulated.
    counts = np.arange(1, n_rows)  # cells that hold no row, or all, do not deviate
    share = counts / n_rows
    k = counts * n_drawn // n_rows + 1
    # In logarithms: binomials of a million rows exceed any float.
    log_probability = _log_choose(n_drawn, k)
    log_probability += k * np.log(share)
    log_probability += (n_drawn - k) * np.log1p(-share)
    deviations = np.zeros(n_rows + 1)
    deviations[1:-1] = 2 * k * (1 - share) * np.exp(log_probability)
    return deviations


def deviations_without_replacement(n_rows: int, n_drawn: int) -> FloatArray:
    """The same for rows drawn without replacement: ``2 k (n - c - m + k) / n P(X = k)``,
    hypergeometric.

    >>> deviations_without_replacement(2, 1).tolist(), deviations_without_replacement(2, 2).tolist()
    ([0.0, 0.5, 0.0], [0.0, 0.0, 0.0])
    """
    counts = np.arange(n_rows + 1)
    k = counts * n_drawn // n_rows + 1
    others = n_rows - counts - n_drawn + k  # rows outside the cell that are not drawn
    # Where the first whole number above the mean cannot occur, the cell cannot deviate.
    possible = (k <= counts) & (k <= n_drawn) & (others >= 0)
    deviations = np.zeros(n_rows + 1)
    c = counts[possible]
    k = k[possible]
    others = others[possible]
    log_ways = _log_choose(c, k) + _log_choose(n_rows - c, n_drawn - k)
    log_probability = log_ways - _log_choose(n_rows, n_drawn)
    deviations[possible] = 2 * k * others / n_rows * np.exp(log_probability)
    return deviations


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


@final
@dataclass(frozen=True, eq=False)
class SamplingError:
    """Expected total variation distance between the real rows and as many drawn from them as a
    table has.
    """

    n_drawn: int
    """Rows of the sample."""
    deviations: FloatArray
    """As `deviations_with_replacement` gives them."""

    @classmethod
    def for_sizes(cls, size: float, drawn: float) -> Self:
        """Of so many drawn rows, or so much weight, out of all, with replacement: another sample of
        the same people.
        """
        n_rows = max(round(size), 1)
        n_drawn = max(round(drawn), 1)
        return cls(n_drawn, deviations_with_replacement(n_rows, n_drawn))

    def of_marginal(self, counts: NDArray[Any]) -> float:
        """Expected distance of one marginal with these real counts, which weights may break up."""
        whole = np.rint(counts).astype(np.int64)
        return 0.5 * float(self.deviations[whole].sum()) / self.n_drawn


def subsample_share(error: float, multiplicity: NDArray[np.int64], n_marginals: int) -> float:
    """Which share of the real rows, drawn without replacement, has that mean total variation
    distance.

    Parameters
    ----------
    error
        Mean distance over some marginals.
    multiplicity
        For each count ``0 .. n_rows`` how many cells of all these marginals hold so many real rows.
    n_marginals
        How many marginals there are.

    Returns
    -------
    float
        Above 0, at most 1; interpolated between whole numbers of rows.
    """
    n_rows = len(multiplicity) - 1

    def error_of(n_drawn: int) -> float:
        deviations = deviations_without_replacement(n_rows, n_drawn)
        return 0.5 * float(deviations @ multiplicity) / (n_drawn * n_marginals)

    low, high = 1, n_rows  # the error falls with the number of rows drawn, to nothing for all
    if error >= error_of(low):
        return low / n_rows
    # Bisection down to a two-hundredth of a per cent; between two neighbours the error is nearly
    # linear.
    while high - low > max(1, n_rows // 20_000):
        middle = (low + high) // 2
        if error_of(middle) >= error:
            low = middle
        else:
            high = middle
    error_of_low = error_of(low)
    error_of_high = error_of(high)
    step = 1.0
    if error_of_low > error_of_high:
        step = (error_of_low - error) / (error_of_low - error_of_high)
    return (low + (high - low) * min(max(step, 0.0), 1.0)) / n_rows


@final
@dataclass(frozen=True)
class Measured:
    """What is known of one noisy marginal: its columns with their numbers of levels, and the
    variance of a cell.
    """

    sizes: Mapping[str, int]
    variance: float

    @classmethod
    def of_measurements(cls, measurements: Iterable[LinearMeasurement]) -> list[Self]:
        """From measurements, merged levels counted once."""
        measured: list[Self] = []
        for each in measurements:
            if each.values.size:
                sizes = dict(zip(each.clique, each.values.shape, strict=True))
                measured.append(cls(sizes, float(each.variance.mean())))
        return measured

    @classmethod
    def of_events(cls, events: Iterable[Mapping[str, Any]], domain: Domain) -> list[Self]:
        """From the events of a certificate, as far as they are marginals of a domain's attributes."""
        names = set(domain.attributes)
        measured: list[Self] = []
        for event in events:
            if event.get("event") == "marginal" and names >= set(event["columns"]):
                sizes = {name: domain[name] for name in event["columns"]}
                measured.append(cls(sizes, float(event["sigma"]) ** 2))
        return measured


def noise_error(clique: Clique, measured: Sequence[Measured], n_rows: int) -> float:
    """Expected total variation distance that the noise on a marginal alone would cause; NaN if it
    was not measured.

    A marginal is measured if it lies in one that was: noise adds up where cells do. Of several the
    mean with inverse-variance weights is taken.

    >>> round(
    ...     noise_error(("a",), [Measured({"a": 4}, 25.0)], 100), 4
    ... )  # 4 x 5 x sqrt(2 / pi) / 2 / 100
    0.0798
    """
    wider = [each for each in measured if each.sizes.keys() >= set(clique)]
    if not wider:
        return float("nan")
    # Of merged levels there are fewer cells; the coarsest measurement says what all of them tell.
    n_cells = min(prod(each.sizes[name] for name in clique) for each in wider)
    # A cell of the clique is a sum of cells of the wider table, whose noises add up.
    precision = sum(n_cells / (prod(each.sizes.values()) * each.variance) for each in wider)
    # The mean of |x| of normal noise x of variance 1 is sqrt(2 / pi).
    mean_deviation = sqrt(2 / pi / precision)
    return min(0.5 * n_cells * mean_deviation / n_rows, 1.0)
