"""Grouping many small cliques inside a large one, so that their sums and products share most of the
work.

To sum a table of a million cells to three hundred small marginals takes three hundred passes over
it. To sum it to ten tables of some thousand cells first, each of which covers thirty of them,
takes ten. The same tables add up the potentials of their members before any is spread over the
large table.
"""

from collections.abc import Sequence
from typing import NamedTuple

from synthdp.core.cliques import Clique
from synthdp.inference.trees.attribute_sets import AttributeSet, AttributeSets

_SMALLER = (4, 16, 64, 256)
"""How much smaller than the large clique a group's table may be; where the costs cross depends on
the cliques.
"""


class Group(NamedTuple):
    """A clique, its attributes in the order of the large one, and the positions of the small
    cliques inside.
    """

    clique: Clique
    members: tuple[int, ...]


def grouped(sets: AttributeSets, home: Clique, cliques: Sequence[Clique]) -> list[Group]:
    """Groups of the cliques, all of them inside ``home``, that make sums to all of them cheap.

    Parameters
    ----------
    sets
        Sets of the domain's attributes.
    home
        The large clique.
    cliques
        The small ones.

    >>> from synthdp.core.domain import Domain
    >>> domain = Domain(tuple("abcdefgh"), (2,) * 8)
    >>> pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("f", "g"), ("g", "h"), ("f", "h")]
    >>> [group.clique for group in grouped(AttributeSets(domain), domain.attributes, pairs)]
    [('a', 'b', 'c'), ('f', 'g', 'h')]
    """
    whole = sets.n_cells[sets.of(home)]
    masks = [sets.of(clique) for clique in cliques]
    best = [Group(clique, (i,)) for i, clique in enumerate(cliques)]
    # What it costs to sum each small clique from the large table by itself.
    least = whole * len(cliques)
    # Four sizes of groups are tried by their cost, as no formula says which is best. With one or
    # two cliques a group saves nothing.
    for smaller in _SMALLER if len(cliques) > 2 else ():
        groups = _greedy(sets, masks, limit=whole // smaller)
        # The large table is read once for each group, and the group's table once for each of its
        # cliques.
        cost = whole * len(groups) + sum(
            sets.n_cells[mask] * len(members) for mask, members in groups
        )
        if cost < least:
            best = [Group(sets.names(mask), tuple(sorted(members))) for mask, members in groups]
            least = cost
    return best


def _greedy(
    sets: AttributeSets, cliques: Sequence[AttributeSet], *, limit: int
) -> list[tuple[AttributeSet, list[int]]]:
    """Put each clique, large ones first, into the group that it makes largest within the limit, or
    open one.
    """
    groups: list[AttributeSet] = []
    members: list[list[int]] = []
    # Large cliques first, as in packing: small ones fit into what is left.
    for i in sorted(range(len(cliques)), key=lambda i: -sets.n_cells[cliques[i]]):
        chosen, grown = -1, limit
        for number, group in enumerate(groups):
            n_cells = sets.n_cells[group | cliques[i]]
            # As full as can be: room that is left over elsewhere takes a later clique whole.
            if n_cells <= grown:
                chosen, grown = number, n_cells
        if chosen < 0:
            groups.append(cliques[i])
            members.append([i])
        else:
            groups[chosen] |= cliques[i]
            members[chosen].append(i)
    return list(zip(groups, members, strict=True))
