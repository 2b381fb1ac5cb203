"""Triangulation by greedy elimination: which cliques a junction tree needs for given marginals.

The triangulation is a function of the graph alone. Attributes whose neighbours all know each other
go first (nothing is lost by that), then each connected part of what is left, the core, is
eliminated by itself. So a change in one place leaves the answer elsewhere as it was.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, final

from synthdp.inference.trees.attribute_sets import AttributeSets, Graph

_POSITION_BITS = 20
"""Bits of a rank for the attribute's position: a million columns."""
_POSITIONS = (1 << _POSITION_BITS) - 1
_TIES = 24 + _POSITION_BITS
"""Ranks by fill leave these bits to the clique's weight (below 2^24 up to some thousand levels a
column and two thousand columns) and the attribute's position, which decide ties.
"""


class Component(NamedTuple):
    """A connected part of the core, and what eliminating it gives."""

    graph: Graph
    """The part, in the order of the domain."""
    cliques: tuple[int, ...]
    """Maximal cliques of its triangulation."""
    n_cells: int
    """Their number of cells together."""


@final
@dataclass(frozen=True, kw_only=True)
class Triangulation:
    """A triangulated graph."""

    peeled: dict[int, int]
    """For each attribute that is not in the core, in the order of elimination, its neighbours
    then.
    """
    parts: dict[int, Component]
    """The parts of the core, by their lowest attribute."""
    cliques: tuple[int, ...]
    """Maximal cliques of the whole, lowest first."""
    n_cells: int
    """Their number of cells together."""


def triangulate(
    sets: AttributeSets, graph: Graph, *, before: Triangulation | None = None
) -> Triangulation:
    """A triangulation of few cells; parts of the core that are as in a ``before`` one are taken
    from there.
    """
    # A copy: peeling takes attributes out.
    core = dict(graph)
    peeled = peel(sets, core, graph)
    eliminated = {}
    for part in connected_parts(sets, core):
        first = next(iter(part))
        # Adding one clique changes one part of the core; the others' eliminations are taken over,
        # which is what makes growing a tree clique by clique quick.
        old = before.parts.get(first) if before else None
        eliminated[first] = old if old and old.graph == part else eliminate(sets, part)
    # Peeled attributes fill nothing in, whatever the order, so their cliques are final.
    cliques = {bit | boundary for bit, boundary in peeled.items()}
    cliques.update(*(part.cliques for part in eliminated.values()))
    # A clique that is all of what a peeled attribute left behind is inside of that one's.
    kept = tuple(sorted(cliques.difference(peeled.values())))
    n_cells = sum(sets.n_cells[clique] for clique in kept)
    return Triangulation(peeled=peeled, parts=eliminated, cliques=kept, n_cells=n_cells)


def peel(sets: AttributeSets, graph: Graph, suspects: Iterable[int]) -> dict[int, int]:
    """Take attributes whose neighbours all know each other out of a graph, as long as there are
    any.

    Parameters
    ----------
    sets
        What the sets of attributes stand for.
    graph
        Is changed; what stays in it does not depend on the order of taking out.
    suspects
        At least all that can be taken out at once; those that follow from them are found.

    Returns
    -------
    dict of int to int
        For each one taken out, in order, its neighbours then.
    """
    bits = sets.bits
    boundaries = {}
    waiting = 0
    for bit in suspects:
        waiting |= bit
    while waiting:
        # The lowest bit: a fixed order, so that the same graph gives the same tree.
        chosen = waiting & -waiting
        waiting ^= chosen
        members = graph[chosen]
        for bit in bits[members]:
            if members & ~graph[bit]:
                break
        else:
            del graph[chosen]
            boundaries[chosen] = boundary = members ^ chosen
            for bit in bits[boundary]:
                graph[bit] ^= chosen
            # Only neighbours of what was taken out can have become simplicial.
            waiting |= boundary
    return boundaries


def connected_parts(sets: AttributeSets, graph: Graph) -> list[Graph]:
    """The connected parts of a graph, each in the order of the domain."""
    parts, seen = [], 0
    for start in graph:
        if not start & seen:
            members, new = 0, start
            while new:
                members |= new
                reached = 0
                for bit in sets.bits[new]:
                    reached |= graph[bit]
                new = reached & ~members
            seen |= members
            parts.append({bit: graph[bit] for bit in sets.bits[members]})
    return parts


def eliminate(sets: AttributeSets, graph: Graph) -> Component:
    """The better one of two greedy eliminations of a connected graph.

    They are by least fill and by smallest clique: both are standard, neither is always better
    [Koller & Friedman 2009, sec. 9.4.3].
    """
    # Without a limit it never gives up.
    part = eliminate_within(sets, graph, max_cells=inf)
    assert part is not None
    return part


