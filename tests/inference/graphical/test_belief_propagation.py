"""Belief propagation and marginals against the full joint table, and where numbers become extreme."""

from itertools import pairwise

import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles.inference import (
    SEEDS,
    clique_sets,
    domains,
    field,
    joint_logarithm,
    log_sum_exp,
    marginal_of,
    possible_potentials,
    random_potentials,
)

from synthdp.core import Domain, ParameterError
from synthdp.inference import (
    BeliefPropagation,
    JunctionTree,
    LinearArithmetic,
    LogArithmetic,
    UnderflowDetected,
)

belief_propagation = home(BeliefPropagation)


def by_home(tree, log_potentials):
    """The potentials as belief propagation takes them."""
    homes = [[] for _ in tree.cliques]
    for clique, table in log_potentials.items():
        home = tree.position_of(clique)
        homes[home].append(
            table.reshape([tree.domain[n] if n in clique else 1 for n in tree.cliques[home]])
        )
    return homes


def assert_right(domain, log_potentials, run, *, tolerance):
    joint = joint_logarithm(domain, log_potentials)
    probabilities = np.exp(joint - log_sum_exp(joint))
    tree = JunctionTree.covering(domain, list(log_potentials))
    beliefs = run(BeliefPropagation(tree), by_home(tree, log_potentials))
    for clique, table in zip(tree.cliques, beliefs, strict=True):
        np.testing.assert_allclose(
            table, marginal_of(probabilities, domain, clique), rtol=0, atol=tolerance
        )


def usual(propagation, potentials):
    return propagation.beliefs(potentials)


def logarithmic(propagation, potentials):
    return propagation.run(potentials, LogArithmetic())


@settings(max_examples=examples(100), deadline=None)
@given(possible_potentials())
def test_beliefs_and_normaliser_equal_those_of_the_joint_table(drawn):
    domain, potentials = drawn
    for run in (usual, logarithmic):
        assert_right(domain, potentials, run, tolerance=1e-11)


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), SEEDS, st.sampled_from([300.0, 3e3, 1e4]))
def test_extreme_potentials_equal_the_joint_table(data, seed, scale):
    domain = data.draw(domains())
    cliques = data.draw(clique_sets(domain))
    potentials = random_potentials(
        np.random.default_rng(seed), domain, cliques, scale=scale, impossible=0.05
    )
    assume(np.isfinite(joint_logarithm(domain, potentials)).any())
    assert_right(domain, potentials, usual, tolerance=1e-10)


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), SEEDS)
def test_any_marginal_equals_that_of_the_joint_table(data, seed):
    rng = np.random.default_rng(seed)
    domain = data.draw(domains())
    potentials = random_potentials(
        rng, domain, data.draw(clique_sets(domain)), scale=2.0, impossible=0.1
    )
    joint = joint_logarithm(domain, potentials)
    assume(np.isfinite(joint).any())
    probabilities = np.exp(joint - log_sum_exp(joint))
    model = field(domain, potentials, total=7.0)
    for _ in range(4):
        query = tuple(
            map(str, rng.permutation(domain.attributes)[: rng.integers(0, len(domain) + 1)])
        )
        marginal = model.marginal(query)
        assert marginal.domain.attributes == query
        np.testing.assert_allclose(
            marginal.values, 7 * marginal_of(probabilities, domain, query), rtol=0, atol=1e-11
        )


def test_a_query_that_spans_the_branches_of_a_star():
    domain = Domain(tuple("abcdef"), (2, 3, 2, 3, 2, 2))
    cliques = [("a", "b", "c"), ("b", "d"), ("c", "e"), ("b", "f")]
    potentials = random_potentials(np.random.default_rng(9), domain, cliques, scale=1.0)
    joint = joint_logarithm(domain, potentials)
    probabilities = np.exp(joint - log_sum_exp(joint))
    model = field(domain, potentials)
    for query in [
        ("f", "d", "e"),
        ("a", "f", "e", "d"),
        ("d", "f"),
        ("e", "b"),
        ("f", "e", "d", "c", "b", "a"),
    ]:
        np.testing.assert_allclose(
            model.marginal(query).values, marginal_of(probabilities, domain, query), atol=1e-13
        )


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), SEEDS)
def test_the_largest_sum_of_potentials_is_that_of_the_joint_table(data, seed):
    domain = data.draw(domains())
    potentials = random_potentials(
        np.random.default_rng(seed),
        domain,
        data.draw(clique_sets(domain)),
        scale=50.0,
        impossible=0.1,
    )
    tree = JunctionTree.covering(domain, list(potentials))
    largest = BeliefPropagation(tree).largest(by_home(tree, potentials))
    assert largest == pytest.approx(joint_logarithm(domain, potentials).max(), rel=1e-12)


def chain(length, levels):
    names = tuple(f"x{i}" for i in range(length + 1))
    return Domain(names, (levels,) * len(names)), list(pairwise(names))


def product_in_logarithms(tables):
    """Logarithm of the product of matrices that are given by their logarithms."""
    result = tables[0]
    for table in tables[1:]:
        terms = result[:, :, None] + table[None]
        largest = terms.max(axis=1)
        result = largest + np.log(np.exp(terms - largest[:, None]).sum(axis=1))
    return result


