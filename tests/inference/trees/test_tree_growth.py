"""Growing trees against trees built from scratch."""

from itertools import combinations

import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.inference import clique_sets, domains

from synthdp.core import Domain, ParameterError
from synthdp.inference import JunctionTree, TreeGrowth, Triangulation

tree_growth = home(TreeGrowth)
triangulation = home(Triangulation)


@st.composite
def sequences(draw):
    domain = draw(domains(most=8))
    return domain, draw(clique_sets(domain, most=12)), draw(clique_sets(domain, most=12, longest=4))


@settings(max_examples=examples(120), deadline=None)
@given(sequences(), st.integers(0, 12), st.integers(1, 300))
def test_growing_gives_the_tree_and_the_sizes_of_building_from_scratch(
    sequence, n_first, max_cells
):
    domain, cliques, candidates = sequence
    growth = TreeGrowth(domain, cliques[:n_first])
    for clique in cliques[n_first:]:
        growth = growth.with_clique(clique)
    varying = list(map(domain.varying, cliques))
    assert growth.tree == JunctionTree.covering(domain, varying)
    assert growth.n_cells() == growth.tree.n_cells()
    built = [
        JunctionTree.covering(domain, [*varying, domain.varying(new)]).n_cells()
        for new in candidates
    ]
    assert growth.n_cells_with(candidates).tolist() == built
    limited = growth.n_cells_with(candidates, max_cells=max_cells)
    assert limited.tolist() == [size if size <= max_cells else np.inf for size in built]


@pytest.mark.parametrize("seed", range(12))
def test_sizes_are_exact_where_the_core_is_large(seed, monkeypatch):
    """Sparse graphs with several parts that are not triangulated; what is remembered is dropped on
    the way.
    """
    monkeypatch.setattr(tree_growth, "_MAX_REMEMBERED_SETS", 200)
    rng = np.random.default_rng(seed)
    domain = Domain(
        tuple(f"column {i}" for i in range(24)), tuple(int(size) for size in rng.integers(1, 7, 24))
    )
    pairs = list(combinations(domain.attributes, 2))
    cliques = [domain.varying(pairs[i]) for i in rng.choice(len(pairs), 20 + seed, replace=False)]
    candidates = [
        tuple(map(str, rng.permutation(domain.attributes)[: rng.integers(2, 5)])) for _ in range(60)
    ]
    growth = TreeGrowth(domain, cliques)
    built = [
        JunctionTree.covering(domain, [*cliques, domain.varying(new)]).n_cells()
        for new in candidates
    ]
    assert growth.n_cells_with(candidates).tolist() == built
    limit = float(np.median(built))
    assert growth.n_cells_with(candidates, max_cells=limit).tolist() == [
        s if s <= limit else np.inf for s in built
    ]


def test_a_clique_that_changes_nothing_keeps_the_tree():
    domain = Domain(tuple("abcde"), (2, 3, 4, 5, 6))
    growth = TreeGrowth(domain, [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    assert growth.with_clique(("b", "a")) is growth
    (filled,) = (set(clique) for clique in growth.tree.cliques if {"a", "b"} < set(clique))
    grown = growth.with_clique(tuple(filled))  # an edge that the triangulation has added already
    assert grown is not growth
    assert grown.tree is growth.tree
    assert grown.with_clique(("d", "e")).tree is not growth.tree


def test_a_part_of_the_core_that_no_clique_touches_is_not_triangulated_anew(monkeypatch):
    domain = Domain(tuple("abcdefgh"), (2,) * 8)
    square = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    growth = TreeGrowth(domain, square)
    eliminated = []
    for name in ("_eliminate_by_fill", "_eliminate_by_size"):
        original = getattr(triangulation, name)

        def recorded(sets, whole, max_cells, *, original=original):
            eliminated.append(sum(whole))
            return original(sets, whole, max_cells)

        monkeypatch.setattr(triangulation, name, recorded)
    grown = growth.with_clique(("e", "f")).with_clique(("f", "g")).with_clique(("g", "h"))
    assert eliminated == []
    assert grown.n_cells_with([("e", "h"), ("f", "h"), ("a", "e")]).tolist() == [
        32,
        28,
        32,
    ]  # ring, triangle, bridge
    assert eliminated == [0b11110000, 0b11110000]  # the ring, in two ways


def test_sizes_beyond_floats_are_infinite():
    domain = Domain(tuple(f"column {i}" for i in range(700)), (3,) * 700)
    assert TreeGrowth(domain).n_cells_with([domain.attributes, ("column 1",)]).tolist() == [
        np.inf,
        2100.0,
    ]


def test_unknown_attributes_are_refused():
    with pytest.raises(ParameterError, match="'z' is not in the domain"):
        TreeGrowth(Domain(("a",), (2,))).n_cells_with([("a", "z")])
