"""Cliques: the sets of attributes whose marginals are selected, measured and modelled."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TypeAlias

Clique: TypeAlias = tuple[str, ...]
"""Attribute names; the order is the order of the axes of the clique's marginal."""


def maximal_cliques(cliques: Iterable[Clique]) -> list[Clique]:
    """The cliques that are not contained in another one, in order of first appearance.

    >>> maximal_cliques([("a",), ("b", "a"), ("c",), ("a", "b")])
    [('b', 'a'), ('c',)]
    """
    unique = list({frozenset(clique): tuple(clique) for clique in reversed(list(cliques))}.items())
    unique.reverse()
    largest_first = sorted(unique, key=lambda item: -len(item[0]))
    kept: list[frozenset[str]] = []
    for members, _ in largest_first:
        if not any(members <= other for other in kept):
            kept.append(members)
    chosen = set(kept)
    return [clique for members, clique in unique if members in chosen]


def all_k_way(attributes: Sequence[str], k: int) -> list[Clique]:
    """All cliques of ``k`` attributes, in the order of ``attributes``.

    >>> all_k_way(["a", "b", "c"], 2)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return list(combinations(attributes, k))
