"""Conditional draws of the models that are no Markov random fields, against tables written out."""

import numpy as np
import pytest
from helpers.fit_problems import mixture_of
from helpers.homes import home
from helpers.seldom import examples
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from synthdp.core import Coarsening, Constraint, Domain, LinearMeasurement, ParameterError
from synthdp.inference import (
    AgreeingRows,
    FitStatus,
    GraphicalModelEngine,
    JunctionTree,
    MixtureModel,
    PseudoMarginalModel,
    PublicDataEngine,
    WeightedRowsModel,
    estimate_refined,
    field_of,
)

DOMAIN = Domain(("a", "b", "c"), (3, 2, 4))
STATUS = FitStatus(ended="optimal", n_iterations=0, loss=0.0)
N_ROWS = 20_000


def mixture(seed, *, zeros=0.0, constraints=(), n_components=7):
    rng = np.random.default_rng(seed)
    blocks = [rng.random((size, n_components)) ** 3 for size in DOMAIN.shape]
    blocks = [
        np.where(rng.random(block.shape) < zeros, 0.0, block) + (zeros == 0) * 1e-3
        for block in blocks
    ]
    for block in blocks:
        block[0, block.sum(axis=0) == 0] = 1.0
    levels = np.concatenate([block / block.sum(axis=0) for block in blocks])
    weights = rng.dirichlet(np.ones(n_components))
    return mixture_of(DOMAIN, levels, weights, constraints=constraints)


def written_out(model):
    a, b, c = np.split(model.levels, np.cumsum(DOMAIN.shape)[:-1])
    return np.einsum("k,ak,bk,ck->abc", model.weights, a, b, c)


def assert_follows(columns, expected):
    """Each cell within 7 standard deviations of its expected count, and impossible cells empty."""
    counts = np.zeros(DOMAIN.shape)
    np.add.at(counts, tuple(columns), 1)
    expected = counts.sum() * expected / expected.sum()
    assert not counts[expected == 0].any()
    assert (np.abs(counts - expected) <= 7 * np.sqrt(expected) + 7).all()


@pytest.mark.parametrize("chunk", [1 << 21, 1000])
def test_a_mixture_completes_from_the_exact_conditional_distribution(monkeypatch, chunk):
    monkeypatch.setattr(home(MixtureModel), "_CHUNK_CELLS", chunk)
    for seed in range(3):
        model = mixture(seed)
        joint = written_out(model)
        for a in range(3):
            columns = model.complete({"a": np.full(N_ROWS, a)}, seed=seed)
            assert_follows(columns, joint * (np.arange(3) == a)[:, None, None])
        columns = model.complete({"c": np.full(N_ROWS, 2), "b": np.full(N_ROWS, 1)}, seed=seed)
        assert_follows(columns, joint * (np.arange(4) == 2) * (np.arange(2) == 1)[:, None])


def test_a_mixture_s_slices_are_exact_with_weights_zeros_and_constraints():
    allowed = np.array([[1, 1, 1, 0], [0, 1, 1, 1]], dtype=bool)
    wanted = {"a": np.array([0.0, 1.0, 0.2]), "c": np.array([True, True, False, True])}
    inside = wanted["a"][:, None, None] * wanted["c"]
    for seed in range(3):
        model = mixture(seed, zeros=0.3)
        assert_follows(model.sample_where(wanted, N_ROWS, seed=seed), written_out(model) * inside)
        strict = mixture(seed, constraints=[Constraint(("b", "c"), allowed)])
        columns = strict.sample_where(wanted, N_ROWS, seed=seed)
        assert inside[columns[0], 0, columns[2]].all()
        assert allowed[columns[1], columns[2]].all()
        completed = strict.complete({"b": np.zeros(N_ROWS, int)}, seed=seed)
        assert_follows(completed, written_out(strict) * allowed * np.array([[1], [0]]))


def test_a_slice_far_below_what_a_float_holds_is_drawn_from_a_mixture():
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    rare = np.array([[1.0, 1.0], [1e-200, 1e-199]])
    levels = np.concatenate([rare, rare, np.array([[1.0, 0.0], [0.0, 1.0]])])
    model = MixtureModel(
        domain=domain, levels=levels, weights=np.full(2, 0.5), total=1.0, status=STATUS
    )
    second = np.array([False, True])
    columns = model.sample_where({"a": second, "b": second}, 10_100, seed=0)
    assert (columns[0] & columns[1]).all()
    np.testing.assert_allclose(np.bincount(columns[2]), [100, 10_000], atol=1)
    completed = model.complete({"a": np.ones(10_100, int), "b": np.ones(10_100, int)}, seed=0)
    assert abs(int((completed[2] == 0).sum()) - 100) < 70


