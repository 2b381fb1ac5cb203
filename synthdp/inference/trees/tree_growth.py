"""Growing a junction tree clique by clique: how large each of many candidates would make it."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import inf
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain
from synthdp.inference.trees.attribute_sets import AttributeSet, AttributeSets, Graph
from synthdp.inference.trees.junction_tree import JunctionTree
from synthdp.inference.trees.triangulation import (
    Triangulation,
    connected_parts,
    eliminate_within,
    peel,
    triangulate,
)

_Edges: TypeAlias = tuple[tuple[AttributeSet, AttributeSet], ...]
"""Attributes, and for each the set of its new neighbours."""

_MAX_REMEMBERED_SETS = 1 << 18
"""At 300 bytes a set, 80 MB."""


@final
class TreeGrowth:
    """The junction tree of some cliques, ready to say what one more clique would make of it.

    The tree is the one that `JunctionTree.covering` builds of the same cliques, however it was
    grown, without attributes of one level: they depend on no other and stand alone, as in what
    engines fit.

    Parameters
    ----------
    domain
        All attributes.
    cliques
        Cliques that the tree covers.

    >>> domain = Domain(("a", "b", "c", "d"), (2, 3, 4, 5))
    >>> growth = TreeGrowth(domain, [("a", "b"), ("b", "c")])
    >>> growth.n_cells(), growth.n_cells_with([("b",), ("a", "c"), ("c", "d")])
    (23, array([23., 29., 38.]))
    >>> growth.with_clique(("a", "c")).tree.cliques
    (('a', 'b', 'c'), ('d',))
    """

    def __init__(self, domain: Domain, cliques: Iterable[Clique] = ()) -> None:
        sets = AttributeSets(domain)
        self._start(sets, sets.graph(sets.of(clique) & sets.varying for clique in cliques), None)

    def _start(self, sets: AttributeSets, graph: Graph, before: Triangulation | None) -> None:
        self._sets, self._graph = sets, graph
        self._triangulation = triangulate(sets, graph, before=before)

    @property
    def domain(self) -> Domain:
        """All attributes."""
        return self._sets.domain

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree; the same object as before if an added clique changed nothing."""
        return JunctionTree.covering(self.domain, self.cliques)

    @property
    def cliques(self) -> tuple[Clique, ...]:
        """The cliques of the tree, in no particular order, known before the tree is built."""
        return tuple(map(self._sets.names, self._triangulation.cliques))

    def n_cells(self) -> int:
        """Number of cells of the tree, known before the tree is built."""
        return self._triangulation.n_cells

    def with_clique(self, clique: Clique) -> "TreeGrowth":
        """What is there when one more clique is covered; the same object if it adds no pair of
        attributes.
        """
        members = self._sets.of(clique) & self._sets.varying
        # A clique whose pairs are all there changes nothing, whatever else it is.
        added = self._missing(members)
        if not added:
            return self
        graph = dict(self._graph)
        for bit in self._sets.bits[members]:
            # Each member knows all others, and itself: sets of neighbours hold their own attribute.
            graph[bit] |= members
        # Not by the constructor: sets and the old triangulation are passed on.
        grown = TreeGrowth.__new__(TreeGrowth)
        grown._start(self._sets, graph, self._triangulation)
        if grown._triangulation.cliques == self._triangulation.cliques:
            # The same object, so that plans which others keep for a tree stay good.
            grown.tree = self.tree
        return grown

    def n_cells_with(
        self, candidates: Iterable[Clique], *, max_cells: float = inf
    ) -> NDArray[np.float64]:
        """For each candidate the number of cells of the tree if that clique alone were added.

        Parameters
        ----------
        candidates
            Cliques; thousands are fine.
        max_cells
            Sizes above this are not worked out: they are given as infinite.

        Returns
        -------
        array of float, one a candidate
            Exact up to 2^53.
        """
        # By the edges that a candidate adds: triples that share two known pairs add the same one.
        answers: dict[_Edges, float] = {(): _as_float(self.n_cells())}
        sizes: list[float] = []
        for candidate in candidates:
            added = self._missing(self._sets.of(candidate) & self._sets.varying)
            if added not in answers:
                self._sets.forget(above=_MAX_REMEMBERED_SETS)
                answers[added] = self._size_with(added, max_cells)
            sizes.append(answers[added])
        n_cells = np.array(sizes, dtype=np.float64)
        return np.where(n_cells <= max_cells, n_cells, np.inf)

    def _missing(self, members: int) -> _Edges:
        """The edges that a clique adds to the graph: attributes and their new neighbours."""
        graph = self._graph
        return tuple(
            (bit, members & ~graph[bit])
            for bit in self._sets.bits[members]
            if members & ~graph[bit]
        )

    def _size_with(self, added: _Edges, max_cells: float) -> float:
        """Number of cells with some edges more: only what they can change is triangulated anew."""
        sets = self._sets
        total = self._triangulation.n_cells
        # Only peeled attributes from which a new edge can be reached, and parts of the core that
        # these meet, can change. Everything else keeps its cells, and that is why thousands of
        # candidates are no trouble.
        raised, inside = self._reach(added)
        for bit in sets.bits[raised]:
            # All that may change is taken off, and counted anew below.
            total -= self._peeled_cells[bit]
        for members, n_cells in self._part_cells:
            if members & inside:
                total -= n_cells
        cliques = self._cliques_inside(added, raised, inside, max_cells)
        if cliques is None:
            return inf
        for clique in cliques:
            # Not maximal are those that an attribute peeled before has left.
            if not self._owners.get(clique, 0) & ~raised:
                total += sets.n_cells[clique]
        return _as_float(total)

    def _reach(self, added: _Edges) -> tuple[int, int]:
        """Peeled attributes that edges may bring into the core, and these with the parts they may
        change.
        """
        reached = 0
        for bit, _ in added:
            reached |= self._above[bit]
        raised = inside = reached & self._all_peeled
        for members, _ in self._part_cells:
            if members & reached:
                inside |= members
        return raised, inside

    def _cliques_inside(
        self, added: _Edges, raised: int, inside: int, max_cells: float
    ) -> set[int] | None:
        """Maximal cliques, but for boundaries outside, of the attributes that edges reach; None if
        too large.
        """
        sets = self._sets
        bits = self._sets.bits
        old_parts = self._triangulation.parts
        graph = {bit: self._graph[bit] & inside for bit in bits[inside]}
        for bit, others in added:
            graph[bit] |= others
        # Attributes that a new edge joins to a common neighbour close a triangle: these, and those
        # whose neighbours change, may be peeled now or no longer.
        suspects = raised
        for bit, others in added:
            for other in bits[others & -bit]:
                suspects |= graph[bit] & graph[other]
        peeled = peel(sets, graph, bits[suspects])
        cliques = {bit | boundary for bit, boundary in peeled.items()}
        for part in connected_parts(sets, graph):
            # A part that the edges leave as it was keeps its elimination: only changed ones are
            # eliminated anew.
            old = old_parts.get(next(iter(part)))
            eliminated = (
                old
                if old and old.graph == part
                else eliminate_within(sets, part, max_cells=max_cells)
            )
            if eliminated is None:
                return None
            cliques.update(eliminated.cliques)
        return cliques.difference(peeled.values())

    @cached_property
    def _all_peeled(self) -> int:
        return sum(self._triangulation.peeled)

    @cached_property
    def _above(self) -> dict[int, int]:
        """For each attribute it and those that follow it into the core: its neighbours when peeled,
        theirs, …
        """
        peeled = self._triangulation.peeled
        above = {bit: bit for bit in self._graph}
        # Backwards, so that what a neighbour reaches is known when it is asked for.
        for bit in reversed(peeled):
            for other in self._sets.bits[peeled[bit]]:
                above[bit] |= above[other]
        return above

    @cached_property
    def _owners(self) -> dict[int, int]:
        """For each set the peeled attributes whose neighbours it was: as a clique it is not
        maximal.
        """
        owners: dict[int, int] = {}
        for bit, boundary in self._triangulation.peeled.items():
            owners[boundary] = owners.get(boundary, 0) | bit
        return owners

    @cached_property
    def _peeled_cells(self) -> dict[int, int]:
        """Cells of the maximal clique that each peeled attribute leaves, 0 if it is not maximal."""
        return {
            bit: self._counted([bit | around]) for bit, around in self._triangulation.peeled.items()
        }

    @cached_property
    def _part_cells(self) -> list[tuple[int, int]]:
        """Members of each part of the core and the cells of its maximal cliques."""
        parts = self._triangulation.parts.values()
        return [(sum(part.graph), self._counted(part.cliques)) for part in parts]

    def _counted(self, cliques: Iterable[int]) -> int:
        return sum(self._sets.n_cells[clique] for clique in cliques if clique not in self._owners)


