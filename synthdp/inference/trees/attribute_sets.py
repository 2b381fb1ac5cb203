"""Sets of attributes as integers, and graphs of them: quick enough to triangulate thousands of graphs."""

from collections.abc import Callable, Iterable, Mapping
from math import log
from operator import add, mul
from typing import TypeAlias, final

from synthdp.cliques import Clique
from synthdp.domain import Domain

Graph: TypeAlias = dict[int, int]
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
        self._remember_nothing()

    def _remember_nothing(self) -> None:
        self.bits = _Members()
        self.n_cells = _Folded(self._sizes, mul, 1)
        self.weight = _Folded(self._weights, add, 0)

    def of(self, clique: Iterable[str]) -> int:
        """The set of some names; raises `ParameterError` for one that is not in the domain."""
        members = 0
        for name in clique:
            members |= self._bit_of.get(name) or 1 << self.domain.index(name)
        return members

    def names(self, members: int) -> Clique:
        """The names of a set, in the order of the domain."""
        return tuple(self.domain.attributes[bit.bit_length() - 1] for bit in self.bits[members])

    def graph(self, cliques: Iterable[int]) -> Graph:
        """Which attributes share a clique; every attribute of the domain is in it."""
        graph = {bit: bit for bit in self._sizes}
        for clique in cliques:
            for bit in self.bits[clique]:
                graph[bit] |= clique
        return graph

    def forget(self, *, above: int) -> None:
        """Forget all sets if more than ``above`` are remembered, about 300 bytes each."""
        if len(self.weight) + len(self.bits) > above:
            self._remember_nothing()


@final
class _Members(dict[int, tuple[int, ...]]):
    """The bits of a set, lowest first."""

    def __missing__(self, members: int) -> tuple[int, ...]:
        found, rest = [], members
        while rest:
            found.append(rest & -rest)
            rest &= rest - 1
        self[members] = bits = tuple(found)
        return bits


@final
class _Folded(dict[int, int]):
    """Sum or product of a number that each member has: weights, or levels."""

    def __init__(self, values: Mapping[int, int], fold: Callable[[int, int], int], start: int) -> None:
        super().__init__()
        self._values, self._fold, self._start = values, fold, start

    def __missing__(self, members: int) -> int:
        folded, rest = self._start, members
        while rest:
            folded = self._fold(folded, self._values[rest & -rest])
            rest &= rest - 1
        self[members] = folded
        return folded