def test_what_all_components_rule_out_is_completed_by_those_that_rule_out_fewest_levels():
    a, b, c = np.eye(3)[:, [0, 1, 1]], np.eye(2)[:, [0, 1, 1]], np.eye(4)[:, [0, 1, 2]]
    weights = np.array([0.5, 0.1, 0.4])
    model = MixtureModel(
        domain=DOMAIN, levels=np.concatenate([a, b, c]), weights=weights, total=1.0, status=STATUS
    )
    columns = model.complete({"a": np.full(N_ROWS, 2), "b": np.ones(N_ROWS, int)}, seed=0)
    assert_follows(
        columns, np.einsum("a,b,c->abc", np.eye(3)[2], np.eye(2)[1], np.array([0.0, 0.1, 0.4, 0.0]))
    )
    columns = model.sample_where({"a": np.eye(3)[2], "b": np.eye(2)[1]}, N_ROWS, seed=0)
    assert_follows(
        columns, np.einsum("a,b,c->abc", np.eye(3)[2], np.eye(2)[1], np.array([0.0, 0.1, 0.4, 0.0]))
    )


@settings(max_examples=examples(60), deadline=None)
@for_all(st.integers(0, 2**32 - 1))
def test_rows_agree_with_records_or_differ_in_fewest_attributes(seed):
    rng = np.random.default_rng(seed)
    domain = Domain(tuple("abcd"), (3, 2, 4, 300))
    n_rows, n_records = rng.integers(1, 30, 2)
    columns = [rng.integers(0, size, n_rows) for size in domain.shape]
    weights = rng.random(n_rows) * (rng.random(n_rows) < 0.7)
    weights[0] = 0.5
    names = [str(name) for name in rng.permutation(domain.attributes)[: rng.integers(1, 5)]]
    given = {name: rng.integers(0, domain[name], n_records) for name in names}
    differ = sum(
        (columns[domain.index(name)] != codes[:, None]).astype(int) for name, codes in given.items()
    )
    agreeing = AgreeingRows(domain, columns, weights, given)
    np.testing.assert_array_equal(agreeing.n_agreeing, ((differ == 0) & (weights > 0)).sum(axis=1))
    records = rng.integers(0, n_records, 40)
    rows = agreeing.drawn(records, rng)
    assert (weights[rows] > 0).all()
    np.testing.assert_array_equal(
        differ[records, rows], differ[:, weights > 0].min(axis=1)[records]
    )


def test_nearest_rows_are_drawn_by_weight_and_also_from_very_many(monkeypatch):
    columns = [np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.array([0, 1, 2, 3])]
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    given = {"a": np.full(N_ROWS, 0), "b": np.ones(N_ROWS, int)}
    agreeing = AgreeingRows(DOMAIN, columns, weights, given)
    drawn = np.bincount(agreeing.drawn(np.arange(N_ROWS), np.random.default_rng(0)), minlength=4)
    expected = N_ROWS * np.array([0.1, 0.0, 0.3, 0.4]) / 0.8
    assert (np.abs(drawn - expected) <= 7 * np.sqrt(expected)).all()
    monkeypatch.setattr(home(AgreeingRows), "_MAX_COMPARED", 2)
    assert np.unique(agreeing.drawn(np.arange(N_ROWS), np.random.default_rng(0))).size <= 2


def test_records_that_none_agrees_with_are_completed_within_the_constraints():
    constraint = Constraint.determines("c", "b", [0, 0, 1, 1], 2)
    records = np.array([[0, 1], [0, 0], [0, 1]], dtype=np.int32)  # no record has b = 1
    model = WeightedRowsModel(
        domain=DOMAIN,
        columns=tuple(records),
        weights=np.full(2, 0.5),
        total=2.0,
        status=STATUS,
        constraints=[constraint],
    )
    columns = model.complete({"b": np.ones(200, int), "a": np.arange(200) % 3}, seed=0)
    assert constraint.holds(DOMAIN, columns).all()
    assert set(columns[2]) <= {2, 3}
    with pytest.raises(ParameterError, match=r"^given: .* on \('b', 'c'\);"):
        model.complete({"b": np.array([0]), "c": np.array([3])})
    columns = model.sample_where({"b": np.array([False, True])}, 200, seed=0)
    assert (columns[1] == 1).all()
    assert constraint.holds(DOMAIN, columns).all()
    with pytest.raises(ParameterError, match=r"^where: .* on \('b', 'c'\);"):
        model.sample_where(
            {"b": np.array([False, True]), "c": np.array([True, True, False, False])}, 5
        )


