"""PrivMRF's first marginals: families of Bayesian networks inside the cliques of a graph [Cai et
al. 2021].
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthdp.core.cliques import Clique, maximal_cliques
from synthdp.core.domain import Domain


class NetworkFamily(NamedTuple):
    """A child with its parents, in the order of the domain, and how well they tell it."""

    score: float
    child: str
    members: Clique


def first_marginals(
    domain: Domain,
    cliques: Iterable[Clique],
    dependences: Mapping[Clique, float],
    *,
    max_cells: float,
    max_attributes: int,
) -> list[Clique]:
    """Marginals to begin with, as many as there are columns or fewer, that show each column at
    least once.

    For each column its best family in any clique's network; the column alone if it is in none; and
    further families, best first, as long as there are fewer marginals than columns.

    Parameters
    ----------
    domain
        All attributes.
    cliques
        Of the attribute graph, in the order of the domain.
    dependences
        For pairs of columns, in the order of the domain, how strongly they depend; 0 for the
        others.
    max_cells, max_attributes
        Most cells and attributes of a family.

    >>> domain = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
    >>> dependences = {("a", "b"): 0.4, ("b", "c"): 0.3, ("a", "c"): 0.1}
    >>> first_marginals(
    ...     domain, [("a", "b", "c"), ("d",)], dependences, max_cells=4, max_attributes=6
    ... )
    [('a', 'b'), ('b', 'c'), ('d',)]
    """
    families: list[NetworkFamily] = []
    for clique in cliques:
        families += network_families(
            domain, clique, dependences, max_cells=max_cells, most=max_attributes
        )
    families.sort(reverse=True)
    # Sorted best first, so the last one that is written for a child is its best.
    best = {family.child: family.members for family in reversed(families)}
    # A family inside of another says nothing that the other does not.
    chosen = maximal_cliques(best.values())
    covered = {name for members in chosen for name in members}
    # Each column has to be seen once, or nothing would be known of it.
    chosen += [(name,) for name in domain.attributes if name not in covered]
    for members in maximal_cliques(family.members for family in families):
        if len(chosen) < len(domain) and not any(set(members) <= set(other) for other in chosen):
            chosen.append(members)
    return sorted(chosen, key=lambda members: [domain.index(name) for name in members])


def network_families(
    domain: Domain,
    clique: Clique,
    dependences: Mapping[Clique, float],
    *,
    max_cells: float,
    most: int,
) -> Iterator[NetworkFamily]:
    """A Bayesian network over the members of a clique, grown child by child below the member that
    depends most.

    Each step places the child, and gives it the parents among those placed before, that score best:
    by ``sum of R(child, parent) / sqrt(k + sum of R(parent, other parent))`` for k parents, which
    is correlation-based feature selection [Hall 1999]. Only sets of parents that have no room for
    one more are scored. It ends where no family scores above 0.
    """
    # Reshaped for the clique of no members, whose array would have one axis.
    dependence_of_pairs = [[_between(a, b, dependences) for b in clique] for a in clique]
    strength = np.array(dependence_of_pairs).reshape(-1, len(clique))
    sizes = np.array([float(domain[name]) for name in clique])
    parents = _subsets(sizes, most=most - 1, max_cells=max_cells)
    n_parents = parents.sum(axis=1)
    n_cells = np.where(parents, sizes, 1.0).prod(axis=1)
    # For all sets of parents and all children at once.
    explained = parents @ strength
    # The sum over pairs of parents counts each twice, hence the half. Noisy dependences are
    # negative at times, and must not make a root of a negative number.
    among_parents = 0.5 * (explained * parents).sum(axis=1)
    scores = explained / np.sqrt(np.maximum(n_parents + among_parents, 1.0))[:, None]
    fits = n_cells[:, None] * sizes <= max_cells
    placed = np.zeros(len(clique), dtype=np.bool_)
    # The root of the network is the member that depends most on all others.
    placed[strength.sum(axis=1).argmax()] = True
    while not placed.all():
        # Whether one more parent would fit is a question of the smallest that could come.
        smallest = np.where(~parents & placed, sizes, np.inf).min(axis=1)
        has_most = n_parents[:, None] + 1 == most
        has_no_room = n_cells[:, None] * sizes * smallest[:, None] > max_cells
        is_full = has_most | has_no_room
        is_ready = (parents & ~placed).sum(axis=1) == 0
        allowed = fits & is_full & is_ready[:, None] & ~placed
        if not (allowed & (scores > 0)).any():
            return
        row, child = divmod(int(np.where(allowed, scores, -np.inf).argmax()), len(clique))
        members = tuple(name for i, name in enumerate(clique) if parents[row, i] or i == child)
        yield NetworkFamily(float(scores[row, child]), clique[child], members)
        placed[child] = True


def _between(a: str, b: str, dependences: Mapping[Clique, float]) -> float:
    return dependences.get((a, b), dependences.get((b, a), 0.0))


def _subsets(sizes: NDArray[np.float64], *, most: int, max_cells: float) -> NDArray[np.bool_]:
    """All sets of 1 to ``most`` attributes that have few cells, one a row."""
    rows: list[tuple[int, ...]] = []
    for k in range(1, min(most, sizes.size) + 1):
        sets = combinations(range(sizes.size), k)
        rows += [members for members in sets if sizes[list(members)].prod() <= max_cells]
    is_inside = np.zeros((len(rows), sizes.size), dtype=np.bool_)
    for row, members in enumerate(rows):
        is_inside[row, list(members)] = True
    return is_inside
