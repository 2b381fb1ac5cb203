"""Completion of every kind of model: nothing but constraints refuses a record, and the message
names them.
"""

from itertools import combinations, product

import numpy as np
import pytest
from helpers.homes import home
from helpers.quick_engines import CUT_SHORT
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st
from oracles.inference import STATUS, field, joint_logarithm, log_sum_exp, marginal_of

from synthdp.core import Coarsening, Constraint, Domain, LinearMeasurement, ParameterError
from synthdp.inference import (
    AdaptiveDescent,
    GenerativeNetworkEngine,
    LocalConsistencyEngine,
    MixtureModel,
    PseudoMarginalModel,
    RecordUpdateEngine,
    WeightedRowsModel,
    estimate_refined,
)

pytestmark = CUT_SHORT

DOMAIN = Domain(("a", "b", "c", "d"), (3, 2, 4, 3))
CONSTRAINTS = (
    Constraint(("c", "a"), np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=bool)),
    Constraint.determines("c", "b", [0, 1, 1, 0], 2),
)
ALLOWED = np.ones(DOMAIN.shape, dtype=bool)
for _constraint in CONSTRAINTS:
    _shown = _constraint.canonical(DOMAIN)
    ALLOWED &= _shown.allowed.reshape(
        [DOMAIN[n] if n in _shown.clique else 1 for n in DOMAIN.attributes]
    )
NETWORK = GenerativeNetworkEngine(
    n_components=8, hidden=(8,), driver=AdaptiveDescent(learning_rate=0.1, max_iterations=20)
)


def sparse_joint(seed, constrained):
    """A table of which most cells are 0, so that models rule out what nobody forbade."""
    joint = (
        np.random.default_rng(seed).dirichlet(np.full(DOMAIN.size(), 0.05)).reshape(DOMAIN.shape)
    )
    joint *= (ALLOWED if constrained else 1.0) * (joint > 0.01)
    joint[(0, 1, 1, 2) if constrained else (2, 1, 3, 2)] += 0.1
    return joint / joint.sum()


def measured(joint, cliques):
    return [
        LinearMeasurement(clique, 1000.0 * marginal_of(joint, DOMAIN, clique), 0.5)
        for clique in cliques
    ]


def tables(joint, cliques):
    return {clique: marginal_of(joint, DOMAIN, clique) for clique in cliques}


def _random_field(joint, constraints):
    marginals = tables(joint, list(combinations(DOMAIN.attributes, 2)))
    potentials = {pair: np.log(np.maximum(table, 1e-300)) for pair, table in marginals.items()}
    masks = {
        c.clique: np.where(c.allowed, 0.0, -np.inf)
        for c in (one.canonical(DOMAIN) for one in constraints)
    }
    return field(
        DOMAIN, {clique: table + masks.get(clique, 0.0) for clique, table in potentials.items()}
    )


def _pseudo(cliques):
    def model(joint, constraints):
        return PseudoMarginalModel(
            domain=DOMAIN,
            tables=tables(joint, cliques),
            messages={},
            constraints=constraints,
            total=1000.0,
            status=STATUS,
        )

    return model


def _rows(joint, constraints):
    cells = np.argwhere(joint)
    weights = joint[tuple(cells.T)]
    return WeightedRowsModel(
        domain=DOMAIN,
        columns=tuple(cells.T),
        weights=weights / weights.sum(),
        total=1000.0,
        status=STATUS,
        constraints=constraints,
    )


def _mixture(joint, constraints):
    cells = np.argwhere(joint).T
    levels = np.concatenate(
        [np.eye(size)[:, codes] for size, codes in zip(DOMAIN.shape, cells, strict=True)]
    )
    weights = joint[tuple(cells)]
    return MixtureModel(
        domain=DOMAIN,
        levels=levels,
        weights=weights / weights.sum(),
        total=1000.0,
        status=STATUS,
        constraints=constraints,
    )


