"""The attribute graph: dependences at the noise that is paid for, and growth within its limits."""

from fractions import Fraction
from itertools import combinations
from math import sqrt

import networkx as nx
import numpy as np
import pytest
from helpers.private_tables import private_table
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import Domain, all_k_way
from synthdp.inference import TreeGrowth
from synthdp.mechanisms import grown_attribute_graph, noisy_dependences
from synthdp.privacy import Adjacency, ScoresEvent


def domain_of(*shape):
    return Domain(tuple(f"x{i:02}" for i in range(len(shape))), shape)


def joined(growth):
    return {pair for clique in growth.cliques for pair in combinations(clique, 2)}


def grown(domain, dependences, *, max_cells=1e6, max_clique_cells=1e6, size_penalty=0.0, start=()):
    limits = {"max_cells": max_cells, "max_clique_cells": max_clique_cells}
    return grown_attribute_graph(
        TreeGrowth(domain, start), dependences, **limits, size_penalty=size_penalty
    )


@st.composite
def problems(draw):
    shape = draw(st.lists(st.integers(2, 5), min_size=2, max_size=7))
    domain = domain_of(*shape)
    strength = st.floats(-0.2, 1.0)
    return domain, {pair: draw(strength) for pair in all_k_way(domain.attributes, 2)}


@pytest.mark.parametrize("adjacency", Adjacency)
def test_dependences_are_distances_from_independence_at_the_stated_noise(adjacency):
    """The L1 distance moves by as many records as a marginal does: the score R with exact columns
    moves by more.
    """
    generator = np.random.default_rng(0)
    a = generator.integers(0, 3, 30_000)
    rows = (a, (a + (generator.random(30_000) < 0.2)) % 3, generator.integers(0, 2, 30_000))
    table = private_table((3, 3, 2), 0, rows=rows, adjacency=adjacency, epsilon=1e4)
    for name in table.domain.attributes:
        table.measure((name,), rho=100)
    found = noisy_dependences(table, all_k_way(table.domain.attributes, 2), rho=Fraction(3, 2))
    (event,) = (event for event in table.ledger.events if isinstance(event, ScoresEvent))
    assert event.rho == Fraction(3, 2)
    assert event.sensitivity == (1 if adjacency is Adjacency.ADD_REMOVE else 2)
    # 8 standard deviations of the scores' noise, and what little the columns' adds
    slack = 8 * sqrt(event.sigma_squared) / (2 * 30_000) + 1e-3
    for pair, value in found.items():
        left, right = (rows[int(name[1:])] for name in pair)
        joint = np.zeros((3, 3))
        np.add.at(joint, (left, right), 1 / 30_000)
        truth = 0.5 * np.abs(joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum()
        assert abs(value - truth) < slack < 0.01
    assert found["x0", "x1"] > 0.4 > 0.02 > max(found["x0", "x2"], found["x1", "x2"])


@given(problems(), st.floats(4.0, 500.0), st.floats(4.0, 100.0), st.floats(0.0, 1.0))
def test_stays_within_its_limits_triangulated_and_worth_more_than_at_the_start(
    problem, most, widest, penalty
):
    domain, dependences = problem
    start = TreeGrowth(domain)
    graph = grown(
        domain, dependences, max_cells=most, max_clique_cells=widest, size_penalty=penalty
    )
    assert graph.n_cells() <= max(most, start.n_cells())
    assert max(map(domain.size, graph.cliques)) <= max(widest, *domain.shape)
    drawn = nx.Graph(joined(graph))
    assert nx.is_chordal(drawn)
    assert {frozenset(clique) for clique in nx.find_cliques(drawn)} <= {
        frozenset(clique) for clique in graph.cliques
    }
    gained = sum(dependences[pair] for pair in joined(graph))
    assert gained >= penalty / most * (graph.n_cells() - start.n_cells()) - 1e-9


@given(problems())
def test_everything_that_depends_is_joined_where_cells_cost_nothing(problem):
    domain, dependences = problem
    strong = {pair: abs(value) + 0.01 for pair, value in dependences.items()}
    assert joined(grown(domain, strong)) == set(strong)
    assert joined(grown(domain, {pair: -value for pair, value in strong.items()})) == set()


@given(st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_cliques_of_two_columns_make_a_maximum_spanning_tree(n_columns, seed):
    domain, generator = domain_of(*(2,) * n_columns), np.random.default_rng(seed)
    dependences = {
        pair: float(generator.random()) + 0.01 for pair in all_k_way(domain.attributes, 2)
    }
    graph = grown(domain, dependences, max_clique_cells=4)
    weighted = nx.Graph()
    weighted.add_weighted_edges_from((a, b, value) for (a, b), value in dependences.items())
    assert joined(graph) == {
        tuple(sorted(edge)) for edge in nx.maximum_spanning_tree(weighted).edges
    }


@pytest.mark.parametrize(("chord", "is_closed"), [(-0.25, False), (-0.15, True)])
def test_a_pair_is_worth_what_comes_with_it_as_well(chord, is_closed):
    """The last edge of a square of 0.2 needs one of two chords."""
    domain = domain_of(2, 2, 2, 2)
    a, b, c, d = domain.attributes
    dependences = {(a, b): 0.9, (b, c): 0.8, (c, d): 0.7, (a, d): 0.2, (a, c): chord, (b, d): chord}
    graph = grown(domain, dependences)
    assert ((a, d) in joined(graph)) is is_closed
    assert len(joined(graph)) == (5 if is_closed else 3)


def test_cells_cost_what_the_penalty_says():
    domain = domain_of(10, 10, 2)
    a, b, c = domain.attributes
    dependences = {(a, b): 0.3, (a, c): 0.3}
    # a and b take 80 cells more, a and c 8
    assert joined(grown(domain, dependences, max_cells=1000, size_penalty=3.0)) == set(dependences)
    assert joined(grown(domain, dependences, max_cells=1000, size_penalty=5.0)) == {(a, c)}


def test_a_pair_that_joins_cliques_costs_the_cells_that_this_makes():
    """By itself a pair of these columns takes 80 cells more; the third pair of a triple takes 800."""
    domain = domain_of(10, 10, 10)
    a, b, c = domain.attributes
    graph = grown(
        domain, {(a, b): 0.9, (a, c): 0.9, (b, c): 0.2}, max_cells=10_000, size_penalty=10.0
    )
    assert joined(graph) == {(a, b), (a, c)}


def test_gains_are_worked_out_anew_before_a_pair_is_added():
    """Closing the square seems to gain 0.5, but gains 0.1 with its chord; there is room for one
    more pair only.
    """
    domain = domain_of(2, 2, 2, 2, 3, 3)
    a, b, c, d, e, f = domain.attributes
    dependences = {
        (a, b): 0.9,
        (b, c): 0.8,
        (c, d): 0.7,
        (a, d): 0.5,
        (a, c): -0.4,
        (b, d): -0.4,
        (e, f): 0.4,
    }
    assert joined(grown(domain, dependences, max_cells=22)) == {(a, b), (b, c), (c, d), (e, f)}


def test_keeps_what_it_starts_with_however_large():
    domain, start = domain_of(5, 5, 5, 2), [("x00", "x01", "x02")]
    inside = set(combinations(start[0], 2))
    pair = ("x00", "x03")
    assert joined(grown(domain, {pair: 0.5}, max_cells=10, start=start)) == inside
    assert joined(grown(domain, {pair: 0.5}, max_cells=200, max_clique_cells=10, start=start)) == {
        *inside,
        pair,
    }