def eliminate_within(sets: AttributeSets, graph: Graph, *, max_cells: float) -> Component | None:
    """The same; None, and sooner, if it has more cells than allowed."""
    by_fill = _eliminate_by_fill(sets, graph, max_cells)
    # The second way need only be tried as long as it is better than the first.
    most = max_cells if by_fill is None else by_fill.n_cells - 1
    return _eliminate_by_size(sets, graph, most) or by_fill


def _eliminate_by_fill(sets: AttributeSets, whole: Graph, max_cells: float) -> Component | None:
    """Least weight of the edges to add first, then smallest clique, then first in the domain."""
    bits = sets.bits
    weight = sets.weight
    graph = dict(whole)
    fills = {bit: _fill(sets, graph, bit, 0) for bit in graph}
    # One integer a rank: the smallest of a dictionary of integers is quicker than of tuples, and
    # ties are settled in it.
    ranks = {bit: _rank(fill, weight[graph[bit]], bit) for bit, fill in fills.items()}
    kept = _Kept(sets, whole, max_cells)
    while ranks:
        chosen = 1 << (min(ranks.values()) & _POSITIONS)
        fill = fills.pop(chosen)
        members = graph.pop(chosen)
        del ranks[chosen]
        boundary = members ^ chosen
        if not kept.add(members, boundary):
            return None
        neighbours = bits[boundary]
        # Its neighbours all know each other: eliminating it adds no edge, and what others would
        # have to fill in only shrinks.
        if not fill:
            cost = weight[chosen]
            for bit in neighbours:
                fills[bit] -= cost * weight[graph[bit] & ~members]
                graph[bit] ^= chosen
                ranks[bit] = _rank(fills[bit], weight[graph[bit]], bit)
            continue
        for bit in neighbours:
            # An edge that is new spares all who know both its ends from adding it.
            for other in bits[boundary & ~graph[bit] & -bit]:
                saved = weight[bit] * weight[other]
                # Updated in place of working out all fills again.
                for observer in bits[graph[bit] & graph[other] & ~members]:
                    fills[observer] -= saved
                    ranks[observer] -= saved << _TIES
        for bit in neighbours:
            graph[bit] = (graph[bit] | boundary) & ~chosen
        for bit in neighbours:
            fills[bit] = fill = _fill(sets, graph, bit, boundary)
            ranks[bit] = _rank(fill, weight[graph[bit]], bit)
    return kept.part()


def _fill(sets: AttributeSets, graph: Graph, bit: int, clique: int) -> int:
    """Weight of the edges that eliminating an attribute would add; it is in the clique, if that is
    not empty.
    """
    weight = sets.weight
    members = graph[bit]
    total = 0
    for other in sets.bits[members & ~clique]:
        unknown = ~graph[other]
        if members & unknown:
            # Edges into the clique are met at one end only, the others at both.
            total += weight[other] * (weight[members & unknown] + weight[clique & unknown])
    # Both ends count each edge.
    return total >> 1


def _rank(fill: int, size: int, bit: int) -> int:
    """A number that orders attributes by fill, then by the clique's size, then by position."""
    return (fill << _TIES) + (size << _POSITION_BITS) + bit.bit_length() - 1


def _eliminate_by_size(sets: AttributeSets, whole: Graph, max_cells: float) -> Component | None:
    """Fewest cells of the clique that elimination forms first, then first in the domain."""
    bits = sets.bits
    n_cells = sets.n_cells
    graph = dict(whole)
    costs = {bit: n_cells[members] for bit, members in graph.items()}
    kept = _Kept(sets, whole, max_cells)
    while costs:
        # Ties go to the first in the domain, as dictionaries keep their order.
        chosen = min(costs, key=costs.__getitem__)
        del costs[chosen]
        members = graph.pop(chosen)
        boundary = members ^ chosen
        if not kept.add(members, boundary):
            return None
        for bit in bits[boundary]:
            graph[bit] = joined = (graph[bit] | boundary) & ~chosen
            costs[bit] = n_cells[joined]
    return kept.part()


@final
class _Kept:
    """Maximal ones among the cliques of an elimination, as long as they have few cells together."""

    def __init__(self, sets: AttributeSets, graph: Graph, max_cells: float) -> None:
        self._graph = graph
        self._n_cells = sets.n_cells
        self._max_cells = max_cells
        self._total = 0
        self._cliques: list[int] = []
        self._boundaries: set[int] = set()

    def add(self, members: int, boundary: int) -> bool:
        """Take the next clique and its neighbours; whether the cells are still few enough."""
        # A clique that is not maximal is all that an earlier one left behind.
        # Cells are counted as cliques come, so that a hopeless elimination ends early.
        if members not in self._boundaries:
            self._cliques.append(members)
            self._total += self._n_cells[members]
        self._boundaries.add(boundary)
        return self._total <= self._max_cells

    def part(self) -> Component:
        """What was kept."""
        return Component(graph=self._graph, cliques=tuple(self._cliques), n_cells=self._total)