def _network(joint, constraints):
    return NETWORK.estimate(
        DOMAIN, measured(joint, [("a", "b"), ("c", "d")]), constraints=constraints
    )


def _refined(engine):
    def model(joint, constraints):
        merging = Coarsening({"d": np.array([0, 1, 1])})
        one_way, pair = measured(joint, [("d",), ("c", "d")])
        one_way = LinearMeasurement(one_way.clique, np.array([600.0, 400.0, -3.0]), 0.5)
        others = measured(joint, [("a", "b"), ("a", "c")])
        merged = LinearMeasurement(
            pair.clique, merging.apply(pair.clique, pair.values), 0.5, merging
        )
        measurements = [one_way, merged, *others]
        return estimate_refined(engine, DOMAIN, measurements, constraints=constraints)

    return model


def _rough(make):
    return lambda joint, constraints: make(joint, constraints).rough()


CYCLE = _pseudo([("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c")])
KINDS = {
    "markov-random-field": _random_field,
    "pseudo-marginals, tree": _pseudo([("a", "b"), ("b", "c"), ("c", "d")]),
    "pseudo-marginals, cycle": CYCLE,
    "rough pseudo-marginals": _rough(CYCLE),
    "weighted-rows": _rows,
    "mixture of rows": _mixture,
    "generative network": _network,
    "refined pseudo-marginals": _refined(LocalConsistencyEngine(shrinkage=False)),
    "rough refined": _rough(_refined(LocalConsistencyEngine(shrinkage=False))),
    "refined rows": _refined(RecordUpdateEngine(n_records=300)),
}


@pytest.fixture(params=KINDS)
def made(request, monkeypatch):
    """A model of each kind from a seed, with constraints or without; pools are small to be quick."""
    monkeypatch.setattr(home(PseudoMarginalModel), "_POOL_ROWS", (1000, 1000))

    def make(seed, constraints=()):
        return KINDS[request.param](sparse_joint(seed, bool(constraints)), constraints)

    return make


def assert_completed(model, given, constraints=()):
    columns = model.complete(given, seed=1)
    for name, codes in given.items():
        np.testing.assert_array_equal(columns[DOMAIN.index(name)], codes)
    assert all((column < size).all() for column, size in zip(columns, DOMAIN.shape, strict=True))
    assert all(constraint.holds(DOMAIN, columns).all() for constraint in constraints)


@pytest.mark.parametrize("seed", range(3))
def test_all_records_are_completed_where_nothing_is_forbidden(made, seed):
    model = made(seed)
    for n_given in (1, 2, 3, 4):
        for names in combinations(DOMAIN.attributes, n_given):
            cells = np.array(list(product(*(range(DOMAIN[name]) for name in names))))
            assert_completed(model, dict(zip(names, cells.T, strict=True)))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("constraints", [(), CONSTRAINTS], ids=["free", "constrained"])
def test_own_rows_are_completed(made, seed, constraints):
    model = made(seed, constraints)
    columns = dict(zip(DOMAIN.attributes, model.sample(300, seed=seed), strict=True))
    for names in (("a",), ("b", "d"), ("a", "b", "c"), DOMAIN.attributes):
        assert_completed(model, {name: columns[name] for name in names}, constraints)


def test_constraints_alone_refuse_records_and_are_named(made):
    model = made(5, CONSTRAINTS)
    for names in (("a", "b"), ("b", "c"), ("a", "c"), ("c",), ("a", "b", "d"), DOMAIN.attributes):
        possible = marginal_of(ALLOWED.astype(float), DOMAIN, names) > 0
        assert_completed(model, dict(zip(names, np.argwhere(possible).T, strict=True)), CONSTRAINTS)
        for cell in np.argwhere(~possible):
            record = dict(zip(names, cell, strict=True))
            broken = [
                one.clique
                for one in (constraint.canonical(DOMAIN) for constraint in CONSTRAINTS)
                if not one.allowed[
                    tuple(record.get(name, slice(None)) for name in one.clique)
                ].any()
            ]
            with pytest.raises(
                ParameterError, match=r"^given: a record contradicts the constraint"
            ) as error:
                model.complete({name: np.array([code]) for name, code in record.items()})
            named = [f"on {clique};" in str(error.value) for clique in broken]
            assert any(named) if broken else "together;" in str(error.value)


