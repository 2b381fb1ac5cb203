"""Cliques: the sets of attributes whose marginals are selected, measured and modelled."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import TypeAlias

Clique: TypeAlias = tuple[str, ...]
"""Attribute names; the order is the order of the axes of the clique's marginal."""


def maximal_cliques(cliques: Iterable[Clique]) -> list[Clique]:
    """The cliques that are not contained in another one, in order of first appearance.

    >>> maximal_cliques([("a",), ("b", "a"), ("c",), ("a", "b")])
    [('b', 'a'), ('c',)]
    """
    first: dict[frozenset[str], Clique] = {}
    for clique in cliques:
        first.setdefault(frozenset(clique), tuple(clique))
    kept: list[frozenset[str]] = []
    for members in sorted(first, key=len, reverse=True):
        if not any(members <= larger for larger in kept):
            kept.append(members)
    chosen = set(kept)
    return [clique for members, clique in first.items() if members in chosen]


def all_k_way(attributes: Sequence[str], k: int) -> list[Clique]:
    """All cliques of ``k`` attributes, in the order of ``attributes``.

    >>> all_k_way(["a", "b", "c"], 2)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    return list(combinations(attributes, k))


def subsets(clique: Clique) -> Iterator[Clique]:
    """All parts of a clique but the empty one, small ones first.

    >>> list(subsets(("a", "b")))
    [('a',), ('b',), ('a', 'b')]
    """
    return chain.from_iterable(combinations(clique, k) for k in range(1, len(clique) + 1))
