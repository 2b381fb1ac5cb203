"""Batches of marginals against the full joint table, against single queries, and against Markov
chains.
"""

import copy
import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, pairwise

import numpy as np
import pytest
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import inference as oracle

from synthdp.core import Domain, ModelTooLargeError, all_k_way, check_rows
from synthdp.inference import JunctionTree, MarginalOracle, TreeMarginals

tree_marginals = home(TreeMarginals)


def calibrated(domain, potentials):
    tree = JunctionTree.covering(domain, list(potentials))
    return TreeMarginals(
        tree, MarginalOracle(tree, list(potentials)).beliefs(list(potentials.values()))
    )


def downward_closed(domain):
    return [clique for k in range(4) for clique in all_k_way(domain.attributes, k)]


@st.composite
def batches(draw, domain):
    """Queries of any length with attributes in any order, repeats included, or all of up to three
    attributes.
    """
    query = st.sets(st.sampled_from(domain.attributes)).flatmap(
        lambda names: st.permutations(sorted(names))
    )
    return draw(st.just(downward_closed(domain)) | st.lists(query.map(tuple), max_size=12))


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), oracle.SEEDS, st.sampled_from([0.0, 0.1, 0.3]))
def test_a_batch_equals_the_joint_table_and_single_queries(data, seed, impossible):
    domain = data.draw(oracle.domains(largest=3, most=7))
    cliques = data.draw(oracle.clique_sets(domain))
    potentials = oracle.random_potentials(
        np.random.default_rng(seed), domain, cliques, scale=2.0, impossible=impossible
    )
    joint = oracle.joint_logarithm(domain, potentials)
    assume(np.isfinite(joint).any())
    probabilities = np.exp(joint - oracle.log_sum_exp(joint))
    queries = calibrated(domain, potentials)
    batch = data.draw(batches(domain))
    for answers in (
        queries.marginals(batch),
        queries.marginals(batch),
        [queries.marginal(query) for query in batch],
    ):
        for query, answer in zip(batch, answers, strict=True):
            expected = oracle.marginal_of(probabilities, domain, query)
            assert answer.shape == expected.shape
            np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-13)


@settings(max_examples=30, deadline=None)
@given(oracle.SEEDS)
def test_larger_trees_equal_the_joint_table(seed):
    """Trees of 8 attributes in random pairs: paths, stars and loops with separators of two and
    three.
    """
    rng = np.random.default_rng(seed)
    domain = Domain(tuple("abcdefgh"), tuple(map(int, rng.integers(1, 4, 8))))
    pairs = all_k_way(domain.attributes, 2)
    cliques = [pairs[i] for i in rng.choice(len(pairs), rng.integers(3, 11), replace=False)]
    potentials = oracle.random_potentials(rng, domain, cliques, scale=1.0, impossible=0.05)
    joint = oracle.joint_logarithm(domain, potentials)
    assume(np.isfinite(joint).any())
    probabilities = np.exp(joint - oracle.log_sum_exp(joint))
    batch = [*downward_closed(domain), tuple("hgfedcba"), tuple("bdfh")]
    for query, answer in zip(batch, calibrated(domain, potentials).marginals(batch), strict=True):
        np.testing.assert_allclose(
            answer, oracle.marginal_of(probabilities, domain, query), rtol=0, atol=1e-13
        )


def markov_chain(rng, sizes):
    """A domain, log potentials on neighbours, the first distribution and the transition matrices."""
    domain = Domain(tuple(f"x{i}" for i in range(len(sizes))), tuple(map(int, sizes)))
    start = rng.dirichlet(np.ones(sizes[0]))
    steps = [rng.dirichlet(np.full(after, 0.3), size=before) for before, after in pairwise(sizes)]
    potentials = {("x0",): np.log(start)}
    potentials |= {
        pair: np.log(step) for pair, step in zip(pairwise(domain.attributes), steps, strict=True)
    }
    return domain, potentials, start, steps


