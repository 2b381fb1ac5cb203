"""Networks inside cliques: families by the score that is stated, and marginals that show every
column.
"""

from itertools import combinations
from math import prod, sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synthdp.core import Domain, all_k_way
from synthdp.mechanisms import first_marginals, network_families


@st.composite
def problems(draw):
    shape = draw(st.lists(st.integers(2, 4), min_size=1, max_size=6))
    domain = Domain(tuple("abcdef"[: len(shape)]), tuple(shape))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dependences = {
        pair: float(generator.normal(0.1, 0.2)) for pair in all_k_way(domain.attributes, 2)
    }
    return (
        domain,
        dependences,
        draw(st.sampled_from([1.0, 4.0, 9.0, 30.0, 1e6])),
        draw(st.integers(1, 4)),
    )


def score(child, parents, dependences):
    """Correlation-based feature selection, by its formula."""
    told = sum(dependences[tuple(sorted((child, parent)))] for parent in parents)
    return told / sqrt(
        max(len(parents) + sum(dependences[pair] for pair in combinations(parents, 2)), 1.0)
    )


def best_score(placed, domain, dependences, max_cells, most):
    """Of all families that could come next, by trying all; None if there is none."""

    def fits(members):
        return len(members) <= most and prod(domain[name] for name in members) <= max_cells

    scores = [
        score(child, parents, dependences)
        for child in domain.attributes
        if child not in placed
        for k in range(1, len(placed) + 1)
        for parents in combinations(sorted(placed), k)
        if fits((child, *parents))
        and not any(fits((child, *parents, more)) for more in placed if more not in parents)
    ]
    return max(scores, default=None)


@given(problems())
def test_each_family_is_the_best_that_could_come_next(problem):
    domain, dependences, max_cells, most = problem
    families = list(
        network_families(domain, domain.attributes, dependences, max_cells=max_cells, most=most)
    )
    total = {
        a: sum(dependences[tuple(sorted((a, b)))] for b in domain.attributes if b != a)
        for a in domain.attributes
    }
    placed = {max(domain.attributes, key=total.__getitem__)}
    for family in families:
        parents = set(family.members) - {family.child}
        assert parents
        assert parents <= placed
        assert family.child not in placed
        best = best_score(placed, domain, dependences, max_cells, most)
        assert abs(family.score - best) < 1e-9
        assert abs(family.score - score(family.child, sorted(parents), dependences)) < 1e-9
        placed.add(family.child)
    left = best_score(placed, domain, dependences, max_cells, most)
    assert left is None or left <= 1e-9


@given(problems(), st.data())
def test_first_marginals_show_every_column_within_the_limits(problem, data):
    domain, dependences, max_cells, most = problem
    cut = data.draw(st.integers(0, len(domain)))
    cliques = [
        clique
        for clique in (domain.attributes[:cut], domain.attributes[max(cut - 1, 0) :])
        if clique
    ]
    chosen = first_marginals(domain, cliques, dependences, max_cells=max_cells, max_attributes=most)
    assert {name for members in chosen for name in members} == set(domain.attributes)
    assert len(set(chosen)) == len(chosen) <= len(domain)
    for members in chosen:
        assert members == domain.canonical(members)
        assert len(members) == 1 or (len(members) <= most and domain.size(members) <= max_cells)
        assert any(set(members) <= set(clique) for clique in cliques)


def test_a_column_gets_its_best_family_of_all_cliques():
    """In the first clique b is d's only parent, in the second c tells more of it; room is for pairs
    only.
    """
    domain = Domain(("a", "b", "c", "d"), (2, 2, 2, 2))
    dependences = {("a", "b"): 0.9, ("b", "d"): 0.1, ("c", "d"): 0.5}
    cliques = [("a", "b", "d"), ("c", "d")]
    chosen = first_marginals(domain, cliques, dependences, max_cells=4, max_attributes=6)
    # (b, d) fills up: with c shown by (c, d), there are fewer marginals than columns.
    assert chosen == [("a", "b"), ("b", "d"), ("c", "d")]


def test_there_are_no_more_marginals_than_columns_however_many_cliques():
    domain = Domain(tuple("abcdef"), (2,) * 6)
    generator = np.random.default_rng(0)
    dependences = {pair: float(generator.random()) for pair in all_k_way(domain.attributes, 2)}
    cliques = all_k_way(domain.attributes, 3)
    assert len(first_marginals(domain, cliques, dependences, max_cells=4, max_attributes=6)) == 6


def test_parents_that_depend_on_each_other_tell_less():
    """All parents tell about as much of z: b and c, which are independent, tell most together."""
    domain = Domain(("a", "b", "c", "z"), (2, 2, 2, 2))
    dependences = {
        ("a", "b"): 0.9,
        ("a", "c"): 0.7,
        ("a", "z"): 0.3,
        ("b", "z"): 0.3,
        ("c", "z"): 0.28,
    }
    *_, last = network_families(domain, domain.attributes, dependences, max_cells=8, most=6)
    assert (last.child, last.members) == ("z", ("b", "c", "z"))
