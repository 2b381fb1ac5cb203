"""Numbers that mostly have one value: which of them have another one together?

Gains are 0 for nine in ten people and losses for nineteen, and nobody has both. In the pair of all
their levels that is some hundred records, spread over so many cells that noise hides them and
scores hardly move; in four cells, the usual value or another of each, they are plain to see.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import sqrt
from typing import final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.measurement import Coarsening, estimate_total
from synthdp.privacy.private_table import PrivateTable

_HEAVY = 0.5
"""Share of the records from which on a value is the usual one."""
_CLEAR = 1.0
"""Standard deviations of noise in the records that have another value of both, were the columns
independent. With less, that they exclude each other could not be told from chance.
"""


@final
class HeavyValues:
    """The pairs of ordered columns with a heavy value each, over that value and all others.

    Parameters
    ----------
    table
        The table; its columns are measured.
    pairs
        The pairs that may be measured.
    shares
        For each column about what share of the records each level has.
    rho
        What all pairs together may cost.

    Attributes
    ----------
    pairs
        What is to be measured: the pairs in which most records are expected beside both values, as
        many of them as noise allows. They follow from what is measured already.
    """

    def __init__(
        self,
        table: PrivateTable,
        pairs: Sequence[Clique],
        *,
        shares: Mapping[str, NDArray[np.float64]],
        rho: Fraction,
    ) -> None:
        domain = table.domain
        groups = {
            name: _usual_or_not(shares[name], domain.special.get(name, ()))
            for name in domain.attributes
            if name in domain.ordered and shares[name].max() >= _HEAVY
        }
        unusual = {name: float(shares[name][group == 1].sum()) for name, group in groups.items()}
        total = estimate_total(table.released)
        expected = {
            (left, right): total * unusual[left] * unusual[right]
            for left, right in pairs
            if left in groups and right in groups
        }
        largest = sorted(expected, key=lambda pair: (-expected[pair], pair))
        unit = table.ledger.unit
        self.pairs: list[Clique] = []
        for number, pair in enumerate(largest, start=1):
            # One pair more makes all of them noisier, and has fewer records itself.
            if expected[pair] < _CLEAR * sqrt(unit.sigma_squared(rho / number)):
                break
            self.pairs.append(pair)
        self._table = table
        self._groups = groups
        self._rho = rho

    def measure(self) -> None:
        """Measure the pairs, each for an equal part of ``rho``."""
        for pair in self.pairs:
            groups = Coarsening({name: self._groups[name] for name in pair})
            self._table.measure(pair, rho=self._rho / len(self.pairs), coarsening=groups)


def _usual_or_not(shares: NDArray[np.float64], special: Sequence[int]) -> NDArray[np.int64]:
    """The group of each level: 0 of the heaviest, 1 of all others but special ones, such as
    "missing", which have one each.
    """
    groups = np.ones(shares.size, dtype=np.int64)
    groups[list(special)] = 2 + np.arange(len(special))
    groups[int(np.argmax(shares))] = 0
    return np.unique(groups, return_inverse=True)[1]
