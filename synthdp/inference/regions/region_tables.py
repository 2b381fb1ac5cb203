"""A junction tree made of some regions of a region graph: what a full model of the rows can start
from.

Of all trees that can be grown region by region, each new one hanging by what it shares with a
clique of the tree, the greedy choice takes most information first. For pairs of attributes that
is the maximum-spanning tree of mutual information [Chow & Liu 1968].
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple, final

import numpy as np

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain
from synthdp.inference.arrays import Array
from synthdp.inference.summation import marginal_inside
from synthdp.inference.trees.junction_tree import JunctionTree

_Members = frozenset[str]

ROUNDING = 1e-12
"""In nats: gains that differ by less are equal, and the first one is taken, whatever the order of
sums.
"""


@final
class RegionTables:
    """Marginals of the regions, and of all that they contain.

    Parameters
    ----------
    domain
        All attributes.
    tables
        For each region, in the order of the domain, its table, summing to 1.
    """

    def __init__(self, domain: Domain, tables: Mapping[Clique, Array]) -> None:
        self.domain = domain
        self.tables = tables
        self._members = {region: frozenset(region) for region in tables}
        self._by_size = sorted(tables, key=domain.size)
        self._with_name = {
            name: [region for region in self._by_size if name in region]
            for name in domain.attributes
        }
        self._entropies: dict[_Members, float] = {frozenset(): 0.0}
        # An attribute of one level says nothing, so every region holds what it does.
        self._of_one_level = frozenset(
            name for name in domain.attributes if domain.size((name,)) == 1
        )

    def home(self, clique: Iterable[str]) -> Clique | None:
        """The region with fewest cells that contains a clique, attributes of one level aside, if
        one does.
        """
        wanted = frozenset(clique) - self._of_one_level
        regions = self._with_name[next(iter(wanted))] if wanted else self._by_size
        return next((region for region in regions if wanted <= self._members[region]), None)

    def parts(self, clique: Clique) -> dict[Clique, Clique]:
        """The largest parts of a clique that are inside some region, small ones first, and the home
        of each.

        Attributes keep their order in the clique.
        """
        shared: dict[Clique, Clique] = {}
        for name in clique:
            for region in self._with_name[name]:
                shared[region] = (*shared.get(region, ()), name)
        homes: dict[Clique, Clique] = {}
        for region, part in shared.items():
            # The same part in several regions is read off the smallest.
            homes[part] = min(homes.get(part, region), region, key=self.domain.size)
        inside = sorted(
            maximal_cliques(homes),
            key=lambda part: (self.domain.size(part), self.domain.canonical(part)),
        )
        return {part: homes[part] for part in inside}

    def marginal(self, home: Clique, clique: Clique) -> Array:
        """The marginal of a clique inside a region, axes in the order of ``clique``; those of one
        level need not be in the region.
        """
        inside = [name for name in clique if name in self._members[home]]
        kept = [name for name in home if name in inside]
        table = marginal_inside(self.tables[home], home, tuple(inside))
        table = np.transpose(table, [kept.index(name) for name in inside])
        return np.asarray(table).reshape(self.domain.project(clique).shape)

    def entropy(self, members: _Members, home: Clique) -> float:
        """Entropy in nats of a clique inside a region."""
        if members not in self._entropies:
            shares = self.marginal(home, self.domain.canonical(members)).ravel()
            shares = shares[shares > 0]
            self._entropies[members] = -float(np.dot(shares, np.log(shares)))
        return self._entropies[members]

    def information(self, known: _Members, new: _Members, home: Clique) -> float:
        """How informative a clique is about some attributes, given others and all one-way
        marginals.
        """
        apart = sum(self.entropy(frozenset([name]), home) for name in new)
        return apart + self.entropy(known, home) - self.entropy(known | new, home)


class _Joint(NamedTuple):
    """What a new clique of the tree shares with one that is there, what it adds, and how much that
    tells.
    """

    gain: float
    shared: _Members
    new: _Members


def region_tree(tables: RegionTables) -> tuple[JunctionTree, list[Array]]:
    """The tree, and the marginal of each of its cliques."""
    domain = tables.domain
    cliques: list[_Members] = []
    missing = frozenset(domain.attributes)
    # For each region how it would best be joined; after each step only regions that lost an
    # attribute have to be asked again.
    joints = {
        region: _best_joint(tables, region, cliques, missing) for region in tables.tables if region
    }
    while missing:
        # Prim's algorithm over regions, by information: a greedy tree in which each region brings
        # what says most of its new attributes.
        best = _first_best(joints.values())
        cliques.append(best.shared | best.new)
        missing -= best.new
        # What others share with the new clique, they share with an earlier one.
        for region in [region for region in joints if not best.new.isdisjoint(region)]:
            if missing.isdisjoint(region):
                del joints[region]
            else:
                joints[region] = _best_joint(tables, region, cliques, missing)
    kept = maximal_cliques(domain.canonical(clique) for clique in cliques)
    tree = JunctionTree.from_cliques(domain, kept)
    homes = {clique: tables.home(clique) for clique in tree.cliques}
    return tree, [
        tables.marginal(home, clique) for clique, home in homes.items() if home is not None
    ]


def _best_joint(
    tables: RegionTables, region: Clique, cliques: Sequence[_Members], missing: _Members
) -> _Joint:
    """How a region with missing attributes is best joined to the tree."""
    new = missing.intersection(region)
    rest = frozenset(region) - new
    # It may only hang on attributes that some clique of the tree has together, or the tree would
    # have a loop.
    shared = dict.fromkeys([frozenset(), *(rest & clique for clique in cliques)])
    return _first_best(
        _Joint(tables.information(known, new, region), known, new) for known in shared
    )


def _first_best(joints: Iterable[_Joint]) -> _Joint:
    """The one of largest gain, the first one of those that are equal."""
    return reduce(lambda best, joint: joint if joint.gain > best.gain + ROUNDING else best, joints)
