"""Junction trees: the cliques of a triangulated graph, joined so that separators separate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, final

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.core.errors import ParameterError
from synthdp.inference.trees.attribute_sets import AttributeSets
from synthdp.inference.trees.triangulation import triangulate

BYTES_A_CELL = 32
"""What a fit keeps for each cell of the tree: potentials, beliefs, gradient and a copy, 8 bytes
each.
"""


@final
@dataclass(frozen=True)
class JunctionTree:
    """A rooted tree of cliques with the running-intersection property.

    Disconnected parts hang together by empty separators, so a tree always is one tree.
    """

    domain: Domain
    """All attributes; each is in at least one clique."""
    cliques: tuple[Clique, ...]
    """Maximal cliques in the order of a walk from the root: parents come before children.
    Members are in the order of the domain.
    """
    parents: tuple[int, ...]
    """For each clique the position of its parent; the root, at position 0, has -1."""

    @classmethod
    def covering(cls, domain: Domain, cliques: Iterable[Clique]) -> Self:
        """A tree in which each of the given cliques is contained in some clique of the tree.

        >>> domain = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
        >>> JunctionTree.covering(domain, [("a", "b"), ("b", "c"), ("c", "a")]).cliques
        (('a', 'b', 'c'), ('d',))
        """
        if len(domain) == 0:
            raise ParameterError("domain: it has no attributes; a junction tree needs at least one")
        sets = AttributeSets(domain)
        return cls._joining(sets, triangulate(sets, sets.graph(map(sets.of, cliques))).cliques)

    @classmethod
    def from_cliques(cls, domain: Domain, cliques: Sequence[Clique]) -> Self:
        """The tree of cliques that are the maximal cliques of a tree already; their order is kept
        if it can be.

        Raises
        ------
        ParameterError
            If they are not the maximal cliques of a triangulated graph over all attributes.
        """
        sets = AttributeSets(domain)
        if {name for clique in cliques for name in clique} == set(domain.attributes):
            tree = cls._joining(sets, [sets.of(clique) for clique in cliques])
            # Each attribute's cliques hang together if and only if it is in one separator less than
            # cliques.
            # Counting proves the running intersection: each attribute's cliques make a forest with
            # one edge fewer than nodes exactly if they hang together.
            surplus = sum(map(len, tree.cliques)) - sum(map(len, tree.separators))
            if surplus == len(domain) and len(maximal_cliques(tree.cliques)) == len(cliques):
                return tree
        raise ParameterError(
            "cliques: they are not the maximal cliques of a triangulated graph over the domain"
        )

    @classmethod
    def _joining(cls, sets: AttributeSets, members: Sequence[int]) -> Self:
        order, parents = _maximum_spanning_tree(members)
        return cls(sets.domain, tuple(sets.names(members[i]) for i in order), tuple(parents))

    @cached_property
    def separators(self) -> tuple[Clique, ...]:
        """What each clique shares with its parent, in the order of the domain (root: nothing)."""
        separators: list[Clique] = []
        for clique, parent in zip(self.cliques, self.parents, strict=True):
            shared = set(clique) & set(self.cliques[parent]) if parent >= 0 else set()
            separators.append(tuple(name for name in clique if name in shared))
        return tuple(separators)

    def n_cells(self) -> int:
        """Number of cells of all cliques together."""
        return sum(self.domain.size(clique) for clique in self.cliques)

    def position_of(self, clique: Iterable[str]) -> int | None:
        """Position of the smallest tree clique that contains ``clique``, if one does."""
        members = set(clique)
        holders = [i for i, candidate in enumerate(self.cliques) if members <= set(candidate)]
        return min(holders, key=lambda i: self.domain.size(self.cliques[i]), default=None)


def fit_bytes(n_cells: float) -> float:
    """Memory that fitting a graphical model on a tree of so many cells takes, in bytes.

    It is known before any of it is taken. The fit adds 16 bytes for each measured cell and iterate
    that its driver remembers, which does not depend on the tree.
    """
    return BYTES_A_CELL * n_cells


def _maximum_spanning_tree(members: Sequence[int]) -> tuple[list[int], list[int]]:
    """Prim's algorithm on the numbers of shared attributes: the order of joining, and parents in
    it.

    A maximum spanning tree over the maximal cliques of a triangulated graph has the running-
    intersection property [Jensen & Jensen 1994]. scipy's takes as long for a hundred cliques, and
    ten times as long for ten; networkx's takes more than ten times as long for either.
    """
    order = [0]
    parents = [-1]
    shared = {i: (members[i] & members[0]).bit_count() for i in range(1, len(members))}
    nearest = dict.fromkeys(shared, 0)
    while shared:
        joined = max(shared, key=shared.__getitem__)
        del shared[joined]
        parents.append(nearest[joined])
        order.append(joined)
        new = members[joined]
        for i, most in shared.items():
            common = (members[i] & new).bit_count()
            if common > most:
                shared[i] = common
                nearest[i] = len(order) - 1
    return order, parents
