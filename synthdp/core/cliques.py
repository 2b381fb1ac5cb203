"""Cliques: the sets of attributes whose marginals are selected, measured and modelled."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, groupby
from typing import TypeAlias

from synthdp.core.errors import ParameterError

Clique: TypeAlias = tuple[str, ...]
"""Attribute names; the order is the order of the axes of the clique's marginal."""


def distinct(names: Iterable[str]) -> Clique:
    """The clique of some names; raises `ParameterError` if one repeats, or they are one bare text.

    >>> distinct(["b", "a"])
    ('b', 'a')
    """
    if isinstance(names, str):
        raise ParameterError(
            f"clique {names!r} is a text; give a tuple of names, such as ({names!r},)"
        )
    clique = tuple(names)
    if len(set(clique)) != len(clique):
        raise ParameterError(f"clique {clique}: an attribute repeats; name each once")
    return clique


def maximal_cliques(cliques: Iterable[Clique]) -> list[Clique]:
    """The cliques that are not contained in another one, in order of first appearance.

    >>> maximal_cliques([("a",), ("b", "a"), ("c",), ("a", "b")])
    [('b', 'a'), ('c',)]
    """
    first: dict[frozenset[str], Clique] = {}
    for clique in cliques:
        first.setdefault(frozenset(clique), tuple(clique))
    kept: list[frozenset[str]] = []
    for _, alike in groupby(sorted(first, key=len, reverse=True), key=len):
        kept += [members for members in alike if not any(members < larger for larger in kept)]
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