def test_the_field_of_a_tree_has_the_tree_s_marginals():
    rng = np.random.default_rng(0)
    joint = rng.dirichlet(np.ones(24)).reshape(DOMAIN.shape)
    joint[0] = 0.0
    joint /= joint.sum()
    tree = JunctionTree.from_cliques(DOMAIN, [("a", "b"), ("b", "c")])
    beliefs = [joint.sum(axis=2), joint.sum(axis=0)]
    assert tree.cliques == (("a", "b"), ("b", "c"))
    field = field_of(tree, beliefs, {})
    for clique, belief in zip(tree.cliques, beliefs, strict=True):
        np.testing.assert_allclose(field.marginal(clique).values, belief, atol=1e-12)
    # Of what has probability 0 nothing is known: its other attributes are as all records' are, but
    # for b and c.
    columns = field.complete({"a": np.zeros(N_ROWS, int)}, seed=0)
    assert_follows(columns, np.eye(3)[0][:, None, None] * joint.sum(axis=0))


def test_pseudo_marginals_complete_rare_records_from_their_tree():
    """Of two hundred million records a few have a = 2: no drawn row does, the tree knows them all
    the same.
    """
    pairs = {("a", "b"): (3, 2), ("b", "c"): (2, 4), ("a", "c"): (3, 4)}
    rare = np.array([0.5, 0.5 - 1e-8, 1e-8])
    b_of_a, c = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]]), np.full(4, 0.25)
    joint = np.einsum("a,ab,c->abc", rare, b_of_a, c)
    tables = {clique: joint.sum(axis=3 - sum(map(DOMAIN.index, clique))) for clique in pairs}
    model = PseudoMarginalModel(
        domain=DOMAIN, tables=tables, messages={}, constraints=(), total=2e8, status=STATUS
    )
    columns = model.complete({"a": np.full(N_ROWS, 2)}, seed=0)
    assert_follows(columns, np.einsum("a,b,c->abc", np.eye(3)[2], np.array([0.9, 0.1]), c))
    assert_follows(
        model.sample_where({"a": np.eye(3)[2]}, N_ROWS, seed=0), joint * np.eye(3)[2][:, None, None]
    )


def test_a_merged_slice_without_any_share_is_drawn_and_its_records_are_completed():
    merging = Coarsening({"c": np.array([0, 0, 1, 1])})
    measurements = [
        LinearMeasurement(("c",), np.array([30.0, -2.0, 10.0, 20.0]), 1.0),
        LinearMeasurement(
            ("a", "c"), np.array([[10.0, 1.0], [10.0, 9.0], [10.0, 20.0]]), 1.0, merging
        ),
    ]
    model = estimate_refined(GraphicalModelEngine(), DOMAIN, measurements)
    expected = np.tile(model.marginal(("a", "c")).values[:, None, :1], (1, 2, 4)) * np.eye(4)[1]
    assert_follows(model.complete({"c": np.full(N_ROWS, 1)}, seed=0), expected)
    assert_follows(model.sample_where({"c": np.eye(4)[1] > 0}, N_ROWS, seed=0), expected)
    beside = model.sample_where({"c": np.array([True, True, False, False])}, N_ROWS, seed=0)
    assert set(beside[2].tolist()) == {0}


def test_public_rows_are_merged_as_the_measurements_are():
    rng = np.random.default_rng(0)
    public = tuple(rng.integers(0, size, 500) for size in DOMAIN.shape)
    groups = np.array([1, 0, 0, 2])
    merging = Coarsening({"c": groups})
    measurements = [
        LinearMeasurement(("c",), np.array([30.0, 50.0, 25.0, 20.0]), 1.0),
        LinearMeasurement(("a", "c"), rng.uniform(10, 20, (3, 3)), 3.0, merging),
    ]
    engine = PublicDataEngine(columns=public, max_missed_share=1.0)
    model = estimate_refined(engine, DOMAIN, measurements)
    by_hand = PublicDataEngine(
        columns=(public[0], public[1], groups[public[2]]), max_missed_share=1.0
    )
    unmerged = [
        measurements[0].coarsened(merging),
        LinearMeasurement(("a", "c"), measurements[1].values, 3.0),
    ]
    oracle = by_hand.estimate(merging.domain(DOMAIN), unmerged)
    values = model.marginal(DOMAIN.attributes).values
    merged = np.stack([values[..., groups == group].sum(axis=-1) for group in range(3)], axis=-1)
    np.testing.assert_allclose(merged, oracle.marginal(DOMAIN.attributes).values, rtol=1e-9)
    np.testing.assert_allclose(values[..., 1], values[..., 2] * 2, rtol=1e-9)
    with pytest.raises(ParameterError, match="columns"):
        estimate_refined(PublicDataEngine(columns=(public[0],)), DOMAIN, measurements)
