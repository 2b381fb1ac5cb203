"""Region graphs: cliques, and the equalities that make their marginals locally consistent.

Two regions are consistent if they have the same marginal on the attributes that they share.
Most such equalities follow from others: of all regions that contain a clique, those that agree
on more of it already need no joint. What is left is a list of joints [2109.06153; Koller
& Friedman 2009, alg. 11.3]: a clique, and regions, one a connected part, that must agree on it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Self, final

from synthdp.core.cliques import Clique
from synthdp.core.domain import Domain


@final
@dataclass(frozen=True)
class Joint:
    """A clique on which the marginals of some regions must agree."""

    clique: Clique
    """What they share, in the order of the domain; () for the total."""
    regions: tuple[int, ...]
    """Positions of the regions."""


@final
@dataclass(frozen=True)
class RegionGraph:
    """Regions and the joints that tie them together."""

    domain: Domain
    """All attributes; each is in at least one region."""
    regions: tuple[Clique, ...]
    """Distinct cliques in the order of the domain; some may contain others."""
    joints: tuple[Joint, ...]
    """Fewest joints such that any two regions agree on all they share. The last one is the
    total, with one region of each connected part.
    """

    @classmethod
    def covering(cls, domain: Domain, cliques: Iterable[Clique]) -> Self:
        """The graph whose regions are the given cliques, and single attributes where none is given.

        >>> domain = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
        >>> graph = RegionGraph.covering(domain, [("a", "b"), ("c", "b"), ("b",), ()])
        >>> graph.regions
        (('a', 'b'), ('b', 'c'), ('b',), ('d',))
        >>> [(joint.clique, joint.regions) for joint in graph.joints]
        [(('b',), (2, 0, 1)), ((), (2, 3))]
        """
        regions = list(dict.fromkeys(domain.canonical(clique) for clique in cliques))
        # An attribute in no region would be in no table that rows are drawn from.
        covered = set().union(*regions)
        regions += [(name,) for name in domain.attributes if name not in covered]
        kept = tuple(region for region in regions if region)
        return cls(domain, kept, tuple(_joints(domain, kept)))

    def n_cells(self) -> int:
        """Number of cells of all regions together."""
        return sum(self.domain.size(region) for region in self.regions)


def _joints(domain: Domain, regions: Sequence[Clique]) -> list[Joint]:
    """Larger cliques first, so that each joint needs only what larger ones do not give already."""
    members = [frozenset(region) for region in regions]
    # All that any two regions could disagree about.
    shared = {left & right for left, right in combinations(members, 2)} - {frozenset()}
    joints: list[Joint] = []
    for clique in sorted(shared, key=lambda names: (-len(names), domain.canonical(names))):
        parts = _parts(clique, members, joints)
        # Regions of one part agree already, by way of larger joints: another condition would follow
        # from those, and make the system singular.
        if len(parts) > 1:
            joints.append(Joint(domain.canonical(clique), _smallest(domain, regions, parts)))
    total = Joint((), _smallest(domain, regions, _parts(frozenset(), members, joints)))
    return [*joints, total]


def _parts(
    clique: frozenset[str], members: Sequence[frozenset[str]], joints: Sequence[Joint]
) -> list[list[int]]:
    """The regions that contain a clique, in parts that agree on it because of joints already made."""
    part = {i: [i] for i, names in enumerate(members) if clique <= names}
    for joint in joints:
        if clique <= set(joint.clique):
            first = part[joint.regions[0]]
            for other in joint.regions[1:]:
                if part[other] is not first:
                    merged = part[other]
                    # Union by hand, for regions are few.
                    first.extend(merged)
                    part.update((i, first) for i in merged)
    return list({id(group): group for group in part.values()}.values())


def _smallest(
    domain: Domain, regions: Sequence[Clique], parts: Iterable[Sequence[int]]
) -> tuple[int, ...]:
    """For each part its region with the fewest cells, the smallest ones first."""
    # Any region of a part would do; the smallest is the quickest to sum.
    chosen = [min(part, key=lambda i: domain.size(regions[i])) for part in parts]
    return tuple(sorted(chosen, key=lambda i: domain.size(regions[i])))
