"""Triangulation and junction trees against networkx."""

import subprocess
import sys
from itertools import combinations
from math import log

import networkx as nx
import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.inference import clique_sets, domains

from synthdp.core import Domain, ParameterError
from synthdp.inference import JunctionTree, fit_bytes


def graph_of(domain, cliques):
    graph = nx.Graph()
    graph.add_nodes_from(domain.attributes)
    for clique in cliques:
        graph.add_edges_from(combinations(clique, 2))
    return graph


@st.composite
def problems(draw):
    domain = draw(domains(most=8))
    return domain, draw(clique_sets(domain, most=9))


@settings(max_examples=examples(120), deadline=None)
@given(problems())
def test_a_triangulated_graph_is_left_as_it_is(problem):
    domain, cliques = problem
    graph = graph_of(domain, cliques)
    if nx.is_chordal(graph):
        assert nx.utils.graphs_equal(
            graph_of(domain, JunctionTree.covering(domain, cliques).cliques), graph
        )


def naive_elimination(domain, graph, cost):
    """Cliques of a greedy elimination that works out all costs before each step."""
    graph, formed = graph.copy(), []
    while graph:
        chosen = min(graph, key=lambda name: (*cost(graph, name), domain.index(name)))
        formed.append(frozenset({chosen, *graph[chosen]}))
        graph.add_edges_from(list(combinations(graph[chosen], 2)))
        graph.remove_node(chosen)
    return formed


def n_cells(domain, cliques):
    return sum(
        domain.size(clique) for clique in cliques if not any(clique < other for other in cliques)
    )


def naive_triangulation(domain, cliques):
    """Cliques that the documented way of triangulating forms, in the plainest manner."""
    weights = {name: max(1, round(1000 * log(domain[name]))) for name in domain.attributes}

    def fill(graph, name):
        missing = (pair for pair in combinations(graph[name], 2) if not graph.has_edge(*pair))
        return sum(weights[a] * weights[b] for a, b in missing), weights[name] + sum(
            weights[a] for a in graph[name]
        )

    def size(graph, name):
        return (domain.size((name, *graph[name])),)

    graph, formed = graph_of(domain, cliques), []
    while simplicial := [name for name in graph if fill(graph, name)[0] == 0]:
        formed.append(frozenset({simplicial[-1], *graph[simplicial[-1]]}))
        graph.remove_node(simplicial[-1])
    for members in nx.connected_components(graph):
        ways = [naive_elimination(domain, graph.subgraph(members), cost) for cost in (fill, size)]
        formed += min(ways, key=lambda way: n_cells(domain, way))
    return {clique for clique in formed if not any(clique < other for other in formed)}


@pytest.mark.parametrize("seed", range(60))
def test_triangulation_agrees_with_one_that_works_out_all_costs_at_every_step(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(tuple("abcdefghijkl"), tuple(int(size) for size in rng.integers(1, 9, 12)))
    cliques = [
        pair
        for pair in combinations(domain.attributes, 2)
        if rng.random() < (0.2 if seed % 2 else 0.4)
    ]
    tree = JunctionTree.covering(domain, cliques)
    assert set(map(frozenset, tree.cliques)) == naive_triangulation(domain, cliques)


@settings(max_examples=examples(120), deadline=None)
@given(problems())
def test_junction_trees_have_the_maximal_cliques_and_running_intersection(problem):
    domain, cliques = problem
    tree = JunctionTree.covering(domain, cliques)
    filled = graph_of(domain, tree.cliques)
    assert nx.is_chordal(filled)
    assert sorted(map(sorted, tree.cliques)) == sorted(
        map(sorted, nx.chordal_graph_cliques(filled))
    )
    assert all(tree.position_of(clique) is not None for clique in cliques)
    assert tree.parents[0] == -1
    assert all(0 <= parent < child for child, parent in enumerate(tree.parents) if child)
    joined = nx.Graph()
    joined.add_nodes_from(range(len(tree.cliques)))
    joined.add_edges_from((child, parent) for child, parent in enumerate(tree.parents) if child)
    assert nx.is_tree(joined)
    for name in domain.attributes:
        assert nx.is_connected(
            joined.subgraph(i for i, clique in enumerate(tree.cliques) if name in clique)
        )
    for clique, parent, separator in zip(tree.cliques, tree.parents, tree.separators, strict=True):
        shared = set(clique) & set(tree.cliques[parent]) if parent >= 0 else set()
        assert separator == domain.canonical(shared)
    assert tree.n_cells() == sum(
        int(np.prod([domain[n] for n in clique])) for clique in tree.cliques
    )
    assert JunctionTree.from_cliques(domain, tree.cliques) == tree


@pytest.mark.parametrize(
    "cliques",
    [
        [],
        [("a", "b")],
        [("a", "b"), ("b", "c"), ("c", "a")],
        [("a", "b", "c"), ("a",)],
        [("a", "b"), ("b",), ("c",)],
    ],
)
def test_cliques_of_no_triangulated_graph_are_refused(cliques):
    with pytest.raises(ParameterError, match="not the maximal cliques"):
        JunctionTree.from_cliques(Domain(("a", "b", "c"), (2, 2, 2)), cliques)


def test_a_domain_without_attributes_is_refused():
    with pytest.raises(ParameterError, match="no attributes"):
        JunctionTree.covering(Domain((), ()), [])


def test_memory_is_stated_in_bytes():
    assert fit_bytes(1_000_000) == 32_000_000


def test_the_better_of_two_heuristics_is_kept():
    """A large attribute in a cycle is not joined with others while small ones can be."""
    domain = Domain(("large", "b", "c", "d", "e"), (1000, 2, 2, 2, 2))
    ring = [("large", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "large")]
    tree = JunctionTree.covering(domain, ring)
    assert sum("large" in clique for clique in tree.cliques) == 1
    assert tree.n_cells() == 1000 * 4 + 8 + 8


def test_trees_do_not_depend_on_the_hash_seed():
    program = """
import random
from synthdp.core import Domain
from synthdp.inference import JunctionTree
chance = random.Random(0)
for _ in range(60):
    names = [f"attribute {i}" for i in range(14)]
    domain = Domain(names, [chance.choice([3, 7, 10, 13]) for _ in names])
    print(JunctionTree.covering(domain, [tuple(chance.sample(names, 3)) for _ in range(14)]).cliques)
"""
    outputs = set()
    for seed in "123":
        done = subprocess.run(
            [sys.executable, "-P", "-c", program],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