@pytest.mark.parametrize("scale", [1.0, 300.0, 1e4])
def test_a_chain_of_500_cliques_equals_the_product_of_its_matrices(scale):
    domain, cliques = chain(500, 3)
    rng = np.random.default_rng(5)
    potentials = {clique: scale * rng.normal(size=(3, 3)) for clique in cliques}
    ends = product_in_logarithms(list(potentials.values()))
    model = field(domain, potentials)
    expected = np.exp(ends - log_sum_exp(ends))
    np.testing.assert_allclose(model.marginal(("x0", "x500")).values, expected, rtol=0, atol=1e-8)
    middle = product_in_logarithms(list(potentials.values())[:250])
    rest = product_in_logarithms(list(potentials.values())[250:])
    joint = middle.T[:, :, None] + rest[:, None, :]
    inner = np.exp(joint - log_sum_exp(joint)).sum(axis=(1, 2))
    np.testing.assert_allclose(model.marginal(("x250",)).values, inner, rtol=0, atol=1e-8)


def test_a_marginal_may_cross_a_tree_deeper_than_the_recursion_limit():
    domain, cliques = chain(1200, 2)
    model = field(domain, {clique: np.log([[0.999, 0.001], [0.001, 0.999]]) for clique in cliques})
    same = 0.5 * (1 + 0.998**1200)
    expected = 0.5 * np.array([[same, 1 - same], [1 - same, same]])
    np.testing.assert_allclose(model.marginal(("x1200", "x0")).values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
def test_what_underflows_may_not_grow_back_unseen(reverse):
    """State 0 stays alone while states 1 and 2 double at each step: 1e-310 becomes the whole."""
    domain, cliques = chain(1100, 3)
    step = np.array([[0.0, -np.inf, -np.inf], [-np.inf, 0.0, 0.0], [-np.inf, 0.0, 0.0]])
    potentials = dict.fromkeys(cliques, step)
    last = domain.attributes[0] if reverse else domain.attributes[-1]
    potentials[(last,)] = np.array([0.0, -750.0, -750.0])
    log_others = 1101 * np.log(2.0) - 750.0
    share = 1 / (1 + np.exp(log_others))
    first = domain.attributes[-1] if reverse else domain.attributes[0]
    model = field(domain, potentials)
    for name in (first, last, "x550"):
        assert model.marginal((name,)).values[0] == pytest.approx(share, rel=1e-9)


def test_an_underflowing_message_starts_the_logarithms(monkeypatch):
    domain, cliques = chain(2, 2)
    potentials = {
        cliques[0]: np.zeros((2, 2)),
        cliques[1]: np.array([[0.0, 0.0], [-800.0, -801.0]]),
    }
    potentials[("x1",)] = np.array([-799.0, 0.0])
    tree = JunctionTree.covering(domain, cliques)
    homes = by_home(tree, potentials)
    with pytest.raises(UnderflowDetected):
        BeliefPropagation(tree).run(homes, LinearArithmetic())
    monkeypatch.setattr(belief_propagation, "LinearArithmetic", LogArithmetic)
    slow = BeliefPropagation(tree).beliefs(homes)
    monkeypatch.undo()
    for table, other in zip(BeliefPropagation(tree).beliefs(homes), slow, strict=True):
        np.testing.assert_array_equal(table, other)


def test_ordinary_models_stay_in_plain_numbers():
    rng = np.random.default_rng(0)
    domain, cliques = chain(60, 20)
    potentials = {clique: 3 * rng.normal(size=(20, 20)) for clique in cliques}
    tree = JunctionTree.covering(domain, cliques)
    BeliefPropagation(tree).run(
        by_home(tree, potentials), LinearArithmetic()
    )  # raises if it underflows


def test_cells_of_1e_300_keep_their_value():
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    tiny = np.log([[1.0, 1e-300], [1e-300, 1e-300]])
    model = field(domain, {("a", "b"): tiny, ("b", "c"): np.zeros((2, 2))})
    assert model.marginal(("a", "b")).values[1, 0] == pytest.approx(1e-300, rel=1e-10, abs=0)
    assert model.marginal(("a", "c")).values[1, 1] == pytest.approx(1e-300, rel=1e-10, abs=0)


def test_separators_without_mass_give_zeros():
    domain = Domain(("a", "b", "c"), (2, 3, 2))
    first = np.zeros((2, 3))
    first[:, 1] = -np.inf
    model = field(domain, {("a", "b"): first, ("b", "c"): np.zeros((3, 2))})
    np.testing.assert_allclose(model.marginal(("c", "a")).values, 0.25)
    assert (model.marginal(("a", "b", "c")).values[:, 1] == 0).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_potentials_that_are_no_numbers_are_refused(value):
    with pytest.raises(ParameterError, match="nan or"):
        field(Domain(("a",), (2,)), {("a",): np.array([0.0, value])}).marginal(("a",))


@pytest.mark.parametrize("scale", [0.0, 1000.0])
def test_impossible_tables_are_refused(scale):
    domain = Domain(("a", "b"), (2, 2))
    potentials = {
        ("a",): np.array([0.0, -np.inf]),
        ("a", "b"): np.array([[-np.inf, -np.inf], [scale, 0.0]]),
    }
    with pytest.raises(ParameterError, match="impossible"):
        field(domain, potentials).marginal(("a",))
    with pytest.raises(ParameterError, match="impossible"):
        field(domain, {("a",): np.full(2, -np.inf)}).marginal(("b",))
