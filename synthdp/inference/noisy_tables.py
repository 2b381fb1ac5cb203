"""What measurements say about any marginal: best linear estimates, one for each resolution (merging
of levels) that was measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, subsets
from synthdp.core.domain import Domain
from synthdp.core.measurement import Coarsening, LinearMeasurement, combined_measurements
from synthdp.inference.arrays import Array
from synthdp.inference.projection import projected
from synthdp.inference.summation import marginal_inside

Groups = Mapping[str, NDArray[np.int64]]
_NONE = Coarsening({})


class LinearEstimate(NamedTuple):
    """Best linear unbiased estimate of a marginal at one resolution, with the variance of each
    cell.

    ``counts`` and ``variance`` are over the merged levels of ``coarsening``.
    """

    counts: Array
    variance: Array
    coarsening: Coarsening


@final
class NoisyTables:
    """Best linear estimates of marginals from measurements at several resolutions; ``len`` is above
    the number of every resolution.

    Parameters
    ----------
    domain
        All attributes.
    measurements
        Noisy marginals, of merged levels or not.
    cliques
        Whose estimates will be asked for, in the order of the domain.
    total
        Number of records.
    max_whole
        Attributes of a measured clique up to which any part of it may be asked for. The parts of
        wider ones are looked for among ``cliques``.
    """

    def __init__(
        self,
        domain: Domain,
        measurements: Sequence[LinearMeasurement],
        cliques: Sequence[Clique],
        *,
        total: float,
        max_whole: int,
    ) -> None:
        resolutions: list[_Resolution] = []
        for measurement in measurements:
            # Measurements that merge alike can be combined in closed form; others only one after
            # the other, as priors of each other.
            home = next((each for each in resolutions if each.suits(measurement)), None)
            if home is None:
                home = _Resolution()
                resolutions.append(home)
            home.add(measurement)
        self._resolutions = [
            _ResolutionEstimates(each, domain, cliques, total=total, max_whole=max_whole)
            for each in resolutions
        ]

    def __len__(self) -> int:
        return len(self._resolutions)

    def estimates(self, clique: Clique) -> dict[int, LinearEstimate]:
        """Estimates of a marginal by number, from coarse to fine; the one over all levels has the
        last number of all.

        Resolutions that merge the clique's levels alike are averaged.
        """
        merged: list[LinearEstimate] = []
        whole: LinearEstimate | None = None
        for estimate in self._distinct(clique):
            if estimate.coarsening.groups.keys() & set(clique):
                merged.append(estimate)
            else:
                whole = estimate
        # By cells: the coarsest says least in all, and most reliably.
        merged.sort(key=lambda estimate: estimate.counts.size)
        by_number = dict(enumerate(merged))
        if whole is not None:
            # The last number for all cliques alike, so that layers are worked off together.
            by_number[len(self) - 1] = whole
        return by_number

    def _distinct(self, clique: Clique) -> list[LinearEstimate]:
        """One estimate for each way in which the levels of a clique are merged."""
        distinct: list[LinearEstimate] = []
        for resolution in self._resolutions:
            estimate = resolution.estimate(clique)
            if estimate is None:
                continue
            for i, other in enumerate(distinct):
                if _alike(clique, other.coarsening.groups, estimate.coarsening.groups):
                    distinct[i] = _averaged(other, estimate)
                    break
            else:
                distinct.append(estimate)
        return distinct


@dataclass(frozen=True)
class _Resolution:
    """Measurements that merge the levels of each attribute in one way."""

    attributes: set[str] = field(default_factory=set)
    merged: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    measurements: list[LinearMeasurement] = field(default_factory=list)

    def suits(self, measurement: LinearMeasurement) -> bool:
        """Whether a measurement merges the attributes that it shares with the others as they do."""
        shared = [name for name in measurement.clique if name in self.attributes]
        # Measurements without merged levels stay together, whatever attributes they have.
        return bool(self.merged) == bool(measurement.groups) and _alike(
            shared, self.merged, measurement.groups
        )

    def add(self, measurement: LinearMeasurement) -> None:
        self.attributes.update(measurement.clique)
        self.merged.update(measurement.groups)
        self.measurements.append(
            LinearMeasurement(measurement.clique, measurement.values, measurement.stddev)
        )


@final
class _ResolutionEstimates:
    """Best linear estimates from the measurements of one resolution."""

    def __init__(
        self,
        resolution: _Resolution,
        domain: Domain,
        cliques: Sequence[Clique],
        *,
        total: float,
        max_whole: int,
    ) -> None:
        self._coarsening = Coarsening(resolution.merged) if resolution.merged else _NONE
        domain = self._coarsening.domain(domain)
        measurements = combined_measurements(domain, resolution.measurements)
        # After it all measurements of a resolution say the same of what they share.
        self._noisy = projected(measurements, total)
        self._precision: dict[Clique, float] = {}
        self._homes: dict[Clique, tuple[float, Clique]] = {}
        needed = set(cliques)
        for measurement in measurements:
            clique = measurement.clique
            # Summed down, a count has the noise of all cells that fall together.
            precision = 1.0 / (float(measurement.variance.mean()) * measurement.values.size)
            # A clique of twelve has four thousand subsets; then those that are asked for are looked
            # at.
            for part in subsets(clique) if len(clique) <= max_whole else cliques:
                if part not in needed or not set(part) <= set(clique):
                    continue
                part_precision = precision * domain.size(part)
                self._precision[part] = self._precision.get(part, 0.0) + part_precision
                # All homes agree on the part itself; the most precise also agrees best on what lies
                # above.
                self._homes[part] = max(self._homes.get(part, (0.0, ())), (precision, clique))

    def estimate(self, clique: Clique) -> LinearEstimate | None:
        """The estimate by all measurements that hold a clique; None if there is none."""
        if clique not in self._homes:
            return None
        home = self._homes[clique][1]
        counts = marginal_inside(self._noisy[home], home, clique)
        variance = np.full(counts.shape, 1.0 / self._precision[clique])
        return LinearEstimate(counts, variance, self._coarsening)


def _alike(names: Sequence[str], left: Groups, right: Groups) -> bool:
    """Whether the levels of some attributes are merged in the same way."""
    both = [(left.get(name), right.get(name)) for name in names]
    return all(
        a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in both
    )


def _averaged(left: LinearEstimate, right: LinearEstimate) -> LinearEstimate:
    """The inverse-variance average of two estimates at the same resolution."""
    precision = 1.0 / left.variance + 1.0 / right.variance
    counts = (left.counts / left.variance + right.counts / right.variance) / precision
    return LinearEstimate(counts, 1.0 / precision, right.coarsening)
