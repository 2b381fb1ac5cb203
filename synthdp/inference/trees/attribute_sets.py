"""Sets of attributes as integers, and graphs of them.

A mechanism triangulates thousands of graphs and plans hundreds of queries in a round; sets of
names would take longer than the products.
"""

from collections.abc import Callable, Iterable, Mapping
from math import log
from operator import add, mul
from typing import TypeAlias, final

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain

AttributeSet: TypeAlias = int
"""Attributes as a bit mask: bit ``i`` is the attribute at position ``i`` of the domain."""

Graph: TypeAlias = dict[AttributeSet, AttributeSet]
"""For the bit of each attribute the set of the attribute and its neighbours."""


@final
class AttributeSets:
    """Sets of a domain's attributes as integers, with what elimination asks about them remembered.

    Parameters
    ----------
    domain
        The attributes; attribute ``i`` is bit ``1 << i``.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._bit_of = {name: 1 << i for i, name in enumerate(domain.attributes)}
        self._sizes = {1 << i: size for i, size in enumerate(domain.shape)}
        # Whole numbers, so that no sum depends on its order; 0 would make an edge free to add.
        self._weights = {bit: max(1, round(1000 * log(size))) for bit, size in self._sizes.items()}
        self.varying = sum(bit for bit, size in self._sizes.items() if size > 1)
        """The attributes of two levels or more: one of a single level depends on no other."""
        self._remember_nothing()

    def _remember_nothing(self) -> None:
        self.bits = _Bits()
        self.positions = _Positions()
        self.n_cells = Folded(self._sizes, mul, 1)
        self.weight = Folded(self._weights, add, 0)

    def of(self, clique: Iterable[str]) -> AttributeSet:
        """The set of some names; raises `ParameterError` for one that is not in the domain."""
        members = 0
        for name in clique:
            members |= self._bit_of.get(name) or 1 << self.domain.index(name)
        return members

    def names(self, members: AttributeSet) -> Clique:
        """The names of a set, in the order of the domain."""
        return tuple(self.domain.attributes[position] for position in self.positions[members])

    def graph(self, cliques: Iterable[AttributeSet]) -> Graph:
        """Which attributes share a clique; every attribute of the domain is in it."""
        graph = {bit: bit for bit in self._sizes}
        for clique in cliques:
            for bit in self.bits[clique]:
                graph[bit] |= clique
        return graph

    def forget(self, *, above: int) -> None:
        """Forget all sets if more than ``above`` are remembered, about 300 bytes each."""
        if len(self.weight) + len(self.bits) + len(self.positions) > above:
            self._remember_nothing()


@final
class _Bits(dict[AttributeSet, tuple[AttributeSet, ...]]):
    """The members of a set as sets of one, lowest bit first."""

    def __missing__(self, members: AttributeSet) -> tuple[AttributeSet, ...]:
        single, rest = [], members
        while rest:
            single.append(rest & -rest)
            rest &= rest - 1
        self[members] = bits = tuple(single)
        return bits


@final
class _Positions(dict[AttributeSet, tuple[int, ...]]):
    """The members of a set as positions in the domain, in its order."""

    def __missing__(self, members: AttributeSet) -> tuple[int, ...]:
        numbers, rest = [], members
        while rest:
            numbers.append((rest & -rest).bit_length() - 1)
            rest &= rest - 1
        self[members] = positions = tuple(numbers)
        return positions


@final
class Folded(dict[AttributeSet, int]):
    """A number that each member has, joined over the members of a set: the sum of weights, the
    product of sizes.

    Parameters
    ----------
    values
        The number of each attribute, by its set of one.
    fold
        Joins two numbers.
    start
        The number of the empty set.
    """

    def __init__(
        self, values: Mapping[AttributeSet, int], fold: Callable[[int, int], int], start: int
    ) -> None:
        super().__init__()
        self._values = values
        self._fold = fold
        self._start = start

    def __missing__(self, members: AttributeSet) -> int:
        rest = members & (members - 1)
        folded = self.get(rest)
        if folded is not None:  # often the set less its lowest member is known
            folded = self._fold(folded, self._values[members ^ rest])
        else:
            folded = self._start
            rest = members
            while rest:
                folded = self._fold(folded, self._values[rest & -rest])
                rest &= rest - 1
        self[members] = folded
        return folded
