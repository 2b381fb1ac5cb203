"""Cliques where there are too many to count all of them, or all of them at once."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from math import comb

import numpy as np

from synthdp.core.cliques import Clique, all_k_way
from synthdp.core.domain import Domain


def sampled_k_way(
    domain: Domain, k: int, rng: np.random.Generator, *, most: int, max_cells: int
) -> tuple[list[Clique], int]:
    """All cliques of ``k`` attributes, or a random sample of ``most``, in order; and how many there
    are. Those of more than ``max_cells`` cells are left out of the former.

    >>> domain = Domain(("a", "b", "c"), (2, 3, 50))
    >>> sampled_k_way(domain, 2, np.random.default_rng(0), most=9, max_cells=100)
    ([('a', 'b'), ('a', 'c')], 3)
    """
    n_all = comb(len(domain), k)
    if n_all <= most:
        chosen = all_k_way(domain.attributes, k)
    else:
        places: set[tuple[int, ...]] = set()
        while len(places) < most:
            # Drawn until there are enough distinct ones: listing all triples of hundreds of columns
            # to draw from would take longer.
            places.add(tuple(sorted(rng.choice(len(domain), k, replace=False).tolist())))
        chosen = [tuple(domain.attributes[place] for place in each) for each in sorted(places)]
    return [clique for clique in chosen if domain.size(clique) <= max_cells], n_all


def blocks_of(
    domain: Domain, cliques: Sequence[Clique], *, max_cells: int
) -> Iterator[list[Clique]]:
    """Cliques in blocks of about ``max_cells`` cells together, in order: a block may be up to one
    clique larger, and none is empty.

    >>> list(blocks_of(Domain(("a", "b"), (2, 3)), [("a",), ("b",), ("a", "b")], max_cells=5))
    [[('a',), ('b',)], [('a', 'b')]]
    """
    # By where a clique's cells end in one long row of cells.
    ends = accumulate(map(domain.size, cliques))
    for _, block in groupby(
        zip(cliques, ends, strict=True), key=lambda item: (item[1] - 1) // max_cells
    ):
        yield [clique for clique, _ in block]