def _as_float(n_cells: int) -> float:
    """The number of cells, infinite where a float cannot hold it."""
    # Sizes are Python integers up to here: of hundreds of columns they exceed what a float holds.
    return float(n_cells) if n_cells.bit_length() < 1024 else inf


def small_growths(
    growth: TreeGrowth, candidates: Sequence[Clique], *, max_cells: float
) -> list[Clique]:
    """The candidates with which a junction tree stays within a limit, or does not grow.

    Parameters
    ----------
    growth
        The tree so far.
    candidates
        At least one clique; one of them will be added.
    max_cells
        Most cells of the tree. Where every candidate passes it, those are given that pass it least.

    >>> from synthdp.core.domain import Domain
    >>> growth = TreeGrowth(Domain(("a", "b", "c"), (2, 3, 4)))
    >>> small_growths(growth, [("a", "b"), ("b", "c"), ("a", "b", "c")], max_cells=14)
    [('a', 'b'), ('b', 'c')]
    >>> small_growths(growth, [("b", "c"), ("a", "b", "c")], max_cells=1)
    [('b', 'c')]
    """
    limit = max(max_cells, growth.n_cells())
    sizes = growth.n_cells_with(candidates, max_cells=limit)
    # Something has to be measured all the same: then what passes the limit least.
    if not (sizes < inf).any():
        sizes = growth.n_cells_with(candidates)
        limit = sizes.min()
    return [clique for clique, size in zip(candidates, sizes, strict=True) if size <= limit]