@pytest.mark.parametrize("order", ["random", "growing", "shrinking"])
def test_queries_along_a_chain_equal_products_of_transitions(order):
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 6, 150)
    if order != "random":  # the cheapest edge is always at one end
        sizes = np.sort(sizes)[:: 1 if order == "growing" else -1]
    domain, potentials, start, steps = markov_chain(rng, sizes)
    places = [0, 1, 37, 80, 149]
    batch = [tuple(f"x{i}" for i in query) for k in (1, 2, 3) for query in combinations(places, k)]
    answers = dict(zip(batch, calibrated(domain, potentials).marginals(batch), strict=True))
    for first, second, third in combinations(places, 3):
        shares = start
        for step in steps[:first]:
            shares = shares @ step
        one, other = (np.linalg.multi_dot([np.eye(len(part[0])), *part, np.eye(part[-1].shape[1])])
                      for part in (steps[first:second], steps[second:third]))  # fmt: skip
        expected = shares[:, None, None] * one[:, :, None] * other[None]
        query = f"x{first}", f"x{second}", f"x{third}"
        np.testing.assert_allclose(answers[query], expected, rtol=0, atol=1e-13)
        np.testing.assert_allclose(answers[query[::2]], expected.sum(axis=1), rtol=0, atol=1e-13)
        np.testing.assert_allclose(
            answers[query[1:2]], expected.sum(axis=(0, 2)), rtol=0, atol=1e-13
        )


def test_intermediate_tables_are_small_and_dropped():
    """All triples of a chain of 13: 8,000 cells each, 286 of them; no part needs more cells than
    one of them.
    """
    rng = np.random.default_rng(0)
    domain, potentials, *_ = markov_chain(rng, [20] * 13)
    queries = calibrated(domain, potentials)
    batch = all_k_way(domain.attributes, 3)
    tracemalloc.start()
    answers = queries.marginals(batch)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    answered = sum(answer.nbytes for answer in answers)
    assert answered == 286 * 20**3 * 8
    assert peak < 1.2 * answered


def test_separators_larger_than_the_query_are_not_multiplied():
    """Two ends of a path of separators of 64 cells: a table of two separators would have 4,096 of
    them.
    """
    rng = np.random.default_rng(1)
    domain = Domain(tuple("abcdefghijklmnop"), (2, *[8] * 14, 2))
    cliques = [domain.attributes[i : i + 3] for i in range(14)]
    potentials = oracle.random_potentials(rng, domain, cliques, scale=1.0)
    queries = calibrated(domain, potentials)
    tracemalloc.start()
    answer = queries.marginal(("a", "p"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20  # numpy's own objects included
    backwards = calibrated(domain, potentials).marginal(("p", "a"))
    np.testing.assert_allclose(answer, backwards.T, rtol=0, atol=1e-13)
    shares = np.ones((2, 8, 8))  # sum over the path, one attribute at a time
    shares = np.einsum("ab...->ab...", np.exp(potentials[cliques[0]]))
    for clique in cliques[1:]:
        shares = np.einsum("abc,bcd->acd", shares, np.exp(potentials[clique]))
    expected = shares.sum(axis=1)
    np.testing.assert_allclose(answer, expected / expected.sum(), rtol=0, atol=1e-13)


def test_tables_on_the_way_are_refused_as_answers_are(monkeypatch):
    """Both ends of a chain with separators of 64 cells: 32 values of one end, times a separator,
    are needed.
    """
    domain = Domain(tuple(f"x{i}" for i in range(24)), (2,) * 24)
    windows = [domain.attributes[i : i + 7] for i in range(18)]
    model = oracle.field(
        domain, oracle.random_potentials(np.random.default_rng(0), domain, windows, scale=1.0)
    )
    ends = domain.attributes[:5] + domain.attributes[-5:]
    monkeypatch.setattr(home(check_rows), "MAX_CELLS", 1500)
    with pytest.raises(
        ModelTooLargeError, match=r"a table on the way has \d+ cells, at most 1500 are allowed"
    ):
        model.marginal(ends)
    monkeypatch.setattr(home(check_rows), "MAX_CELLS", 1 << 12)
    assert model.marginal(ends).total() == pytest.approx(model.total)


def kept_by(queries):
    """The parts that are kept for the next question."""
    return [contraction._parts for contraction in queries._idle]


@settings(max_examples=30, deadline=None)
@given(st.data(), oracle.SEEDS, st.sampled_from([0, 200, 1 << 26]))
def test_answers_do_not_depend_on_what_is_kept_of_earlier_ones(data, seed, limit):
    rng = np.random.default_rng(seed)
    domain, potentials, *_ = markov_chain(rng, rng.integers(1, 4, 6))
    queries = calibrated(domain, potentials)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree_marginals, "_MAX_KEPT_BYTES", limit)
        for batch in data.draw(st.lists(batches(domain), max_size=4)):
            anew = calibrated(domain, potentials).marginals(batch)
            for answer, expected in zip(queries.marginals(batch), anew, strict=True):
                np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-13)
            kept = [table for parts in kept_by(queries) for table in parts.values()]
            assert sum(table.values.nbytes for table in kept) <= limit


