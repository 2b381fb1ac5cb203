"""PrivMRF's attribute graph: which columns a Markov random field may join [Cai et al. 2021]."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import inf

from synthdp.core.cliques import Clique
from synthdp.core.measurement import estimate_total
from synthdp.inference.trees.tree_growth import TreeGrowth
from synthdp.mechanisms.shared.noisy_errors import independent_counts, release_errors
from synthdp.privacy.private_table import PrivateTable


def noisy_dependences(
    table: PrivateTable, pairs: Sequence[Clique], *, rho: Fraction
) -> dict[Clique, float]:
    """How far pairs of columns are from independence: noisy total variation distances, negative
    ones too.

    The score R of PrivBayes and PrivMRF, divided by the number of records, but for this: what pairs
    are compared with is the product of *released* one-way marginals. Then one record more or less
    moves the L1 distance by 1. With the table's own marginals it moves it by up to 4 (R is half of
    it, of sensitivity 2), because they move as well.

    Parameters
    ----------
    table
        Its one-way marginals are measured already.
    pairs
        In the order of the domain.
    rho
        Cost, above 0.
    """
    total = estimate_total(table.released)
    scores = release_errors(table, pairs, independent_counts(table, pairs), rho=rho)
    return {pair: error / (2 * total) for pair, error in scores.errors.items()}


def grown_attribute_graph(
    start: TreeGrowth,
    dependences: Mapping[Clique, float],
    *,
    max_cells: float,
    max_clique_cells: float,
    size_penalty: float,
) -> TreeGrowth:
    """Add pairs of columns, best first, as long as that raises what the graph is worth.

    A graph is worth the dependences of all pairs that share a clique, less a penalty for the cells
    of its cliques. It is kept triangulated: with a pair come those that this needs, and they count
    as well. Gains are remembered, and worked out anew for the pair that seems best only (lazy
    greedy [Minoux 1978]): most steps leave most gains as they are, and to look at all pairs in
    every step would take an hour for a hundred columns.

    Parameters
    ----------
    start
        The graph to begin with, usually without edges.
    dependences
        For each pair that may be added, in the order of the domain, how strongly it depends.
    max_cells, max_clique_cells
        Most cells of all cliques together and of a single one; more only if ``start`` has more.
    size_penalty
        What ``max_cells`` cells cost.

    >>> from synthdp.core.domain import Domain
    >>> start = TreeGrowth(Domain(("a", "b", "c", "d"), (2, 2, 2, 2)))
    >>> weak, limits = (
    ...     {("a", "b"): 0.3, ("b", "c"): 0.2, ("c", "d"): -0.1},
    ...     {"max_cells": 99, "max_clique_cells": 9},
    ... )
    >>> sorted(grown_attribute_graph(start, weak, **limits, size_penalty=0.5).cliques)
    [('a', 'b'), ('b', 'c'), ('d',)]
    """
    # The penalty is the paper's; by cells, so that a table of many small columns is not punished
    # for having many.
    domain = start.domain
    price = size_penalty / max_cells
    # Rules of the schema may need a larger clique than the limit: then that is the limit.
    most = max(max_cells, start.n_cells())
    widest = max(max_clique_cells, *map(domain.size, start.cliques))

    def worth(graph: TreeGrowth) -> float:
        cliques = graph.cliques
        if graph.n_cells() > most or max(map(domain.size, cliques)) > widest:
            return -inf
        # Each pair once, however many cliques share it. Sorted, so that sums of floats do not
        # depend on the order of a set.
        joined = {pair for clique in cliques for pair in combinations(clique, 2)}
        return sum(dependences.get(pair, 0.0) for pair in sorted(joined)) - price * graph.n_cells()

    graph = start
    value = worth(start)
    # One call for all pairs: how many cells each would add is found without triangulating a graph
    # for each of them.
    added = start.n_cells_with(dependences) - start.n_cells()
    queue = [
        (price * cells - gain, pair)
        for (pair, gain), cells in zip(dependences.items(), added, strict=True)
    ]
    heapify(queue)
    # The queue holds minus the gain. At a gain of 0 or less no other pair can be better: gains
    # mostly fall as the graph grows.
    while queue and queue[0][0] < 0:
        _, pair = heappop(queue)
        grown = graph.with_clique(pair)
        raised = worth(grown)
        # The gain that it was queued with is out of date, and another one's is better now: back it
        # goes, with what it is worth today.
        if queue and value - raised > queue[0][0]:
            heappush(queue, (value - raised, pair))
        elif raised > value:
            # Made anew from its cliques, so that what the growth remembers is of the present graph
            # only.
            graph = TreeGrowth(domain, grown.cliques)
            value = raised
    return graph
