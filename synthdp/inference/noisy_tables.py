"""What measurements say about any marginal: best linear estimates, for each merging of levels that
was measured.
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


class Told(NamedTuple):
    """Noisy counts of a marginal over merged levels, and their variance, one for each cell; and
    what is merged.
    """

    counts: Array
    variance: Array
    coarsening: Coarsening


@final
class NoisyTables:
    """What measurements say, each of its own merging of levels; ``len`` is above all numbers of
    `told`.

    Parameters
    ----------
    domain
        All attributes.
    measurements
        Noisy marginals, of merged levels or not.
    cliques
        What will be asked for, in the order of the domain.
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
        families: list[_Family] = []
        for measurement in measurements:
            home = next((family for family in families if family.suits(measurement)), None)
            if home is None:
                families.append(home := _Family())
            home.add(measurement)
        self._families = [
            _Estimates(family, domain, cliques, total=total, max_whole=max_whole)
            for family in families
        ]

    def __len__(self) -> int:
        return len(self._families)

    def told(self, clique: Clique) -> dict[int, Told]:
        """What is told of a clique, by number: merged levels from coarse to fine, and all levels as
        the last number.

        What is told over equal mergings is averaged.
        """
        found: list[Told] = []
        for family in self._families:
            if (told := family.of(clique)) is None:
                continue
            for place, known in enumerate(found):
                if _alike(clique, known.coarsening.groups, told.coarsening.groups):
                    found[place] = _averaged(known, told)
                    break
            else:
                found.append(told)
        merged = [told for told in found if told.coarsening.groups.keys() & set(clique)]
        whole = {
            len(self) - 1: told for told in found if not told.coarsening.groups.keys() & set(clique)
        }
        return dict(enumerate(sorted(merged, key=lambda told: told.counts.size))) | whole


@dataclass(frozen=True)
class _Family:
    """Measurements that merge the levels of each attribute in one way."""

    attributes: set[str] = field(default_factory=set)
    merged: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    measurements: list[LinearMeasurement] = field(default_factory=list)

    def suits(self, measurement: LinearMeasurement) -> bool:
        shared = [name for name in measurement.clique if name in self.attributes]
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
class _Estimates:
    """Best linear estimates from one family."""

    def __init__(
        self,
        family: _Family,
        domain: Domain,
        cliques: Sequence[Clique],
        *,
        total: float,
        max_whole: int,
    ) -> None:
        self._coarsening = Coarsening(family.merged) if family.merged else _NONE
        domain = self._coarsening.domain(domain)
        measurements = combined_measurements(domain, family.measurements)
        self._noisy = projected(measurements, total)
        self._precision: dict[Clique, float] = {}
        self._homes: dict[Clique, tuple[float, Clique]] = {}
        wanted = set(cliques)
        for measurement in measurements:
            # Summed down, a count has the noise of all cells that fall together.
            precision = 1.0 / (float(measurement.variance.mean()) * measurement.values.size)
            for part in (
                subsets(measurement.clique) if len(measurement.clique) <= max_whole else cliques
            ):
                if part in wanted and set(part) <= set(measurement.clique):
                    self._precision[part] = self._precision.get(
                        part, 0.0
                    ) + precision * domain.size(part)
                    self._homes[part] = max(
                        self._homes.get(part, (0.0, ())), (precision, measurement.clique)
                    )

    def of(self, clique: Clique) -> Told | None:
        """Counts and their variance by all measurements that show a clique; None if there is none."""
        if clique not in self._homes:
            return None
        home = self._homes[clique][1]
        counts = marginal_inside(self._noisy[home], home, clique)
        return Told(counts, np.full(counts.shape, 1.0 / self._precision[clique]), self._coarsening)


def _alike(names: Sequence[str], left: Groups, right: Groups) -> bool:
    """Whether the levels of some attributes are merged in the same way."""
    both = [(left.get(name), right.get(name)) for name in names]
    return all(
        a is b or (a is not None and b is not None and np.array_equal(a, b)) for a, b in both
    )


def _averaged(left: Told, right: Told) -> Told:
    precision = 1.0 / left.variance + 1.0 / right.variance
    counts = (left.counts / left.variance + right.counts / right.variance) / precision
    return Told(counts, 1.0 / precision, right.coarsening)