def test_slices_are_refused_by_constraints_only(made):
    free, bound = made(7), made(7, CONSTRAINTS)
    for a, b, d in product(range(3), range(2), range(3)):
        wanted = {
            name: np.arange(DOMAIN[name]) == code for name, code in {"a": a, "b": b, "d": d}.items()
        }
        for model, possible in ((free, True), (bound, ALLOWED[a, b, :, d].any())):
            if possible:
                columns = model.sample_where(wanted, 5, seed=0)
                assert [set(columns[i].tolist()) for i in (0, 1, 3)] == [{a}, {b}, {d}]
                assert model is free or all(
                    constraint.holds(DOMAIN, columns).all() for constraint in CONSTRAINTS
                )
            else:
                with pytest.raises(
                    ParameterError,
                    match=r"^where: the slice contradicts the constraints on \('a', 'c'\)",
                ):
                    model.sample_where(wanted, 5, seed=0)


def assert_follows(columns, expected):
    """Each cell within 7 standard deviations of its expected count, and impossible cells empty."""
    counts = np.zeros(DOMAIN.shape)
    np.add.at(counts, tuple(columns), 1)
    expected = len(columns[0]) * expected
    assert not counts[expected < 1e-12].any()
    assert (np.abs(counts - expected) <= 7 * np.sqrt(expected) + 7).all()


@settings(max_examples=40, deadline=None)
@for_all(st.integers(0, 2**32 - 1), st.sampled_from([0.5, 30.0, 3000.0]))
def test_fields_complete_from_the_exact_conditional_distribution_however_extreme(seed, scale):
    rng = np.random.default_rng(seed)
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")][: rng.integers(1, 5)]
    potentials = {pair: scale * rng.normal(size=DOMAIN.project(pair).shape) for pair in pairs}
    for table in potentials.values():
        table[rng.random(table.shape) < 0.1] = -np.inf
    model, logs = field(DOMAIN, potentials), joint_logarithm(DOMAIN, potentials)
    names = [str(name) for name in rng.permutation(DOMAIN.attributes)[: rng.integers(1, 4)]]
    cell = {name: int(rng.integers(DOMAIN[name])) for name in names}
    here = tuple(cell.get(name, slice(None)) for name in DOMAIN.attributes)
    inside = np.full(DOMAIN.shape, -np.inf)
    inside[here] = logs[here]
    given = {name: np.full(2000, code) for name, code in cell.items()}
    if np.isneginf(inside).all():
        with pytest.raises(ParameterError, match="contradicts"):
            model.complete(given)
        return
    assert_follows(model.complete(given, seed=seed), np.exp(inside - log_sum_exp(inside)))


@settings(max_examples=25, deadline=None)
@for_all(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 40.0, 55.0]))
def test_trees_of_pseudo_marginals_complete_exactly_what_has_a_probability(seed, rarity):
    """Also of what is given in two rare levels, e^-rarity each."""
    rng = np.random.default_rng(seed)
    cliques = [("a", "b"), ("b", "c"), ("c", "d")]
    potentials = {pair: 2.0 * rng.normal(size=DOMAIN.project(pair).shape) for pair in cliques}
    potentials["a", "b"][2] -= rarity
    potentials["c", "d"][:, 2] -= rarity
    logs = joint_logarithm(DOMAIN, potentials)
    joint = np.exp(logs - log_sum_exp(logs))
    model = PseudoMarginalModel(
        domain=DOMAIN,
        tables=tables(joint, cliques),
        messages={},
        constraints=(),
        total=1.0,
        status=STATUS,
    )
    inside = np.full(DOMAIN.shape, -np.inf)
    inside[2, :, :, 2] = logs[2, :, :, 2]
    expected = np.exp(inside - log_sum_exp(inside))
    assert_follows(
        model.complete({"a": np.full(2000, 2), "d": np.full(2000, 2)}, seed=seed), expected
    )
    rare = np.arange(3) == 2
    assert_follows(model.sample_where({"a": rare, "d": rare}, 2000, seed=seed), expected)


