"""Grouping many small cliques inside a large one, so that their sums and products share most of the work.

To sum a table of a million cells to three hundred small marginals takes three hundred passes over
it. To sum it to ten tables of some thousand cells first, each of which covers thirty of them,
takes ten. The same tables add up the potentials of their members before any is spread over the
large table.
"""

from collections.abc import Sequence
from typing import NamedTuple

from synthdp.cliques import Clique
from synthdp.domain import Domain

_SMALLER = (4, 16, 64, 256)
"""How much smaller than the large clique a group's table may be; the cheapest is taken."""


class Group(NamedTuple):
    """A clique, its attributes in the order of the large one, and the positions of the small cliques inside."""

    clique: Clique
    members: tuple[int, ...]


def grouped(domain: Domain, home: Clique, cliques: Sequence[Clique]) -> list[Group]:
    """Groups of the cliques, all of them inside ``home``, that make sums to all of them cheap.

    >>> domain = Domain(tuple("abcdefgh"), (2,) * 8)
    >>> pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("f", "g"), ("g", "h"), ("f", "h")]
    >>> [group.clique for group in grouped(domain, domain.attributes, pairs)]
    [('a', 'b', 'c'), ('f', 'g', 'h')]
    """
    whole = domain.size(home)
    sizes = [domain.size(clique) for clique in cliques]
    best = [Group(clique, (i,)) for i, clique in enumerate(cliques)]
    least = whole * len(cliques)
    for smaller in _SMALLER if len(cliques) > 2 else ():
        groups = _greedy(domain, home, cliques, sizes, limit=whole // smaller)
        cost = whole * len(groups) + sum(domain.size(group.clique) * len(group.members) for group in groups)
        if cost < least:
            best, least = groups, cost
    return best


def _greedy(
    domain: Domain, home: Clique, cliques: Sequence[Clique], sizes: Sequence[int], *, limit: int
) -> list[Group]:
    """Put each clique, large ones first, into the group that it makes largest within the limit, or open one."""
    bits = {name: 1 << i for i, name in enumerate(home)}
    cells = {bit: domain[name] for name, bit in bits.items()}
    masks, counts, members = list[int](), list[int](), list[list[int]]()
    for i in sorted(range(len(cliques)), key=lambda i: -sizes[i]):
        mine = sum(bits[name] for name in cliques[i])
        chosen, grown = -1, limit
        for number, (mask, count) in enumerate(zip(masks, counts, strict=True)):
            for bit, n_levels in cells.items():
                if mine & ~mask & bit:
                    count *= n_levels  # noqa: PLW2901 - the size with this clique
            if count <= grown:
                chosen, grown = number, count
        if chosen < 0:
            masks.append(mine)
            counts.append(sizes[i])
            members.append([i])
        else:
            masks[chosen], counts[chosen] = masks[chosen] | mine, grown
            members[chosen].append(i)
    names = [tuple(name for name in home if mask & bits[name]) for mask in masks]
    return [Group(clique, tuple(sorted(inside))) for clique, inside in zip(names, members, strict=True)]
