"""Numbers that mostly have one value: which of them are away from it in the same records?

Gains are 0 for nine in ten people and losses for nineteen in twenty, and nobody has both. By chance
some hundred records would, spread over so many cells of the pair that noise hides whether they are
there and scores hardly move. In four cells, the usual value or another of each, it is plain to see.
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
_CLEAR = 1.5
"""Standard deviations of noise in the records that have another value of both, were the columns
independent. With less, that they exclude each other could not be told from noise.
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
        What is to be measured: the pairs in which most records are expected with neither usual
        value, as many of them as noise allows. They follow from what is measured already.
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
        others = {
            name: _others(shares[name], domain.special.get(name, ()))
            for name in domain.attributes
            if name in domain.ordered and shares[name].max() >= _HEAVY
        }
        # One other value needs no merging: the pair is as small by itself, and is scored as it is.
        self._others = {name: levels for name, levels in others.items() if levels.sum() > 1}
        unusual = {name: float(shares[name][levels].sum()) for name, levels in self._others.items()}
        total = estimate_total(table.released)
        expected = {
            (left, right): total * unusual[left] * unusual[right]
            for left, right in pairs
            if left in unusual and right in unusual
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
        self._rho = rho

    def measure(self) -> None:
        """Measure the pairs, each for an equal part of ``rho``."""
        for pair in self.pairs:
            groups = Coarsening({name: _merged(self._others[name]) for name in pair})
            self._table.measure(pair, rho=self._rho / len(self.pairs), coarsening=groups)


def _others(shares: NDArray[np.float64], special: Sequence[int]) -> NDArray[np.bool_]:
    """Which levels are other values than the usual one; special ones, such as "missing", are none.

    >>> _others(np.array([0.1, 0.6, 0.1, 0.2]), special=[3])
    array([ True, False,  True, False])
    """
    others = np.ones(shares.size, dtype=np.bool_)
    others[[int(np.argmax(shares)), *special]] = False
    return others


def _merged(others: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The group of each level: one of all other values, and one of each level that is none.

    >>> _merged(np.array([True, False, True, False]))
    array([0, 1, 0, 2])
    """
    return np.where(others, 0, np.cumsum(~others))