def test_one_question_after_the_other_multiplies_no_more_than_all_at_once(monkeypatch):
    rng = np.random.default_rng(2)
    domain, potentials, *_ = markov_chain(rng, [4] * 14)
    made = []
    product = tree_marginals._Contraction._product
    monkeypatch.setattr(
        tree_marginals._Contraction,
        "_product",
        lambda *arguments: made.append(arguments[1]) or product(*arguments),
    )
    batch = all_k_way(domain.attributes, 3)
    calibrated(domain, potentials).marginals(batch)
    at_once = len(made)
    queries = calibrated(domain, potentials)
    for query in batch:
        queries.marginal(query)
    assert len(made) - at_once <= 1.1 * at_once
    assert len(made) - at_once == len(set(made[at_once:]))


def test_what_is_kept_is_bounded(monkeypatch):
    rng = np.random.default_rng(0)
    domain, potentials, *_ = markov_chain(rng, [20] * 13)
    queries = calibrated(domain, potentials)
    monkeypatch.setattr(tree_marginals, "_MAX_KEPT_BYTES", 1 << 21)
    tracemalloc.start()
    for query in all_k_way(domain.attributes, 3):
        queries.marginal(query)
    held, _ = tracemalloc.get_traced_memory()
    queries.marginals(all_k_way(domain.attributes, 3))
    assert kept_by(queries)  # more is made than may be kept, but only so much is
    monkeypatch.setattr(tree_marginals, "_MAX_KEPT_SETS", 100)
    queries.marginals(all_k_way(domain.attributes, 3))
    assert not kept_by(queries)
    tracemalloc.stop()
    assert held < (1 << 21) + (1 << 22)  # tables, and the plan for 286 queries


def test_several_threads_may_ask_at_once():
    rng = np.random.default_rng(4)
    domain, potentials, *_ = markov_chain(rng, [3] * 12)
    batch = all_k_way(domain.attributes, 3)
    expected = calibrated(domain, potentials).marginals(batch)
    queries = calibrated(domain, potentials)

    def ask(seed):
        order = np.random.default_rng(seed).permutation(len(batch))
        return [(i, queries.marginal(batch[i])) for i in order]

    with ThreadPoolExecutor(8) as pool:
        for answers in pool.map(ask, range(8)):
            for i, answer in answers:
                np.testing.assert_allclose(answer, expected[i], rtol=0, atol=1e-13)


def test_answers_of_a_model_are_its_callers_own_and_the_model_can_be_copied():
    domain, potentials, *_ = markov_chain(np.random.default_rng(5), [3, 2, 4, 3])
    model = oracle.field(domain, potentials, total=100.0)
    cliques = [("x0",), ("x0", "x1"), ("x3", "x0"), ("x0", "x3"), ("x0", "x1", "x3"), ()]
    before = [factor.values.copy() for factor in model.marginals(cliques)]
    state, arrays = model.to_state()
    for factor in model.marginals(cliques):
        assert not factor.values.flags.writeable
        factor.values.flags.writeable = (
            True  # they are the caller's: no harm is done by whoever insists
        )
        factor.values[...] = -1.0
    for copied in (model, copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        for values, clique in zip(before, cliques, strict=True):
            np.testing.assert_allclose(copied.marginal(clique).values, values, rtol=1e-12)
    assert model.to_state()[0] == state
    assert list(model.to_state()[1]) == list(arrays)
