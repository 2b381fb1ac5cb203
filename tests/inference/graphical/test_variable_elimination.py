"""Variable elimination against the full joint table, and where plain numbers do not do."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from helpers.seldom import examples
from hypothesis import assume, given, settings
from oracles.inference import (
    joint_logarithm,
    log_sum_exp,
    marginal_of,
    possible_potentials,
    random_potentials,
)

from synthdp.core import Domain
from synthdp.inference import JunctionTree, MarginalOracle, UnderflowDetected, VariableElimination
from synthdp.inference.graphical import belief_propagation


def eliminated(domain, cliques):
    """Also where filling the tables of the tree is quicker, as on small domains."""
    tree = JunctionTree.covering(domain, cliques)
    found = VariableElimination.planned(tree, cliques, max_cost=1e9)
    assert found is not None
    return found


def expected(domain, potentials):
    joint = joint_logarithm(domain, potentials)
    probabilities = np.exp(joint - log_sum_exp(joint))
    return [marginal_of(probabilities, domain, clique) for clique in potentials]


def assert_equal(tables, others, *, tolerance=1e-11):
    for table, other in zip(tables, others, strict=True):
        np.testing.assert_allclose(table, other, rtol=0, atol=tolerance)


@settings(max_examples=examples(200), deadline=None)
@given(possible_potentials())
def test_marginals_equal_those_of_the_joint_table(drawn):
    domain, potentials = drawn
    cliques = list(potentials)
    assume(all(np.isfinite(table).any() for table in potentials.values()))
    found = eliminated(domain, cliques).marginals(list(potentials.values()))
    assert_equal(found, expected(domain, potentials))


def test_many_potentials_of_one_attribute_are_multiplied_in_groups():
    domain = Domain(tuple("abcdefghijk"), (3,) * 11)
    cliques = [("a", name) for name in "bcdefghijk"] + [("b", "c"), (), ("k",)]
    potentials = random_potentials(np.random.default_rng(0), domain, cliques, scale=1.0)
    cliques = list(potentials)
    found = eliminated(domain, cliques).marginals(list(potentials.values()))
    assert_equal(found, expected(domain, potentials))


def test_a_clique_that_is_given_twice_has_two_potentials():
    domain = Domain(("a", "b"), (2, 3))
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 2, 3))
    twice = eliminated(domain, [("a", "b"), ("a", "b")]).marginals([first, second])
    (once,) = eliminated(domain, [("a", "b")]).marginals([first + second])
    assert_equal(twice, [once, once])


def test_what_underflows_is_told():
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    cliques = [("a", "b"), ("b", "c"), ("b",)]
    potentials = [
        np.zeros((2, 2)),
        np.array([[0.0, 0.0], [-800.0, -801.0]]),
        np.array([-799.0, 0.0]),
    ]
    with pytest.raises(UnderflowDetected):
        eliminated(domain, cliques).marginals(potentials)
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(UnderflowDetected):
            eliminated(domain, [("a",)]).marginals([np.array([value, value])])


def test_it_is_planned_where_it_pays():
    """Of all pairs of six attributes, not of a chain, nor of all sets of four."""
    names = tuple("abcdef")
    domain = Domain(names, (8,) * 6)
    for cliques, pays in (
        (list(combinations(names, 2)), True),
        (list(combinations(names, 4)), False),
        (list(pairwise(names)), False),
    ):
        tree = JunctionTree.covering(domain, cliques)
        assert (VariableElimination.planned(tree, cliques) is not None) == pays


@pytest.mark.parametrize("size", [3, 8])
def test_potentials_that_drifted_apart_stay_in_plain_numbers(size, monkeypatch):
    """Functions of one attribute that cancel between cliques, up to thousands of nats.

    Of small domains tables are filled, of larger ones attributes are eliminated.
    """
    names = tuple("abcdef")
    domain = Domain(names, (size,) * 6)
    cliques = list(combinations(names, 2))
    tree = JunctionTree.covering(domain, cliques)
    assert (VariableElimination.planned(tree, cliques) is not None) == (size == 8)
    rng = np.random.default_rng(2)
    potentials = [rng.normal(size=(size, size)) for _ in cliques]
    oracle = MarginalOracle(tree, cliques)
    straight = oracle.marginals(potentials)
    for name in names:
        holders = [(i, clique.index(name)) for i, clique in enumerate(cliques) if name in clique]
        drifts = rng.normal(0, 2000, (len(holders), size))
        for (i, axis), drift in zip(holders, drifts - drifts.mean(axis=0), strict=True):
            potentials[i] = potentials[i] + np.expand_dims(drift, 1 - axis)
    monkeypatch.setattr(belief_propagation, "LogArithmetic", None)  # an error where it is used
    assert_equal(oracle.marginals(potentials), straight, tolerance=1e-9)


def test_beliefs_need_no_elimination(monkeypatch):
    """Its plan costs more than the answer where only beliefs or the largest cell are asked for."""
    domain = Domain(("a", "b", "c"), (2, 3, 2))
    cliques = [("a", "b"), ("b", "c")]
    tree = JunctionTree.covering(domain, cliques)
    potentials = [np.zeros((2, 3)), np.log([[3.0, 1.0], [1.0, 1.0], [1.0, 1.0]])]
    with monkeypatch.context() as patched:
        patched.setattr(VariableElimination, "planned", None)  # an error where it is used
        oracle = MarginalOracle(tree, cliques)
        assert sum(table.sum() for table in oracle.beliefs(potentials)) == pytest.approx(2)
        assert oracle.largest(potentials) == pytest.approx(np.log(3.0))
    assert oracle.marginals(potentials)[1][0, 0] == pytest.approx(3 / 8)