def test_records_take_as_few_cells_of_0_as_they_can():
    """a = 1 never goes with b = 1 here; that b is known says more about c than that a is, and the
    other way about.
    """
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    pair = np.array([[0.3, 0.4], [0.3, 0.0]])
    follows = np.array([[0.6, 0.0], [0.0, 0.4]])
    model = PseudoMarginalModel(
        domain=domain,
        tables={("a", "b"): pair, ("b", "c"): follows},
        messages={},
        constraints=(),
        total=1.0,
        status=STATUS,
    )
    assert set(
        model.complete({"a": np.ones(200, int), "b": np.ones(200, int)}, seed=0)[2].tolist()
    ) == {1}
    assert set(model.complete({"a": np.ones(200, int)}, seed=0)[2].tolist()) == {0}


@pytest.mark.parametrize(
    ("n_columns", "n_levels", "step"),
    [(300, 2, 12.0), (45, 400, 20.0)],
    ids=["300 columns", "400 levels"],
)
def test_records_far_below_what_a_float_holds_are_completed_along_a_chain(
    n_columns, n_levels, step
):
    """All columns but the first are given, each unlike the one before, which has a chance of
    e^-step.
    """
    domain = Domain(tuple(f"x{i}" for i in range(n_columns)), (n_levels,) * n_columns)
    same = np.where(np.eye(n_levels, dtype=bool), 0.0, -step)
    pairs = list(zip(domain.attributes[:-1], domain.attributes[1:], strict=True))
    model = field(domain, dict.fromkeys(pairs, same))
    given = {
        name: np.full(50, i % 2)
        for i, name in enumerate(domain.attributes)
        if i not in (0, n_columns // 2)
    }
    columns = model.complete(given, seed=0)
    assert set(columns[0].tolist()) == {1}
    assert all((columns[domain.index(name)] == codes).all() for name, codes in given.items())


def test_many_rare_flags_at_once_are_completed():
    domain = Domain(("kind", *(f"flag{i}" for i in range(110))), (2,) * 111)
    rare = np.log(np.array([[1.0, 1e-4], [1.0, 2e-4]]))
    model = field(domain, {("kind", name): rare for name in domain.attributes[1:]})
    given = {name: np.ones(1000, dtype=int) for name in domain.attributes[1:]}
    assert model.complete(given, seed=0)[0].all()  # each flag is twice as likely of the second kind
    half = {name: np.arange(1000) % 2 * (codes > 0) for name, codes in given.items()}
    assert model.complete(half, seed=0)[0][1::2].all()


def test_cells_whose_belief_underflowed_are_completed():
    domain = Domain(("a", "b", "c"), (2, 2, 2))
    model = field(
        domain,
        {("a", "b"): np.array([[0.0, 0.0], [-2000.0, -2001.0]]), ("b", "c"): np.zeros((2, 2))},
    )
    assert model.marginal(("a",)).values[1] == 0.0
    drawn = model.complete({"a": np.ones(10_000, int)}, seed=0)
    share = 1.0 / (1.0 + np.e)
    assert abs(drawn[1].mean() - share) < 7 * np.sqrt(share * (1 - share) / 10_000)


def test_rough_models_make_no_rows_that_match_all_tables():
    rough = CYCLE(sparse_joint(3, constrained=False), ()).rough()
    assert_completed(rough, {"a": np.array([0, 1, 2])})
    assert "_pool" not in vars(rough)
