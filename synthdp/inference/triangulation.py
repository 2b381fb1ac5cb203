"""Triangulation by greedy elimination: which cliques a junction tree needs for given marginals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import fsum, log
from typing import final

from synthdp.cliques import Clique
from synthdp.domain import Domain

_Graph = dict[str, set[str]]


@final
@dataclass(frozen=True)
class Elimination:
    """An elimination order and the clique that each step forms (the attribute and its neighbours then)."""

    order: tuple[str, ...]
    cliques: tuple[frozenset[str], ...]

    def n_cells(self, domain: Domain) -> int:
        """Total number of cells of the cliques, an upper bound on the junction tree's size."""
        return sum(domain.size(clique) for clique in self.cliques)


def interaction_graph(domain: Domain, cliques: Iterable[Clique]) -> _Graph:
    """Which attributes share a clique; every attribute of the domain is a node."""
    graph: _Graph = {name: set() for name in domain.attributes}
    for clique in cliques:
        for name in clique:
            graph[name].update(clique)
            graph[name].discard(name)
    return graph


def triangulate(domain: Domain, cliques: Iterable[Clique]) -> Elimination:
    """Greedy elimination by least fill and by smallest clique; the one with fewer cells is kept.

    Both are standard heuristics [Koller & Friedman 2009, sec. 9.4.3]; neither is always better.
    """
    graph = interaction_graph(domain, cliques)
    weights = {name: log(domain[name]) for name in domain.attributes}
    candidates = (_eliminate(graph, weights, cost) for cost in (_fill_weight, _clique_weight))
    return min(candidates, key=lambda elimination: elimination.n_cells(domain))


def _eliminate(
    graph: _Graph, weights: dict[str, float], cost: Callable[[_Graph, dict[str, float], str], float]
) -> Elimination:
    graph = {name: set(neighbours) for name, neighbours in graph.items()}
    costs = {name: cost(graph, weights, name) for name in graph}
    order: list[str] = []
    cliques: list[frozenset[str]] = []
    while graph:
        name = min(graph, key=costs.__getitem__)
        neighbours = graph.pop(name)
        order.append(name)
        cliques.append(frozenset(neighbours | {name}))
        touched = set(neighbours)
        for other in neighbours:
            graph[other].discard(name)
            graph[other] |= neighbours - {other}
        # A new edge between two neighbours also changes the fill of nodes that see both.
        touched.update(*(graph[other] for other in neighbours))
        for other in touched:
            costs[other] = cost(graph, weights, other)
    return Elimination(tuple(order), tuple(cliques))


def _fill_weight(graph: _Graph, weights: dict[str, float], name: str) -> float:
    """Weight of the edges that eliminating an attribute would add; ties by the clique's size."""
    neighbours = graph[name]
    missing = (weights[other] * weights[third] for other in neighbours for third in neighbours - graph[other] - {other})
    return fsum(missing) + 1e-6 * _clique_weight(graph, weights, name)


def _clique_weight(graph: _Graph, weights: dict[str, float], name: str) -> float:
    """Logarithm of the number of cells of the clique that eliminating an attribute forms."""
    # fsum does not depend on the order of the set, which changes from process to process.
    return fsum((weights[name], *(weights[other] for other in graph[name])))
