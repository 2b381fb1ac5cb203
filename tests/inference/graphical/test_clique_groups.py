"""Groups of small cliques: a partition within bounds, and sums through them equal direct ones."""

import numpy as np
from helpers.seldom import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from synthdp.core import Domain
from synthdp.inference import AttributeSets, JunctionTree, MarginalOracle, grouped

NAMES = tuple("abcdefgh")


@st.composite
def problems(draw):
    shape = draw(st.lists(st.integers(1, 4), min_size=len(NAMES), max_size=len(NAMES)))
    domain = Domain(NAMES, tuple(shape))
    sets = draw(
        st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=3), min_size=1, max_size=30)
    )
    return domain, [domain.canonical(names) for names in sets]


@given(problems())
def test_groups_are_a_partition_and_hold_their_members(problem):
    domain, cliques = problem
    groups = grouped(AttributeSets(domain), NAMES, cliques)
    assert sorted(i for group in groups for i in group.members) == list(range(len(cliques)))
    for group in groups:
        assert group.clique == domain.canonical(group.clique)
        assert all(set(cliques[i]) <= set(group.clique) for i in group.members)


def test_groups_make_many_sums_cheaper():
    domain = Domain(NAMES, (4,) * len(NAMES))
    pairs = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]
    groups = grouped(AttributeSets(domain), NAMES, pairs)
    direct = domain.size() * len(pairs)
    shared = domain.size() * len(groups) + sum(
        domain.size(group.clique) * len(group.members) for group in groups
    )
    assert shared < direct / 2


@settings(max_examples=examples(60), deadline=None)
@given(problems(), st.integers(0, 2**32 - 1))
def test_marginals_through_groups_equal_those_of_the_joint_table(problem, seed):
    """One clique holds everything, so that all cliques share a home and are grouped."""
    domain, cliques = problem
    generator = np.random.default_rng(seed)
    cliques = [*dict.fromkeys(cliques), NAMES]
    potentials = [generator.normal(size=domain.project(clique).shape) for clique in cliques]
    joint = np.zeros(domain.shape)
    for clique, potential in zip(cliques, potentials, strict=True):
        joint = joint + potential.reshape([domain[name] if name in clique else 1 for name in NAMES])
    joint = np.exp(joint - joint.max())
    joint /= joint.sum()
    found = MarginalOracle(JunctionTree.covering(domain, [NAMES]), cliques).marginals(potentials)
    for clique, table in zip(cliques, found, strict=True):
        expected = joint.sum(
            axis=tuple(axis for axis, name in enumerate(NAMES) if name not in clique)
        )
        np.testing.assert_allclose(table, expected, rtol=1e-9, atol=1e-15)
